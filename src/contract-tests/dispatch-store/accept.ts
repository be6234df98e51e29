import type { Dispatch } from '../../model/dispatch.ts'
import { equal, matches, ok } from '../assertions.ts'
import { acceptance, answerOf, delivery, digested, everyKind, HOUR, keyed, MARGIN, MINUTE, TENANT } from './samples.ts'
import { between, type DispatchCase, dispatchCases, idsOf, numbers, timed } from './store-harness.ts'

export const acceptCases: readonly DispatchCase[] = dispatchCases([], {
  'a store that can be used says that it is ready': async (t) => {
    await t.store.ready?.()
  },
  'a dispatch is kept with everything that is said of it': async (t) => {
    const head = { eventType: 'order.shipped', recipient: 'user_42', sessionId: 's1', locale: 'de-AT' }
    const given = { ...head, route: 'first', critical: true, sandboxed: true } as const
    const deliveries = everyKind()
    const { from, to } = await timed(t, () => t.accept('1', { ...given, deliveries }))
    const { deliveries: stored, createdAt, ...rest } = await t.found('1')
    between(createdAt, from, to, 'when it was accepted')
    equal(rest, { dispatchId: '1', tenant: TENANT, ...given })
    const [x, y, z, d] = stored
    between(x?.dueAt, from, to, 'when the queued one is due')
    between(d?.dueAt, from + HOUR, to + HOUR, 'when the digest is due')
    const [{ limits: _, ...first } = {}, second, third, { digest: __, delayMs: ___, ...fourth } = {}] = deliveries
    const fresh = { attempts: 0, attemptLog: [] }
    equal({ ...x, dueAt: undefined }, { ...first, ...fresh })
    equal(y, { ...second, ...fresh }, 'what is not said is not there')
    equal(z, { ...third, ...fresh })
    equal({ ...d, dueAt: undefined }, { ...fourth, ...fresh, eventCount: 1 })
  },
  'deliveries stand in the order in which they were given': async (t) => {
    const ids = ['m', 'z', 'a', 'y', 'b', 'x', 'c', 'w']
    await t.accept('1', { deliveries: ids.map((id) => delivery(id, { channel: `channel-${id}` })) })
    equal(
      (await t.found('1')).deliveries.map(({ deliveryId }) => deliveryId),
      ids,
    )
  },
  'a delivery waits until its delay is over': async (t) => {
    const { from, to } = await timed(t, () => t.accept('1', { deliveries: [delivery('x', { delayMs: HOUR })] }))
    between((await t.only('1')).dueAt, from + HOUR, to + HOUR, 'when it is due')
    await t.advance(HOUR - MARGIN)
    equal((await t.claim()).deliveries, [])
    await t.advance(MARGIN)
    equal(idsOf((await t.claim()).deliveries), ['x'])
  },
  'a dispatch of one tenant is none to another': async (t) => {
    await t.accept('1')
    const before = await t.found('1')
    equal(await t.other.findDispatch('t2', '1'), undefined)
    equal(await t.store.cancel('t2', '1'), undefined)
    equal(await t.store.retry('t2', '1', { expiresInMs: HOUR }), undefined)
    equal(await t.other.findDispatch(TENANT, 'nothing'), undefined)
    equal(await t.found('1'), before)
  },
  'what cannot be kept is not kept in part': async (t) => {
    const endless: Record<string, string> = {}
    Reflect.set(endless, 'self', endless)
    const deliveries = [delivery('x'), delivery('y', { channel: 'b', content: endless })]
    const refused = await t.store.accept(acceptance('1', { ...keyed(), deliveries })).then(
      () => false,
      () => true,
    )
    if (!refused) return
    equal(await t.other.findDispatch(TENANT, '1'), undefined, 'the dispatch is not there')
    equal(await t.other.recall(TENANT, 'k'), undefined, 'its key is not there')
    equal((await t.claim({ a: 9, b: 9 })).deliveries, [], 'its deliveries are not there')
    matches(await t.accept('2', keyed('k', 'f2')), { outcome: 'accepted' })
  },
  'a call that throws has changed nothing, or all of it': async (t) => {
    for (const at of numbers(20)) {
      const attempt = (id: string) => t.store.accept(acceptance(id, keyed(`key-${at}`)))
      await attempt(`${at}`).catch(() => attempt(`${at}-again`))
    }
    const { items } = await t.other.listDispatches({ tenant: TENANT, limit: 100 })
    equal(items.length, 20, 'a post that is repeated with its key makes one dispatch')
  },
  'the answer is made from the dispatch as it is stored': async (t) => {
    let shown: Dispatch | undefined
    const outcome = await t.accept('1', {
      deliveries: everyKind(),
      answer(dispatch) {
        shown = structuredClone(dispatch)
        return answerOf(dispatch)
      },
    })
    ok(shown, 'the answer was not asked for')
    equal(shown, await t.found('1'))
    equal(outcome, { outcome: 'accepted', answer: answerOf(shown) })
  },
  'the answer tells what was throttled, and which digest was joined': async (t) => {
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
  'to free the space of keys whose time is over changes no other': async (t) => {
    const answers: unknown[] = []
    for (const [at, ttlMs] of [HOUR, 5 * HOUR].entries()) {
      const outcome = await t.accept(`${at}`, keyed(`k${at}`, 'f', ttlMs))
      answers.push('answer' in outcome && outcome.answer)
    }
    equal((await t.store.forgetExpired?.(100)) ?? 0, 0, 'none is over')
    await t.advance(2 * HOUR)
    ok(((await t.store.forgetExpired?.(100)) ?? 0) < 100, 'fewer than asked for: none is left')
    equal(await t.other.recall(TENANT, 'k0'), undefined)
    equal(await t.other.recall(TENANT, 'k1'), { fingerprint: 'f', answer: answers[1] })
    matches(await t.accept('2', keyed('k0', 'f')), { outcome: 'accepted' })
    equal(await t.accept('3', keyed('k1', 'f')), { outcome: 'replayed', answer: answers[1] })
  },
  'without a key nothing is de-duplicated': async (t) => {
    await t.accept('1')
    matches(await t.accept('2'), { outcome: 'accepted' })
    ok((await t.found('1')) && (await t.found('2')), 'both are there')
  },
  'a key that nobody used is not known': async (t) => {
    equal(await t.other.recall(TENANT, 'k'), undefined)
  },
  'a repeated key is answered as the first time, and stores nothing': async (t) => {
    const first = await t.accept('1', keyed())
    ok(first.outcome === 'accepted', 'the first is accepted')
    equal(await t.accept('2', keyed(), t.other), { outcome: 'replayed', answer: first.answer })
    equal(await t.other.recall(TENANT, 'k'), { fingerprint: 'f1', answer: first.answer })
    equal(await t.other.findDispatch(TENANT, '2'), undefined)
    equal((await t.claim()).deliveries.length, 1)
  },
  'a key with another fingerprint is refused, and stores nothing': async (t) => {
    await t.accept('1', keyed('k', 'f1'))
    const before = await t.other.recall(TENANT, 'k')
    equal(await t.accept('2', keyed('k', 'f2'), t.other), { outcome: 'key_reused' })
    equal(await t.other.recall(TENANT, 'k'), before)
    equal(await t.other.findDispatch(TENANT, '2'), undefined)
    equal((await t.claim()).deliveries.length, 1)
  },
  'a repeat is answered whatever has changed since': async (t) => {
    const first = await t.accept('1', keyed())
    ok(first.outcome === 'accepted', 'the first is accepted')
    const answer = structuredClone(first.answer)
    await t.send()
    equal(await t.other.recall(TENANT, 'k'), { fingerprint: 'f1', answer })
    equal(await t.accept('2', keyed(), t.other), { outcome: 'replayed', answer })
  },
  'a key is forgotten when its time is over': async (t) => {
    await t.accept('1', keyed('k', 'f1', HOUR))
    await t.advance(HOUR - MARGIN)
    matches(await t.other.recall(TENANT, 'k'), { fingerprint: 'f1' })
    matches(await t.accept('2', keyed('k', 'f1', HOUR)), { outcome: 'replayed' })
    await t.advance(MARGIN)
    equal(await t.other.recall(TENANT, 'k'), undefined)
    matches(await t.accept('3', keyed('k', 'f2', HOUR)), { outcome: 'accepted' })
    matches(await t.other.recall(TENANT, 'k'), { fingerprint: 'f2', answer: { dispatchId: '3' } })
  },
  'each key has a time of its own': async (t) => {
    await t.accept('1', keyed('long', 'f1', HOUR))
    await t.accept('2', keyed('short', 'f1', MINUTE))
    await t.advance(MINUTE)
    equal(await t.other.recall(TENANT, 'short'), undefined)
    matches(await t.other.recall(TENANT, 'long'), { answer: { dispatchId: '1' } })
  },
  'a key of one tenant says nothing to another': async (t) => {
    await t.accept('1', keyed())
    equal(await t.other.recall('t2', 'k'), undefined)
    matches(await t.accept('2', { ...keyed('k', 'f2'), tenant: 't2' }), { outcome: 'accepted' })
    matches(await t.other.recall(TENANT, 'k'), { fingerprint: 'f1', answer: { dispatchId: '1' } })
    matches(await t.other.recall('t2', 'k'), { fingerprint: 'f2', answer: { dispatchId: '2' } })
  },
  'where a tenant ends and its key begins is never mistaken': async (t) => {
    for (const mark of [':', '/', '|', '.', '-', '_', ' ', ',', '#', '"', '\\']) {
      matches(await t.accept(`${mark}1`, { ...keyed(`b${mark}c`), tenant: 'a' }), { outcome: 'accepted' })
      matches(await t.accept(`${mark}2`, { ...keyed('c'), tenant: `a${mark}b` }), { outcome: 'accepted' })
    }
  },
  'a repeat counts under no limit, and joins no digest': async (t) => {
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
