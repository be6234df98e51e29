import { equal, matches } from '../assertions.ts'
import { ADDRESS, delivery, digested, HOUR, keyed, LEASE, MARGIN, MINUTE, proof, SENT, TENANT } from './samples.ts'
import { between, byId, contractCase, type DispatchCase, idsOf, timed } from './store-harness.ts'

const first = 'first'
const pair = (rest = {}) => [delivery('x', rest), delivery('y', { channel: 'b', status: 'held' })]

export function expiringCases(): readonly DispatchCase[] {
  return [...expiring(), ...lasting()]
}

function expiring(): readonly DispatchCase[] {
  return [
    contractCase('what is past its expiry is told to be expired, and not handed out', async (harness) => {
      const { accept, advance, claim, states, found } = harness
      await accept('1', { ...keyed(), expiresInMs: HOUR, sessionId: 's1' })
      const { createdAt } = await found('1')
      await advance(HOUR)
      const { deliveries, expired } = await claim()
      equal(deliveries, [])
      const head = { dispatchId: '1', tenant: TENANT, eventType: 'e', recipient: ADDRESS, route: 'all' }
      const dispatch = { ...head, sessionId: 's1', createdAt }
      equal(expired, [{ deliveryId: '1-a', channel: 'a', status: 'expired', attempts: 0, dispatch }])
      equal(await states('1'), ['expired'])
      matches(await harness.only('1'), { dueAt: undefined })
    }),

    contractCase('what is held behind it expires with it', async ({ accept, advance, claim, states }) => {
      await accept('1', { route: first, deliveries: pair(), expiresInMs: HOUR })
      await advance(HOUR)
      matches(byId((await claim()).expired), [
        { deliveryId: 'x', channel: 'a', status: 'expired', attempts: 0, dispatch: { dispatchId: '1' } },
        { deliveryId: 'y', channel: 'b', status: 'expired', attempts: 0, dispatch: { dispatchId: '1' } },
      ])
      equal(await states('1'), ['expired', 'expired'])
    }),

    contractCase('what has expired is told once', async ({ accept, advance, claim }) => {
      await accept('1', { route: first, deliveries: pair(), expiresInMs: HOUR })
      await advance(HOUR)
      equal((await claim()).expired.length, 2)
      matches(await claim({ a: 9, b: 9 }), { deliveries: [], expired: [] })
    }),

    contractCase('what nobody names expires all the same', async ({ accept, advance, claim, states }) => {
      for (const channel of ['gone', 'lost']) {
        await accept(channel, { deliveries: [delivery(channel, { channel })], expiresInMs: HOUR })
      }
      await advance(HOUR)
      equal(idsOf((await claim({})).expired), ['gone', 'lost'])
      equal([await states('gone'), await states('lost')], [['expired'], ['expired']])
    }),

    contractCase(
      'what is for a busy receiver, or of which nothing is asked for, expires all the same',
      async (harness) => {
        const { store, accept, advance, states } = harness
        await accept('1', { deliveries: [delivery('x', { concurrencyKey: 'dead' })], expiresInMs: HOUR })
        await accept('2', { deliveries: [delivery('y', { channel: 'b' })], expiresInMs: HOUR })
        await advance(HOUR)
        const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
        const { expired } = await store.claim({ limits: { a: 9, b: 0 }, leaseMs: LEASE, busy })
        equal(idsOf(expired), ['x', 'y'])
        equal([await states('1'), await states('2')], [['expired'], ['expired']])
      },
    ),

    contractCase('what expires takes nobody’s place', async ({ accept, advance, claim }) => {
      for (const id of ['1', '2', '3']) await accept(id, { expiresInMs: HOUR })
      await advance(HOUR)
      await accept('4')
      const { deliveries, expired } = await claim({ a: 1 })
      equal([idsOf(deliveries), idsOf(expired)], [['4-a'], ['1-a', '2-a', '3-a']])
    }),

    contractCase('what is being sent expires only once its lease has ended', async (harness) => {
      const { store, accept, advance, claim, claimOne, states } = harness
      await accept('1', { expiresInMs: MINUTE })
      const claimed = await claimOne('a', HOUR)
      await advance(HOUR - MARGIN)
      equal((await claim()).expired, [])
      equal(await store.renew(proof(claimed), HOUR), true)
      await advance(HOUR - MARGIN)
      equal((await claim()).expired, [])
      equal(await states('1'), ['sending'])
      await advance(MARGIN)
      matches((await claim()).expired, [{ deliveryId: '1-a', attempts: 1 }])
    }),

    contractCase('a worker that comes back to what has expired is refused', async (harness) => {
      const { store, other, accept, advance, claim, claimOne, found } = harness
      await accept('1', { expiresInMs: MINUTE })
      const claimed = await claimOne('a', MINUTE)
      await advance(MINUTE)
      await claim()
      const before = await found('1')
      equal(await other.settle({ ...proof(claimed), to: 'sent', attempt: SENT }), { live: false })
      equal(await store.renew(proof(claimed), MINUTE), false)
      equal(await found('1'), before)
    }),

    contractCase('a digest expires in all its dispatches', async ({ accept, advance, claim, states }) => {
      for (const id of ['1', '2']) await accept(id, { deliveries: [digested(id)], expiresInMs: HOUR })
      await advance(2 * HOUR)
      equal(idsOf((await claim()).expired), ['1'])
      equal([await states('1'), await states('2')], [['expired'], ['expired']])
    }),
  ]
}

function lasting(): readonly DispatchCase[] {
  return [
    contractCase('a delivery is worth sending from when it is first due', async (harness) => {
      const { accept, advance, claimOne, claim } = harness
      const post = () => accept('1', { deliveries: [delivery('x', { delayMs: 5 * HOUR })], expiresInMs: HOUR })
      const accepted = await timed(harness, post)
      await advance(6 * HOUR - MINUTE)
      const { value, from, to } = await timed(harness, () => claimOne('a', MINUTE))
      const left = (now: number, since: number) => 6 * HOUR - (now - since)
      between(value.expiresInMs, left(to, accepted.from), left(from, accepted.to), 'how long it is worth sending')
      await advance(MINUTE)
      equal(idsOf((await claim()).expired), ['x'])
    }),

    contractCase('what is held is worth sending for as long as what is queued', async (harness) => {
      const { accept, advance, claimOne, fail, claim } = harness
      await accept('1', { route: first, deliveries: pair({ delayMs: 5 * HOUR }), expiresInMs: HOUR })
      await advance(6 * HOUR - MINUTE)
      await fail()
      const { expiresInMs, deliveryId } = await claimOne('b', MINUTE)
      equal(deliveryId, 'y')
      between(expiresInMs, MINUTE - MARGIN, MINUTE, 'how long it is worth sending')
      await advance(MINUTE)
      equal(idsOf((await claim({ b: 9 })).expired), ['y'])
    }),

    contractCase('what is tried again does not last longer for it', async (harness) => {
      const { store, accept, advance, claim, claimOne } = harness
      await accept('1', { expiresInMs: HOUR })
      const attempt = { outcome: 'retry', code: 'busy' } as const
      await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: HOUR, attempt })
      await advance(HOUR)
      const { deliveries, expired } = await claim()
      equal(deliveries, [])
      matches(expired, [{ deliveryId: '1-a', attempts: 1, status: 'expired' }])
    }),

    contractCase('a digest is worth sending for as long as any of its events', async (harness) => {
      const { store, accept, advance, claimOne } = harness
      for (const [id, expiresInMs] of Object.entries({ 1: MINUTE, 2: 5 * HOUR, 3: MINUTE })) {
        await accept(id, { deliveries: [digested(id)], expiresInMs })
      }
      await advance(HOUR)
      await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: 4 * HOUR })
      await advance(4 * HOUR)
      matches(await claimOne(), { deliveryId: '1', digest: { events: [{}, {}, {}] } })
    }),
  ]
}
