import { equal, matches, ok } from '../../../../src/contract-tests/assertions.ts'
import { everything, longText } from '../../../../src/contract-tests/dispatch-store/hostile-values.ts'
import { replan, replannable, SOURCE } from '../../../../src/contract-tests/dispatch-store/replans.ts'
import {
  answerOf,
  broken,
  delivery,
  HOUR,
  keyed,
  MARGIN,
  MINUTE,
  spoil,
  TENANT,
} from '../../../../src/contract-tests/dispatch-store/samples.ts'
import {
  between,
  type DispatchCase,
  dispatchCases,
  timed,
} from '../../../../src/contract-tests/dispatch-store/store-harness.ts'
import type { DispatchAnswer } from '../../../../src/model/dispatch.ts'
import type { NewDelivery } from '../../../../src/ports/dispatch-store.ts'

const conflict = { outcome: 'conflict' } as const

export const replanCases: readonly DispatchCase[] = dispatchCases([], {
  'findReplannable returns the deliveries that failed in host code, and the source': async (t) => {
    const source = { ...SOURCE, session: 's1', delayMs: MINUTE }
    const failed = [broken('x'), broken('y', { channel: 'b', reason: 'condition_error' })]
    await t.accept('1', { deliveries: [delivery('z', { channel: 'c' }), ...failed], source, sessionId: 's1' })
    await t.advance(HOUR)
    const { waitedMs, version, ...found } = await replannable(t.other, '1')
    matches(found.dispatch, { dispatchId: '1', tenant: TENANT, eventType: 'e', route: 'all', sessionId: 's1' })
    const both = failed.map(({ deliveryId, channel }) => ({ deliveryId, channel }))
    equal([found.source, found.failed], [source, both])
    ok(Number.isSafeInteger(version), 'the version is a safe integer')
    between(waitedMs, HOUR, HOUR + MARGIN, 'waitedMs')
  },
  'findReplannable returns undefined for other failures': async (t) => {
    await t.accept('1', { deliveries: [delivery('x'), broken('y', { channel: 'b', reason: 'channel_error' })] })
    equal(await t.store.findReplannable(TENANT, '1'), undefined)
    await t.fail()
    equal(await t.store.findReplannable(TENANT, '1'), undefined)
    equal(await t.store.findReplannable(TENANT, 'nothing'), undefined)
    await t.accept('2', { deliveries: [broken('z')], source: SOURCE })
    equal(await t.store.findReplannable('t2', '2'), undefined)
  },
  'a replanned delivery is sent like any other, and other deliveries stay': async (t) => {
    const deliveries = [delivery('w', { channel: 'b' }), broken('x'), broken('y', { channel: 'c' })]
    await t.accept('1', { deliveries, source: SOURCE, expiresInMs: 72 * HOUR })
    const before = await t.found('1')
    const content = { text: 'mended' }
    const planned = delivery('x', { address: 'new@example.com', content, concurrencyKey: 'receiver' })
    const { value: change, from, to } = await timed(t, () => replan(t, '1', [planned]))
    const after = await t.found('1')
    const changed = [{ deliveryId: 'x', channel: 'a', status: 'queued', attempts: 0 }] as const
    equal(change, { outcome: 'replanned', changed, dispatch: after })
    equal([after.deliveries[0], after.deliveries[2]], [before.deliveries[0], before.deliveries[2]])
    const { address, concurrencyKey, dueAt, reason } = after.deliveries[1] ?? {}
    equal([address, concurrencyKey, reason], ['new@example.com', 'receiver', undefined])
    between(dueAt, from, to, 'dueAt')
    const claimed = await t.claimOne()
    matches(claimed, { deliveryId: 'x', address, content, concurrencyKey, attempts: 1, history: [] })
    between(claimed.expiresInMs, HOUR - MARGIN, HOUR, 'expiresInMs')
  },
  'a replanned delivery can be delayed, and expires after the delay': async (t) => {
    await t.accept('1', { deliveries: [broken('x')], source: SOURCE })
    await t.advance(5 * HOUR)
    await replan(t, '1', [delivery('x', { delayMs: 2 * HOUR, deferred: true })])
    await t.advance(2 * HOUR - MARGIN)
    equal((await t.claim()).deliveries, [])
    await t.advance(MARGIN)
    const claimed = await t.claimOne()
    matches(claimed, { deliveryId: 'x', deferred: true })
    between(claimed.expiresInMs, HOUR - MARGIN, HOUR, 'expiresInMs')
  },
  'a replanned delivery can be skipped, with its trace': async (t) => {
    await t.accept('1', { deliveries: [broken('x', { reason: 'condition_error' })], source: SOURCE })
    const trace = [{ rule: '>', path: 'data.total', expected: 1, actual: 0, result: false }]
    const planned = { deliveryId: 'x', channel: 'a', status: 'skipped', reason: 'condition_false', trace } as const
    matches(await replan(t, '1', [planned]), { changed: [{ status: 'skipped', reason: 'condition_false' }] })
    matches((await t.found('1')).deliveries, [{ status: 'skipped', reason: 'condition_false', trace }])
    equal((await t.claim()).deliveries, [])
    equal(await t.store.findReplannable(TENANT, '1'), undefined)
  },
  'the plan source is kept until the last failed delivery is replanned': async (t) => {
    await t.accept('1', { deliveries: [broken('x'), broken('y', { channel: 'b' })], source: SOURCE })
    const first = await replannable(t.store, '1')
    await replan(t, '1', [broken('x', { reason: 'condition_error' })])
    await replan(t, '1', [delivery('y', { channel: 'b' })])
    const second = await replannable(t.store, '1')
    equal([second.source, second.failed], [SOURCE, [{ deliveryId: 'x', channel: 'a' }]])
    ok(first.version !== second.version, 'a replan changes the version')
    await replan(t, '1', [delivery('x')])
    equal(await t.store.findReplannable(TENANT, '1'), undefined)
  },
  'replan also retries deliveries that need no new plan': async (t) => {
    const deliveries = [broken('x'), ...['b', 'c'].map((channel) => delivery(channel, { channel }))]
    for (const id of ['1', '2']) {
      await t.accept(id, {
        deliveries: deliveries.map((one) => ({ ...one, deliveryId: `${id}${one.deliveryId}` })),
        source: SOURCE,
      })
      for (const channel of ['b', 'c']) await t.fail(channel)
    }
    matches(await replan(t, '1', [delivery('1x')]), {
      changed: [{ deliveryId: '1x' }, { deliveryId: '1b', attempts: 1 }, { deliveryId: '1c' }],
    })
    equal(await t.states('1'), ['queued', 'queued', 'queued'])
    await replan(t, '2', [delivery('2x')], 'a')
    equal(await t.states('2'), ['queued', 'failed provider_rejected', 'failed provider_rejected'])
  },
  'replan of an outdated version changes nothing': async (t) => {
    await t.accept('1', { deliveries: [broken('x'), broken('y', { channel: 'b' })], source: SOURCE })
    const { version } = await replannable(t.store, '1')
    const attempt = (of: number) => t.store.replan(TENANT, '1', of, [delivery('x')], { expiresInMs: HOUR })
    const before = await t.found('1')
    for (const other of [version + 1, version - 1, 0, -1]) {
      if (other !== version) equal(await attempt(other), conflict, `${other}`)
    }
    equal(await t.found('1'), before)
    await replan(t, '1', [delivery('y', { channel: 'b' })])
    const after = await t.found('1')
    equal(await attempt(version), conflict, 'the version is outdated')
    equal(await t.found('1'), after)
  },
  'replan replaces only deliveries that failed in host code, all or none of them': async (t) => {
    const others = ['queued', 'sending', 'failed', 'skipped'].map((channel) => {
      return delivery(channel, { channel, ...(channel === 'skipped' && { status: 'skipped', reason: 'opted_out' }) })
    })
    const mute = broken('rendered', { channel: 'rendered', content: { text: 'x' } })
    await t.accept('1', { deliveries: [broken('x'), ...others, mute], source: SOURCE })
    await t.fail('failed')
    await t.claimOne('sending')
    const before = await t.found('1')
    const { version } = await replannable(t.store, '1')
    const x = delivery('x')
    const wrong: readonly NewDelivery[][] = [
      ...[...others, mute].map((one) => [x, delivery(one.deliveryId, { channel: one.channel })]),
      [x, delivery('nothing')],
      [delivery('x', { channel: 'b' })],
      [x, x],
    ]
    for (const deliveries of wrong) {
      equal(await t.store.replan(TENANT, '1', version, deliveries, { expiresInMs: HOUR }), conflict)
      equal(await t.found('1'), before)
    }
    matches(await t.store.replan(TENANT, '1', version, [x], { expiresInMs: HOUR, channel: 'a' }), {
      outcome: 'replanned',
      changed: [{ deliveryId: 'x' }],
    })
  },
  'replan returns undefined for an unknown dispatch and for another tenant': async (t) => {
    await t.accept('1', { deliveries: [broken('x')], source: SOURCE })
    const { version } = await replannable(t.store, '1')
    const before = await t.found('1')
    const options = { expiresInMs: HOUR }
    equal(await t.store.replan('t2', '1', version, [delivery('x')], options), undefined)
    equal(await t.store.replan(TENANT, 'nothing', version, [delivery('x')], options), undefined)
    equal(await t.found('1'), before)
  },
  'the plan source appears in no other result': async (t) => {
    const shown: unknown[] = []
    const answer = (dispatch: Parameters<typeof answerOf>[0]): DispatchAnswer => {
      shown.push(structuredClone(dispatch))
      return answerOf(dispatch)
    }
    const deliveries = [broken('x'), delivery('y', { channel: 'b' })]
    shown.push(await t.accept('1', { ...keyed(), deliveries, source: SOURCE, answer }))
    shown.push(await t.other.findDispatch(TENANT, '1'), await t.other.listDispatches({ tenant: TENANT, limit: 9 }))
    shown.push(await t.other.recall(TENANT, 'k'), await t.claim({ b: 1 }))
    shown.push(await t.retry('1'), await t.cancel('1'))
    shown.push(await replan(t, '1', [broken('x', { reason: 'condition_error' })]))
    equal(JSON.stringify(shown).includes('canary'), false)
  },
  'replan does not change the answer of an idempotency key': async (t) => {
    await t.accept('1', { ...keyed(), deliveries: [broken('x')], source: SOURCE })
    const before = await t.other.recall(TENANT, 'k')
    await replan(t, '1', [delivery('x')])
    equal(await t.other.recall(TENANT, 'k'), before)
    equal((await t.accept('2', keyed(), t.store)).outcome, 'replayed')
  },
  'the plan source keeps all JSON values': async (t) => {
    const eventData = { ...everything(), long: longText(100_000) }
    await t.accept('1', { deliveries: [broken('x')], source: { eventData, session: '💌 ' } })
    equal((await replannable(t.other, '1')).source, { eventData, session: '💌 ' })
  },
  'changing a plan source outside does not change the stored one': async (t) => {
    const source = { eventData: { list: [1] } }
    await t.accept('1', { deliveries: [broken('x')], source })
    spoil(source)
    const { waitedMs: _, ...before } = structuredClone(await replannable(t.store, '1'))
    equal(before.source, { eventData: { list: [1] } })
    for (const handle of [t.store, t.other]) spoil(await replannable(handle, '1'))
    matches(await replannable(t.other, '1'), before)
    const planned = delivery('x', { content: { data: { list: [1] } } })
    await replan(t, '1', [planned])
    spoil(planned)
    matches(await t.claimOne(), { address: 'jane@example.com', content: { data: { list: [1] } } })
  },
  'removing a dispatch removes its plan source': async (t) => {
    await t.accept('1', { deliveries: [broken('x')], source: SOURCE })
    await t.advance(2 * HOUR)
    equal(await t.store.removeDispatches({ acceptedForMs: HOUR, limit: 9 }), 1)
    equal(await t.store.findReplannable(TENANT, '1'), undefined)
    await t.accept('1', { deliveries: [broken('x')] })
    equal(await t.store.findReplannable(TENANT, '1'), undefined, 'a new dispatch of the same id has no plan source')
  },
  'a replanned delivery can be settled and cancelled like any other': async (t) => {
    await t.accept('1', { deliveries: [broken('x')], source: SOURCE })
    await replan(t, '1', [delivery('x')])
    const attempt = { outcome: 'sent' } as const
    equal(await t.settleNext({ to: 'sent', attempt }), { live: true, others: [] })
    equal(await t.states('1'), ['sent'])
  },
})
