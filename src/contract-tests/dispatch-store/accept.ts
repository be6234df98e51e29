import type { Dispatch } from '../../model/dispatch.ts'
import { equal, matches, ok } from '../assertions.ts'
import { acceptance, answerOf, delivery, digested, everyKind, HOUR, keyed, MARGIN, MINUTE, TENANT } from './samples.ts'
import { between, type DispatchCase, dispatchCases, idsOf, numbers, timed } from './store-harness.ts'

export const acceptCases: readonly DispatchCase[] = dispatchCases([], {
  'ready resolves when the store can be used': async (t) => {
    await t.store.ready?.()
  },
  'accept stores every member of a dispatch': async (t) => {
    const head = { by: 'app_2', eventType: 'order.shipped', recipient: 'user_42', sessionId: 's1', locale: 'de-AT' }
    const plugins = ['consent', 'consent.unsubscribe']
    const given = { ...head, route: 'first', critical: true, sandboxed: true, plugins } as const
    const deliveries = everyKind()
    const { from, to } = await timed(t, () => t.accept('1', { ...given, deliveries }))
    const { deliveries: stored, createdAt, ...rest } = await t.found('1')
    between(createdAt, from, to, 'createdAt')
    equal(rest, { dispatchId: '1', tenant: TENANT, ...given })
    const [x, y, z, d] = stored
    between(x?.dueAt, from, to, 'dueAt of the queued delivery')
    between(d?.dueAt, from + HOUR, to + HOUR, 'dueAt of the digest')
    const [{ limits: _, ...first } = {}, second, third, { digest: __, delayMs: ___, ...fourth } = {}] = deliveries
    const fresh = { attempts: 0, attemptLog: [] }
    equal({ ...x, dueAt: undefined }, { ...first, ...fresh })
    equal(y, { ...second, ...fresh }, 'absent members stay absent')
    equal(z, { ...third, ...fresh })
    equal({ ...d, dueAt: undefined }, { ...fourth, ...fresh, eventCount: 1 })
  },
  'an id that a dispatch has is not accepted again, and nothing is stored': async (t) => {
    const given = { deliveries: [delivery('x')] }
    const racing = await Promise.all([t.store, t.other, t.store].map((store) => store.accept(acceptance('1', given))))
    equal(racing.map(({ outcome }) => outcome).sort(), ['accepted', 'id_taken', 'id_taken'])
    const before = await t.found('1')
    for (const tenant of [TENANT, 't2']) {
      const again = acceptance('1', { ...keyed(), tenant, deliveries: [delivery('y'), digested('z')] })
      equal(await t.other.accept(again), { outcome: 'id_taken' })
      equal(await t.store.recall(tenant, 'k'), undefined)
    }
    equal(await t.found('1'), before)
    equal(idsOf((await t.claim()).deliveries), ['x'])
    const other = await t.accept('2', { deliveries: [digested('z')] })
    equal(other.outcome, 'accepted')
  },
  'an id that a delivery has is not accepted again, and nothing is stored': async (t) => {
    await t.accept('1', { deliveries: [delivery('x'), digested('d')] })
    const before = await t.found('1')
    for (const [at, ids] of [['x'], ['y', 'd'], ['y', 'y']].entries()) {
      const given = { ...keyed(), deliveries: ids.map((id) => delivery(id, { channel: `channel-${at}` })) }
      equal(await t.other.accept(acceptance(`new-${at}`, given)), { outcome: 'id_taken' }, `the ids ${ids}`)
      equal(await t.store.findDispatch(TENANT, `new-${at}`), undefined)
      equal(await t.store.recall(TENANT, 'k'), undefined)
    }
    equal(await t.found('1'), before)
    matches(await t.accept('2', { deliveries: [delivery('y')] }), { outcome: 'accepted' })
  },
  'deliveries keep the order in which they were given': async (t) => {
    const ids = ['m', 'z', 'a', 'y', 'b', 'x', 'c', 'w']
    await t.accept('1', { deliveries: ids.map((id) => delivery(id, { channel: `channel-${id}` })) })
    equal(
      (await t.found('1')).deliveries.map(({ deliveryId }) => deliveryId),
      ids,
    )
  },
  'a delivery is due after its delay': async (t) => {
    const { from, to } = await timed(t, () => t.accept('1', { deliveries: [delivery('x', { delayMs: HOUR })] }))
    between((await t.only('1')).dueAt, from + HOUR, to + HOUR, 'dueAt')
    await t.advance(HOUR - MARGIN)
    equal((await t.claim()).deliveries, [])
    await t.advance(MARGIN)
    equal(idsOf((await t.claim()).deliveries), ['x'])
  },
  'a dispatch is invisible to other tenants': async (t) => {
    await t.accept('1')
    const before = await t.found('1')
    equal(await t.other.findDispatch('t2', '1'), undefined)
    equal(await t.store.cancel('t2', '1'), undefined)
    equal(await t.store.retry('t2', '1', { expiresInMs: HOUR }), undefined)
    equal(await t.other.findDispatch(TENANT, 'nothing'), undefined)
    equal(await t.found('1'), before)
  },
  'accept stores nothing of a dispatch that it cannot store in full': async (t) => {
    const endless: Record<string, string> = {}
    Reflect.set(endless, 'self', endless)
    const deliveries = [delivery('x'), delivery('y', { channel: 'b', content: endless })]
    const refused = await t.store.accept(acceptance('1', { ...keyed(), deliveries })).then(
      () => false,
      () => true,
    )
    if (!refused) return
    equal(await t.other.findDispatch(TENANT, '1'), undefined, 'the dispatch is not stored')
    equal(await t.other.recall(TENANT, 'k'), undefined, 'the idempotency key is not stored')
    equal((await t.claim({ a: 9, b: 9 })).deliveries, [], 'no delivery is stored')
    matches(await t.accept('2', keyed('k', 'f2')), { outcome: 'accepted' })
  },
  'a call that throws has changed nothing or everything': async (t) => {
    for (const at of numbers(20)) {
      const attempt = (id: string) => t.store.accept(acceptance(id, keyed(`key-${at}`)))
      await attempt(`${at}`).catch(() => attempt(`${at}-again`))
    }
    const { items } = await t.other.listDispatches({ tenant: TENANT, limit: 100 })
    equal(items.length, 20, 'a post repeated with its key creates one dispatch')
  },
  'accept builds the answer from the stored dispatch': async (t) => {
    let shown: Dispatch | undefined
    const outcome = await t.accept('1', {
      deliveries: everyKind(),
      answer(dispatch) {
        shown = structuredClone(dispatch)
        return answerOf(dispatch)
      },
    })
    ok(shown, 'accept calls answer')
    equal(shown, await t.found('1'))
    equal(outcome, { outcome: 'accepted', answer: answerOf(shown) })
  },
  'the answer shows throttled deliveries and joined digests': async (t) => {
    const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
    await t.accept('1', { deliveries: [digested('d1'), delivery('x', { channel: 'b', limits })] })
    matches(await t.accept('2', { deliveries: [digested('d2'), delivery('y', { channel: 'b', limits })] }), {
      outcome: 'accepted',
      answer: {
        deliveries: [
          { deliveryId: 'd1', status: 'queued' },
          { deliveryId: 'y', status: 'skipped', reason: 'throttled' },
        ],
      },
    })
  },
  'forgetExpired removes expired idempotency keys and no others': async (t) => {
    const answers: unknown[] = []
    for (const [at, ttlMs] of [HOUR, 5 * HOUR].entries()) {
      const outcome = await t.accept(`${at}`, keyed(`k${at}`, 'f', ttlMs))
      answers.push('answer' in outcome && outcome.answer)
    }
    equal((await t.store.forgetExpired?.(100)) ?? 0, 0, 'no key has expired yet')
    await t.advance(2 * HOUR)
    ok(((await t.store.forgetExpired?.(100)) ?? 0) < 100, 'fewer than the limit: none is left')
    equal(await t.other.recall(TENANT, 'k0'), undefined)
    equal(await t.other.recall(TENANT, 'k1'), { fingerprint: 'f', answer: answers[1] })
    matches(await t.accept('2', keyed('k0', 'f')), { outcome: 'accepted' })
    equal(await t.accept('3', keyed('k1', 'f')), { outcome: 'replayed', answer: answers[1] })
  },
  'accept without an idempotency key de-duplicates nothing': async (t) => {
    await t.accept('1')
    matches(await t.accept('2'), { outcome: 'accepted' })
    ok((await t.found('1')) && (await t.found('2')), 'both dispatches are stored')
  },
  'recall returns undefined for an unused key': async (t) => {
    equal(await t.other.recall(TENANT, 'k'), undefined)
  },
  'accept replays the first answer for a repeated key, and stores nothing': async (t) => {
    const first = await t.accept('1', keyed())
    ok(first.outcome === 'accepted', 'accept accepts the first dispatch')
    equal(await t.accept('2', keyed(), t.other), { outcome: 'replayed', answer: first.answer })
    equal(await t.other.recall(TENANT, 'k'), { fingerprint: 'f1', answer: first.answer })
    equal(await t.other.findDispatch(TENANT, '2'), undefined)
    equal((await t.claim()).deliveries.length, 1)
  },
  'accept refuses a key with another fingerprint, and stores nothing': async (t) => {
    await t.accept('1', keyed('k', 'f1'))
    const before = await t.other.recall(TENANT, 'k')
    equal(await t.accept('2', keyed('k', 'f2'), t.other), { outcome: 'key_reused' })
    equal(await t.other.recall(TENANT, 'k'), before)
    equal(await t.other.findDispatch(TENANT, '2'), undefined)
    equal((await t.claim()).deliveries.length, 1)
  },
  'a repeated key is replayed whatever has changed since': async (t) => {
    const first = await t.accept('1', keyed())
    ok(first.outcome === 'accepted', 'accept accepts the first dispatch')
    const answer = structuredClone(first.answer)
    await t.send()
    equal(await t.other.recall(TENANT, 'k'), { fingerprint: 'f1', answer })
    equal(await t.accept('2', keyed(), t.other), { outcome: 'replayed', answer })
  },
  'an idempotency key expires after its time to live': async (t) => {
    await t.accept('1', keyed('k', 'f1', HOUR))
    await t.advance(HOUR - MARGIN)
    matches(await t.other.recall(TENANT, 'k'), { fingerprint: 'f1' })
    matches(await t.accept('2', keyed('k', 'f1', HOUR)), { outcome: 'replayed' })
    await t.advance(MARGIN)
    equal(await t.other.recall(TENANT, 'k'), undefined)
    matches(await t.accept('3', keyed('k', 'f2', HOUR)), { outcome: 'accepted' })
    matches(await t.other.recall(TENANT, 'k'), { fingerprint: 'f2', answer: { dispatchId: '3' } })
  },
  'each idempotency key has its own time to live': async (t) => {
    await t.accept('1', keyed('long', 'f1', HOUR))
    await t.accept('2', keyed('short', 'f1', MINUTE))
    await t.advance(MINUTE)
    equal(await t.other.recall(TENANT, 'short'), undefined)
    matches(await t.other.recall(TENANT, 'long'), { answer: { dispatchId: '1' } })
  },
  'idempotency keys are separate for each tenant': async (t) => {
    await t.accept('1', keyed())
    equal(await t.other.recall('t2', 'k'), undefined)
    matches(await t.accept('2', { ...keyed('k', 'f2'), tenant: 't2' }), { outcome: 'accepted' })
    matches(await t.other.recall(TENANT, 'k'), { fingerprint: 'f1', answer: { dispatchId: '1' } })
    matches(await t.other.recall('t2', 'k'), { fingerprint: 'f2', answer: { dispatchId: '2' } })
  },
  'a tenant and a key that join to the same text stay apart': async (t) => {
    for (const mark of [':', '/', '|', '.', '-', '_', ' ', ',', '#', '"', '\\']) {
      matches(await t.accept(`${mark}1`, { ...keyed(`b${mark}c`), tenant: 'a' }), { outcome: 'accepted' })
      matches(await t.accept(`${mark}2`, { ...keyed('c'), tenant: `a${mark}b` }), { outcome: 'accepted' })
    }
  },
  'a replay counts under no limit and joins no digest': async (t) => {
    const limits = [{ key: 'l', max: 2, windowMs: HOUR }]
    const post = (id: string) =>
      t.accept(id, { ...keyed(), deliveries: [delivery(id, { channel: 'b', limits }), digested(`${id}-d`)] })
    await post('1')
    for (const id of ['2', '3', '4']) matches(await post(id), { outcome: 'replayed' })
    await t.accept('5', { deliveries: [delivery('5', { limits })] })
    equal((await t.only('5')).status, 'queued')
    await t.accept('6', { deliveries: [digested('6-d')] })
    equal((await t.only('6')).eventCount, 2)
  },
})
