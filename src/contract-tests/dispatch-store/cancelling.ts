import { equal, matches } from '../assertions.ts'
import { delivery, type GivenDispatch, HOUR, LEASE, MINUTE, proof, REJECTED, RETRY, SENT, TENANT } from './samples.ts'
import { byId, contractCase, type DispatchCase, idsOf, type StoreHarness } from './store-harness.ts'

/** A dispatch whose first delivery is being sent when its end is asked for, and what is left of it. */
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

export function cancellingCases(): readonly DispatchCase[] {
  return [...cancelling(), ...sending()]
}

function cancelling(): readonly DispatchCase[] {
  return [
    contractCase('what is queued and held becomes cancelled, and the rest stays', async (harness) => {
      const { store, accept, claimOne, found, states } = harness
      const deliveries = [
        delivery('x', { channel: 'b' }),
        delivery('y', { delayMs: HOUR }),
        delivery('z', { channel: 'c', status: 'held' }),
        delivery('w', { channel: 'd', status: 'skipped', reason: 'no_address' }),
      ]
      await accept('1', { deliveries })
      await claimOne('b')
      const change = await store.cancel(TENANT, '1')
      equal(change && byId(change.changed), [
        { deliveryId: 'y', channel: 'a', status: 'cancelled', attempts: 0 },
        { deliveryId: 'z', channel: 'c', status: 'cancelled', attempts: 0 },
      ])
      equal(change?.dispatch, await found('1'), 'the dispatch as it is now')
      equal(await states('1'), ['sending', 'cancelled', 'cancelled', 'skipped no_address'])
      matches((await found('1')).deliveries[1], { dueAt: undefined })
    }),

    contractCase('what is cancelled is never handed out, and does not expire', async (harness) => {
      const { store, accept, advance, claim, states } = harness
      await accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b', delayMs: HOUR })] })
      await store.cancel(TENANT, '1')
      for (const ms of [HOUR, 100 * HOUR]) {
        matches(await claim({ a: 9, b: 9 }), { deliveries: [], expired: [] })
        await advance(ms)
      }
      matches(await claim({ a: 9, b: 9 }), { deliveries: [], expired: [] })
      equal(await states('1'), ['cancelled', 'cancelled'])
    }),

    contractCase('cancelling again changes nothing', async ({ store, other, accept, found }) => {
      await accept('1')
      await store.cancel(TENANT, '1')
      const before = await found('1')
      equal(await other.cancel(TENANT, '1'), { changed: [], dispatch: before })
      equal(await found('1'), before)
    }),

    contractCase('cancelling changes no other dispatch, and knows none that there is not', async (harness) => {
      const { store, accept, found } = harness
      for (const id of ['1', '2']) await accept(id)
      const before = await found('2')
      await store.cancel(TENANT, '1')
      equal(await found('2'), before)
      equal(await store.cancel(TENANT, 'nothing'), undefined)
    }),

    contractCase('what has an end keeps it', async ({ store, accept, fail, states }) => {
      await accept('1')
      await fail()
      matches(await store.cancel(TENANT, '1'), { changed: [] })
      equal(await states('1'), ['failed provider_rejected'])
    }),
  ]
}

function sending(): readonly DispatchCase[] {
  return [
    contractCase('what is being sent when it is cancelled is not queued again', async (harness) => {
      const { store, advance, claim, only } = harness
      const mine = await asked(harness)
      const settled = await store.settle({ ...mine, to: 'queued', delayMs: MINUTE, attempt: RETRY })
      equal(settled, { live: true, others: [], cancelled: true })
      matches(await only('1'), { status: 'cancelled', attempts: 1, attemptLog: [RETRY], dueAt: undefined })
      await advance(HOUR)
      matches(await claim({ a: 9, b: 9 }), { deliveries: [], expired: [] })
    }),

    contractCase('nor is it when nothing was tried', async (harness) => {
      const { store, advance, claim, only } = harness
      const mine = await asked(harness)
      equal(await store.settle({ ...mine, to: 'queued', delayMs: 0 }), { live: true, others: [], cancelled: true })
      matches(await only('1'), { status: 'cancelled', attempts: 0, attemptLog: [] })
      await advance(HOUR)
      equal((await claim()).deliveries, [])
    }),

    contractCase('nor is it when its worker died: it becomes cancelled', async (harness) => {
      const { store, other, advance, claim, states, found } = harness
      const mine = await asked(harness)
      await advance(MINUTE)
      equal((await claim()).deliveries, [])
      equal(await states('1'), ['cancelled', 'cancelled'])
      const before = await found('1')
      equal(await other.settle({ ...mine, to: 'sent', attempt: SENT }), { live: false })
      equal(await store.renew(mine, HOUR), false)
      equal(await found('1'), before)
    }),

    contractCase('what is being sent when it is cancelled may be sent all the same', async (harness) => {
      const { store, states } = harness
      const mine = await asked(harness)
      equal(await store.renew(mine, HOUR), true)
      equal(await store.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true, others: [] })
      equal(await states('1'), ['sent', 'cancelled'])
    }),

    contractCase('what is being sent when it is cancelled may fail, and then be tried again', async (harness) => {
      const { store, advance, claim, claimOne, states } = harness
      const mine = await asked(harness)
      await store.settle({ ...mine, to: 'failed', reason: 'provider_rejected', attempt: REJECTED })
      equal(await states('1'), ['failed provider_rejected', 'cancelled'])
      matches(await store.retry(TENANT, '1', { expiresInMs: HOUR }), {
        changed: [{ deliveryId: 'x', status: 'queued' }],
      })
      const again = proof(await claimOne('a', MINUTE))
      equal(await store.settle({ ...again, to: 'queued', delayMs: 0, attempt: RETRY }), { live: true, others: [] })
      equal(await states('1'), ['queued', 'cancelled'], 'a retry puts an end to what was asked for before')
      await claimOne('a', LEASE)
      await advance(LEASE)
      equal(idsOf((await claim()).deliveries), ['x'])
    }),
  ]
}
