import { equal, matches, ok } from '../../../../src/contract-tests/assertions.ts'
import {
  delivery,
  HOUR,
  LEASE,
  MARGIN,
  MINUTE,
  proof,
  REJECTED,
  RETRY,
  spoil,
} from '../../../../src/contract-tests/dispatch-store/samples.ts'
import {
  between,
  byId,
  type DispatchCase,
  dispatchCases,
  idsOf,
  numbers,
  timed,
} from '../../../../src/contract-tests/dispatch-store/store-harness.ts'
import type { DeliveryReason } from '../../../../src/model/dispatch.ts'
import type { NewDelivery } from '../../../../src/ports/dispatch-store.ts'

const ALONE = { live: true, others: [] }

const first = 'first'

/** A held delivery, sent only when the preceding one fails. */
function fallback(deliveryId: string, channel: string, rest: Partial<NewDelivery> = {}): NewDelivery {
  return delivery(deliveryId, { channel, status: 'held', deferred: true, ...rest })
}

const three = (): NewDelivery[] => [delivery('x'), fallback('y', 'b'), fallback('z', 'c')]

export const settleCases: readonly DispatchCase[] = dispatchCases([], {
  'settle as sent stores the provider and its message id': async (t) => {
    await t.accept('1')
    const attempt = { outcome: 'sent', provider: 'p1', providerMessageId: 'm1' } as const
    equal(await t.settleNext({ to: 'sent', attempt }), ALONE)
    const stored = await t.only('1')
    matches(stored, { status: 'sent', attempts: 1, providerMessageId: 'm1', attemptLog: [{ attempt: 1, ...attempt }] })
    matches(stored, { reason: undefined, dueAt: undefined, lastCode: undefined })
  },
  'settle stores every provider of an attempt and its code': async (t) => {
    const [failed, sent] = [{ name: 'p1', code: 'busy' }, { name: 'p2' }]
    const ends = [
      { ...RETRY, provider: 'p2', providers: [failed, { ...failed, name: 'p2' }] },
      { outcome: 'sent', provider: 'p2', providers: [failed, sent] },
    ] as const
    await t.accept('1')
    const given = structuredClone(ends[0])
    await t.settleNext({ to: 'queued', delayMs: 0, attempt: given })
    spoil(given)
    const again = await t.claimOne()
    matches(again.history, [ends[0]])
    const mine = proof(again)
    spoil(again.history)
    await t.store.settle({ ...mine, to: 'sent', attempt: ends[1] })
    matches((await t.only('1')).attemptLog, ends)
    spoil(await t.found('1'))
    matches((await t.only('1')).attemptLog, ends, 'changing a read dispatch does not change the stored one')
  },
  'a sent delivery is never claimed again': async (t) => {
    await t.accept('1')
    await t.send()
    for (const ms of [LEASE, 100 * HOUR]) {
      matches(await t.claim(), { deliveries: [], expired: [] })
      await t.advance(ms)
    }
    matches(await t.claim(), { deliveries: [], expired: [] })
  },
  'settle as queued makes the delivery due after the delay': async (t) => {
    await t.accept('1')
    const mine = proof(await t.claimOne())
    const { from, to } = await timed(t, () => t.store.settle({ ...mine, to: 'queued', delayMs: HOUR, attempt: RETRY }))
    const stored = await t.only('1')
    matches(stored, { status: 'queued', attempts: 1, lastCode: 'busy' })
    between(stored.dueAt, from + HOUR, to + HOUR, 'dueAt')
    await t.advance(HOUR - MARGIN)
    equal((await t.claim()).deliveries, [])
    await t.advance(MARGIN)
    matches(await t.claimOne(), { deliveryId: '1-a', attempts: 2 })
  },
  'settle as failed or skipped stores the reason and ends the delivery': async (t) => {
    const reasons: readonly DeliveryReason[] = ['provider_rejected', 'attempts_exhausted', 'template_error']
    for (const to of ['failed', 'skipped'] as const) {
      for (const reason of [...reasons, 'opted_out' as const]) {
        const id = `${to} ${reason}`
        await t.accept(id)
        equal(await t.settleNext({ to, reason, attempt: REJECTED }), ALONE)
        equal(await t.states(id), [id])
      }
    }
    await t.advance(HOUR)
    matches(await t.claim(), { deliveries: [], expired: [] })
  },
  'settle changes no other delivery': async (t) => {
    await t.accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })] })
    await t.advance(1)
    await t.accept('2')
    const mine = proof(await t.claimOne())
    const [, y] = (await t.found('1')).deliveries
    const second = await t.found('2')
    equal(await t.store.settle({ ...mine, to: 'failed', reason: 'channel_error' }), ALONE)
    equal((await t.found('1')).deliveries[1], y)
    equal(await t.found('2'), second)
  },
  'settle through either handle loses no attempt': async (t) => {
    await t.accept('1')
    for (const at of numbers(20)) {
      const handle = at % 2 === 0 ? t.store : t.other
      matches(await handle.settle({ ...proof(await t.claimOne()), to: 'queued', delayMs: 0, attempt: RETRY }), ALONE)
      matches(await t.only('1'), { status: 'queued', attempts: at + 1 })
    }
    equal(idsOf((await t.claim()).deliveries), ['1-a'])
  },
  'settle stores how the attempt ended, and the next claim returns it': async (t) => {
    await t.accept('1')
    const begun = await timed(t, () => t.claimOne())
    await t.advance(MINUTE)
    const unknown = { outcome: 'unknown', code: 'timeout', provider: 'p1' } as const
    const mine = proof(begun.value)
    const ended = await timed(t, () => t.store.settle({ ...mine, to: 'queued', delayMs: 0, attempt: unknown }))
    const [first] = (await t.only('1')).attemptLog
    const { startedAt, endedAt, ...rest } = first ?? {}
    equal(rest, { attempt: 1, ...unknown })
    between(startedAt, begun.from, begun.to, 'startedAt')
    between(endedAt, ended.from, ended.to, 'endedAt')
    const again = await t.claimOne()
    equal(again.history, [first])
    await t.store.settle({ ...proof(again), to: 'failed', reason: 'provider_rejected', attempt: REJECTED })
    const stored = await t.only('1')
    equal(stored.attemptLog[0], first)
    matches(stored, { attempts: 2, lastCode: 'no', attemptLog: [{}, { attempt: 2, ...REJECTED }] })
  },
  'lastCode stays until another attempt has a code': async (t) => {
    await t.accept('1')
    await t.settleNext({ to: 'queued', delayMs: 0, attempt: RETRY })
    const attempt = { outcome: 'sent', providerMessageId: 'm1' } as const
    await t.settleNext({ to: 'sent', attempt })
    matches(await t.only('1'), { lastCode: 'busy', providerMessageId: 'm1' })
  },
  'settle without an attempt takes the attempt back': async (t) => {
    await t.accept('1')
    await t.settleNext({ to: 'queued', delayMs: 0, attempt: RETRY })
    const { dueAt: _, ...before } = await t.only('1')
    for (const __ of numbers(5)) {
      equal(await t.settleNext({ to: 'queued', delayMs: 0 }), ALONE)
      matches(await t.only('1'), before)
    }
    matches(await t.claimOne(), { attempts: 2, history: [{ attempt: 1, ...RETRY }] })
  },
  'settle as failed or skipped without an attempt takes the attempt back': async (t) => {
    for (const to of ['failed', 'skipped'] as const) {
      await t.accept(to)
      await t.settleNext({ to, reason: 'opted_out' })
      matches(await t.only(to), { status: to, reason: 'opted_out', attempts: 0, attemptLog: [] })
    }
  },
  'the attempt log keeps at least the newest fifty attempts, oldest first': async (t) => {
    await t.accept('1', { expiresInMs: 1_000 * HOUR })
    for (const at of numbers(60)) {
      const mine = proof(await t.claimOne())
      if (at % 3 === 0) await t.advance(LEASE)
      else await t.store.settle({ ...mine, to: 'queued', delayMs: 0, attempt: RETRY })
    }
    const check = (log: readonly { readonly attempt: number }[], what: string): void => {
      const found = log.map(({ attempt }) => attempt)
      ok(found.length >= 50 && found.length <= 60, `${what}: ${found.length} attempts`)
      equal(
        found,
        numbers(found.length).map((at) => 61 - found.length + at),
        what,
      )
    }
    check((await t.only('1')).attemptLog, 'the stored attempt log')
    const claimed = await t.claimOne()
    equal(claimed.attempts, 61)
    check(claimed.history, 'the history of a claim')
    await t.store.settle({ ...proof(claimed), to: 'queued', delayMs: 0 })
    check((await t.only('1')).attemptLog, 'the attempt log after an attempt was taken back')
  },
  'a sent delivery skips all held deliveries as unneeded': async (t) => {
    await t.accept('1', { route: first, deliveries: three() })
    const settled = await t.send()
    const skipped = { status: 'skipped', reason: 'fallback_unneeded', attempts: 0 }
    equal(settled, {
      live: true,
      others: [
        { deliveryId: 'y', channel: 'b', ...skipped },
        { deliveryId: 'z', channel: 'c', ...skipped },
      ],
    })
    equal(await t.states('1'), ['sent', 'skipped fallback_unneeded', 'skipped fallback_unneeded'])
    await t.advance(HOUR)
    equal((await t.claim({ a: 9, b: 9, c: 9 })).deliveries, [])
  },
  'a failed or skipped delivery queues the next held one, due now': async (t) => {
    for (const to of ['failed', 'skipped'] as const) {
      const ids = { x: `${to}-x`, y: `${to}-y`, z: `${to}-z` }
      await t.accept(to, { route: first, deliveries: [delivery(ids.x), fallback(ids.y, 'b'), fallback(ids.z, 'c')] })
      const mine = proof(await t.claimOne())
      await t.advance(MINUTE)
      const { value, from, to: until } = await timed(t, () => t.store.settle({ ...mine, to, reason: 'opted_out' }))
      equal(value, { live: true, others: [{ deliveryId: ids.y, channel: 'b', status: 'queued', attempts: 0 }] })
      equal(await t.states(to), [`${to} opted_out`, 'queued', 'held'])
      between((await t.found(to)).deliveries[1]?.dueAt, from, until, 'the next due time')
      matches(await t.claimOne('b'), { deliveryId: ids.y, deferred: true, attempts: 1 })
    }
  },
  'held deliveries are queued one after the other, in the order of the route': async (t) => {
    await t.accept('1', { route: first, deliveries: three() })
    await t.fail('a')
    await t.fail('b')
    equal(await t.states('1'), ['failed provider_rejected', 'failed provider_rejected', 'queued'])
    await t.fail('c')
    equal(await t.states('1'), ['failed provider_rejected', 'failed provider_rejected', 'failed provider_rejected'])
  },
  'a held delivery stays held while the one before it is retried': async (t) => {
    await t.accept('1', { route: first, deliveries: three() })
    const settled = await t.settleNext({ to: 'queued', delayMs: 0, attempt: RETRY })
    equal(settled, { live: true, others: [] })
    equal(await t.states('1'), ['queued', 'held', 'held'])
    await t.claimOne()
    await t.advance(LEASE)
    equal(idsOf((await t.claim({ a: 9, b: 9, c: 9 })).deliveries), ['x'])
  },
  'a held delivery with a spent limit is throttled, and the next is queued': async (t) => {
    const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
    const deliveries = [delivery('x', { limits }), fallback('y', 'b', { limits }), fallback('z', 'c')]
    await t.accept('1', { route: first, deliveries })
    const settled = await t.settleNext({ to: 'failed', reason: 'channel_error' })
    equal(settled.live && byId(settled.others), [
      { deliveryId: 'y', channel: 'b', status: 'skipped', reason: 'throttled', attempts: 0 },
      { deliveryId: 'z', channel: 'c', status: 'queued', attempts: 0 },
    ])
    equal(await t.states('1'), ['failed channel_error', 'skipped throttled', 'queued'])
  },
  'a cancelled delivery is not promoted': async (t) => {
    await t.accept('1', { route: first, deliveries: three() })
    const mine = proof(await t.claimOne())
    await t.cancel('1')
    equal(await t.store.settle({ ...mine, to: 'failed', reason: 'channel_error' }), { live: true, others: [] })
    equal(await t.states('1'), ['failed channel_error', 'cancelled', 'cancelled'])
  },
  'settle leaves the held deliveries of other dispatches': async (t) => {
    await t.accept('1', { route: first, deliveries: three() })
    const others = ['u', 'v', 'w'].map((id) => fallback(id, id))
    await t.accept('2', { route: first, deliveries: [delivery('t', { channel: 't' }), ...others] })
    const before = await t.found('2')
    await t.fail()
    equal(await t.found('2'), before)
  },
})
