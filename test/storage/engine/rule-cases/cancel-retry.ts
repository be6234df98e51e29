import { equal, matches } from '../../../../src/contract-tests/assertions.ts'
import {
  delivery,
  digested,
  type GivenDispatch,
  HOUR,
  LEASE,
  MARGIN,
  MINUTE,
  proof,
  REJECTED,
  RETRY,
  SENT,
  TENANT,
} from '../../../../src/contract-tests/dispatch-store/samples.ts'
import {
  between,
  byId,
  type DispatchCase,
  dispatchCases,
  idsOf,
  type StoreHarness,
  timed,
} from '../../../../src/contract-tests/dispatch-store/store-harness.ts'
import type { NewDelivery } from '../../../../src/ports/dispatch-store.ts'

/** Cancels a dispatch during a send. Returns the lease. */
async function asked({ store, accept, claimOne, states }: StoreHarness, given: GivenDispatch = {}) {
  await accept('1', {
    route: 'first',
    deliveries: [delivery('x'), delivery('y', { channel: 'b', status: 'held' })],
    ...given,
  })
  const mine = proof(await claimOne('a', MINUTE))
  matches(await store.cancel(TENANT, '1'), { changed: [{ deliveryId: 'y', status: 'cancelled' }] })
  equal(await states('1'), ['sending', 'cancelled'])
  return mine
}

const FAILED = 'failed provider_rejected'

const three = (): NewDelivery[] => [
  delivery('x'),
  delivery('y', { channel: 'b', status: 'held' }),
  delivery('z', { channel: 'c', status: 'held' }),
]

export const cancelRetryCases: readonly DispatchCase[] = dispatchCases([], {
  'cancel ends queued and held deliveries, and leaves the others': async (t) => {
    const deliveries = [
      delivery('x', { channel: 'b' }),
      delivery('y', { delayMs: HOUR }),
      delivery('z', { channel: 'c', status: 'held' }),
      delivery('w', { channel: 'd', status: 'skipped', reason: 'no_address' }),
    ]
    await t.accept('1', { deliveries })
    await t.claimOne('b')
    const change = await t.cancel('1')
    equal(change && byId(change.changed), [
      { deliveryId: 'y', channel: 'a', status: 'cancelled', attempts: 0 },
      { deliveryId: 'z', channel: 'c', status: 'cancelled', attempts: 0 },
    ])
    equal(change?.dispatch, await t.found('1'), 'the result has the current dispatch')
    equal(await t.states('1'), ['sending', 'cancelled', 'cancelled', 'skipped no_address'])
    matches((await t.found('1')).deliveries[1], { dueAt: undefined })
  },
  'a cancelled delivery is never claimed and does not expire': async (t) => {
    await t.accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b', delayMs: HOUR })] })
    await t.cancel('1')
    for (const ms of [HOUR, 100 * HOUR]) {
      matches(await t.claim({ a: 9, b: 9 }), { deliveries: [], expired: [] })
      await t.advance(ms)
    }
    matches(await t.claim({ a: 9, b: 9 }), { deliveries: [], expired: [] })
    equal(await t.states('1'), ['cancelled', 'cancelled'])
  },
  'cancel twice changes nothing': async (t) => {
    await t.accept('1')
    await t.cancel('1')
    const before = await t.found('1')
    equal(await t.other.cancel(TENANT, '1'), { changed: [], dispatch: before })
    equal(await t.found('1'), before)
  },
  'cancel changes no other dispatch, and returns undefined for an unknown one': async (t) => {
    for (const id of ['1', '2']) await t.accept(id)
    const before = await t.found('2')
    await t.cancel('1')
    equal(await t.found('2'), before)
    equal(await t.cancel('nothing'), undefined)
  },
  'cancel leaves deliveries that have ended': async (t) => {
    await t.accept('1')
    await t.fail()
    matches(await t.cancel('1'), { changed: [] })
    equal(await t.states('1'), ['failed provider_rejected'])
  },
  'a delivery cancelled while it is sent is not queued again after a failed attempt': async (t) => {
    const mine = await asked(t)
    const settled = await t.store.settle({ ...mine, to: 'queued', delayMs: MINUTE, attempt: RETRY })
    equal(settled, { live: true, others: [], cancelled: true })
    matches(await t.only('1'), { status: 'cancelled', attempts: 1, attemptLog: [RETRY], dueAt: undefined })
    await t.advance(HOUR)
    matches(await t.claim({ a: 9, b: 9 }), { deliveries: [], expired: [] })
  },
  'a delivery cancelled while it is sent is not queued again without an attempt': async (t) => {
    const mine = await asked(t)
    equal(await t.store.settle({ ...mine, to: 'queued', delayMs: 0 }), { live: true, others: [], cancelled: true })
    matches(await t.only('1'), { status: 'cancelled', attempts: 0, attemptLog: [] })
    await t.advance(HOUR)
    equal((await t.claim()).deliveries, [])
  },
  'a delivery cancelled while it is sent becomes cancelled when its worker dies': async (t) => {
    const mine = await asked(t)
    await t.advance(MINUTE)
    equal((await t.claim()).deliveries, [])
    equal(await t.states('1'), ['cancelled', 'cancelled'])
    const before = await t.found('1')
    equal(await t.other.settle({ ...mine, to: 'sent', attempt: SENT }), { live: false })
    equal(await t.store.renew(mine, HOUR), false)
    equal(await t.found('1'), before)
  },
  'a delivery cancelled while it is sent can still be sent': async (t) => {
    const mine = await asked(t)
    equal(await t.store.renew(mine, HOUR), true)
    equal(await t.store.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true, others: [] })
    equal(await t.states('1'), ['sent', 'cancelled'])
  },
  'a delivery cancelled while it is sent can fail and be retried': async (t) => {
    const mine = await asked(t)
    await t.store.settle({ ...mine, to: 'failed', reason: 'provider_rejected', attempt: REJECTED })
    equal(await t.states('1'), ['failed provider_rejected', 'cancelled'])
    matches(await t.retry('1'), { changed: [{ deliveryId: 'x', status: 'queued' }] })
    const again = proof(await t.claimOne('a', MINUTE))
    equal(await t.store.settle({ ...again, to: 'queued', delayMs: 0, attempt: RETRY }), { live: true, others: [] })
    equal(await t.states('1'), ['queued', 'cancelled'], 'retry revokes the earlier cancel')
    await t.claimOne('a', LEASE)
    await t.advance(LEASE)
    equal(idsOf((await t.claim()).deliveries), ['x'])
  },
  'retry queues failed and expired deliveries, due now, with their own expiry': async (t) => {
    await t.accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })], expiresInMs: HOUR })
    await t.fail()
    await t.advance(HOUR)
    await t.claim({})
    const { value: change, from, to } = await timed(t, () => t.retry('1', { expiresInMs: MINUTE }))
    equal(change && byId(change.changed), [
      { deliveryId: 'x', channel: 'a', status: 'queued', attempts: 1 },
      { deliveryId: 'y', channel: 'b', status: 'queued', attempts: 0 },
    ])
    const stored = await t.found('1')
    equal(change?.dispatch, stored, 'the result has the current dispatch')
    for (const one of stored.deliveries) between(one.dueAt, from, to, 'dueAt')
    matches(stored.deliveries[0], { attempts: 1, reason: undefined, lastCode: 'no', attemptLog: [REJECTED] })
    const { deliveries } = await t.claim({ a: 1, b: 1 })
    matches(byId(deliveries), [
      { deliveryId: 'x', attempts: 2, attemptsBefore: 1, history: [{ attempt: 1, ...REJECTED }] },
      { deliveryId: 'y', attempts: 1, history: [] },
    ])
    equal(byId(deliveries)[1]?.attemptsBefore ?? 0, 0)
    for (const one of deliveries) between(one.expiresInMs, MINUTE - MARGIN, MINUTE, 'expiresInMs')
  },
  'a retried delivery expires after the time that retry gives': async (t) => {
    await t.accept('1', { expiresInMs: 100 * HOUR })
    await t.fail()
    await t.retry('1')
    await t.advance(HOUR)
    matches((await t.claim()).expired, [{ deliveryId: '1-a', attempts: 1 }])
    equal(await t.states('1'), ['expired'])
  },
  'every retry restarts the retry schedule': async (t) => {
    await t.accept('1')
    for (const attemptsBefore of [1, 2, 3]) {
      await t.fail()
      await t.retry('1')
      const claimed = await t.claimOne()
      matches(claimed, { attempts: attemptsBefore + 1, attemptsBefore })
      await t.store.settle({ ...proof(claimed), to: 'queued', delayMs: 0 })
    }
  },
  'retry with a channel leaves the other channels': async (t) => {
    await t.accept('1', { deliveries: ['a', 'b', 'c'].map((channel) => delivery(channel, { channel })) })
    for (const channel of ['a', 'b', 'c']) await t.fail(channel)
    matches(await t.retry('1', { channel: 'b' }), { changed: [{ deliveryId: 'b' }] })
    equal(await t.states('1'), [FAILED, 'queued', FAILED])
  },
  'retry renders a failed digest from its events': async (t) => {
    for (const id of ['1', '2']) await t.accept(id, { deliveries: [digested(id)] })
    await t.advance(HOUR)
    await t.fail()
    matches(await t.retry('2'), { changed: [{ deliveryId: '1', status: 'queued' }] })
    const events = [{ dispatchId: '1' }, { dispatchId: '2' }]
    matches(await t.claimOne(), { deliveryId: '1', content: undefined, digest: { events } })
  },
  'retry counts deliveries under limits that never counted them': async (t) => {
    const limits = [{ key: 'l', max: 1, windowMs: 100 * HOUR }]
    const held = delivery('y', { channel: 'b', status: 'held', limits })
    await t.accept('1', { route: 'first', deliveries: [delivery('x'), held], expiresInMs: HOUR })
    await t.advance(HOUR)
    await t.claim({})
    equal(await t.states('1'), ['expired', 'expired'])
    await t.retry('1', { channel: 'b' })
    equal(await t.states('1'), ['expired', 'queued'])
    await t.accept('2', { deliveries: [delivery('z', { limits })] })
    equal(await t.states('2'), ['skipped throttled'])
    await t.fail('b')
    await t.retry('1', { channel: 'b' })
    equal(await t.states('1'), ['expired', 'queued'], 'a retry counts a delivery only once')
  },
  'retry leaves sent, skipped, cancelled and open deliveries': async (t) => {
    const channels = ['sent', 'skipped', 'queued', 'sending', 'failed']
    const deliveries = channels.map((channel) => {
      return delivery(channel, { channel, ...(channel === 'skipped' && { status: 'skipped', reason: 'opted_out' }) })
    })
    await t.accept('1', { deliveries })
    await t.send('sent')
    await t.claimOne('sending')
    await t.fail('failed')
    const before = (await t.found('1')).deliveries.slice(0, 4)
    matches(await t.retry('1'), { changed: [{ deliveryId: 'failed' }] })
    equal((await t.found('1')).deliveries.slice(0, 4), before)
    await t.accept('2')
    await t.cancel('2')
    matches(await t.retry('2'), { changed: [] })
    equal(await t.states('2'), ['cancelled'])
  },
  'retry leaves deliveries without an address or content': async (t) => {
    const failed = { status: 'failed', reason: 'template_error' } as const
    const { address: _, ...nowhere } = delivery('x', failed)
    const { content: __, ...mute } = delivery('y', { channel: 'b', ...failed })
    await t.accept('1', { deliveries: [nowhere, mute] })
    const before = await t.found('1')
    equal(await t.retry('1'), { changed: [], dispatch: before })
    equal(await t.found('1'), before)
  },
  'retry changes no other dispatch, and returns undefined for an unknown one': async (t) => {
    for (const id of ['1', '2']) {
      await t.accept(id)
      await t.fail()
    }
    const before = await t.found('2')
    await t.retry('1')
    equal(await t.found('2'), before)
    equal(await t.retry('nothing'), undefined)
  },
  'with the route first, retry queues the first delivery and holds the others': async (t) => {
    await t.accept('1', { route: 'first', deliveries: three() })
    for (const channel of ['a', 'b', 'c']) await t.fail(channel)
    const change = await t.retry('1', { expiresInMs: MINUTE })
    matches(change && byId(change.changed), [{ status: 'queued' }, { status: 'held' }, { status: 'held' }])
    equal(await t.states('1'), ['queued', 'held', 'held'])
    await t.fail()
    equal(await t.states('1'), [FAILED, 'queued', 'held'])
    const claimed = await t.claimOne('b')
    matches(claimed, { deliveryId: 'y', attempts: 2, attemptsBefore: 1 })
    between(claimed.expiresInMs, MINUTE - MARGIN, MINUTE, 'expiresInMs')
  },
  'with the route first, retry with a channel retries only that channel': async (t) => {
    await t.accept('1', { route: 'first', deliveries: three() })
    for (const channel of ['a', 'b', 'c']) await t.fail(channel)
    await t.retry('1', { channel: 'b' })
    equal(await t.states('1'), [FAILED, 'queued', FAILED])
    await t.fail('b')
    equal(await t.states('1'), [FAILED, FAILED, FAILED])
  },
  'with the route first, retry changes nothing while a delivery is sent or open': async (t) => {
    const unchanged = async (what: string) => {
      const before = await t.found('1')
      equal(await t.retry('1'), { changed: [], dispatch: before }, what)
      equal(await t.found('1'), before, what)
    }
    await t.accept('1', { route: 'first', deliveries: three().slice(0, 2) })
    await t.fail()
    await unchanged('the second delivery is queued')
    const mine = proof(await t.claimOne('b'))
    await unchanged('the second delivery is being sent')
    await t.store.settle({ ...mine, to: 'sent', attempt: SENT })
    await unchanged('the second delivery is sent')
  },
  'with the route first, retry throttles an uncounted delivery with a spent limit': async (t) => {
    const limits = [{ key: 'l', max: 1, windowMs: 100 * HOUR }]
    const held = delivery('y', { channel: 'b', status: 'held', limits })
    await t.accept('1', { route: 'first', deliveries: [delivery('x'), held], expiresInMs: HOUR })
    await t.advance(HOUR)
    await t.claim({})
    await t.accept('2', { deliveries: [delivery('z', { limits })] })
    matches(await t.retry('1', { channel: 'b' }), {
      changed: [{ deliveryId: 'y', status: 'skipped', reason: 'throttled' }],
    })
    equal(await t.states('1'), ['expired', 'skipped throttled'])
  },
})
