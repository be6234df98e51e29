import type { DispatchStore } from '../../ports/dispatch-store.ts'
import { equal, matches } from '../assertions.ts'
import { delivery, digested, HOUR, keyed, LEASE, MINUTE, proof, SENT, skipped, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, idsOf, type StoreHarness } from './store-harness.ts'

/** A case that one handle cannot show. */
function handles(
  name: string,
  run: (harness: StoreHarness, one: DispatchStore, another: DispatchStore) => Promise<void>,
) {
  return contractCase(name, (harness) => run(harness, harness.store, harness.other), 'secondHandle')
}

/** Whatever one handle knows, the other knows: nothing is kept back in a process. */
export function handleCases(): readonly DispatchCase[] {
  return [
    handles(
      'what one handle changes the other reads at once, also what it has read before',
      async (harness, one, another) => {
        const { accept, advance } = harness
        const check = async (status: string) => {
          for (const handle of [another, one]) {
            const found = await handle.findDispatch(TENANT, '1')
            matches(found, { deliveries: [{ status }] })
            equal((await handle.listDispatches({ tenant: TENANT, limit: 1 })).items, [found])
          }
        }
        equal(await another.findDispatch(TENANT, '1'), undefined)
        await accept('1')
        await check('queued')
        const mine = proof(await harness.claimOne())
        await check('sending')
        await another.settle({ ...mine, to: 'failed', reason: 'channel_error' })
        await check('failed')
        await one.retry(TENANT, '1', { expiresInMs: HOUR })
        await check('queued')
        await another.cancel(TENANT, '1')
        await check('cancelled')
        await advance(2 * HOUR)
        await one.removeDispatches({ acceptedForMs: HOUR, limit: 9 })
        equal(await another.findDispatch(TENANT, '1'), undefined)
      },
    ),

    handles('a key that one handle was given is known to the other', async ({ accept }, one, another) => {
      equal(await another.recall(TENANT, 'k'), undefined)
      const first = await accept('1', keyed(), one)
      const answer = 'answer' in first && first.answer
      equal(await another.recall(TENANT, 'k'), { fingerprint: 'f1', answer })
      equal(await accept('2', keyed(), another), { outcome: 'replayed', answer })
      equal(await accept('3', keyed('k', 'f2'), another), { outcome: 'key_reused' })
    }),

    handles('a limit is one for both handles', async ({ accept, states }, one, another) => {
      const limits = [{ key: 'l', max: 2, windowMs: HOUR }]
      for (const [id, handle] of Object.entries({ 1: one, 2: another, 3: one, 4: another })) {
        await accept(id, { deliveries: [delivery(id, { limits })] }, handle)
      }
      equal([await states('1'), await states('2')], [['queued'], ['queued']])
      equal([await states('3'), await states('4')], [['skipped throttled'], ['skipped throttled']])
    }),

    handles('a digest that one handle opened is joined through the other', async (harness, one, another) => {
      const { accept, only } = harness
      for (const [id, handle] of Object.entries({ 1: one, 2: another, 3: one, 4: another })) {
        await accept(id, { deliveries: [digested(id)] }, handle)
      }
      matches([await only('2'), await only('3')], [{ deliveryId: '1', eventCount: 3 }, { deliveryId: '1' }])
      matches(await only('4'), { deliveryId: '4', eventCount: 1 })
      await another.cancel(TENANT, '1')
      await accept('5', { deliveries: [digested('5')] }, one)
      matches(await only('5'), { deliveryId: '1', eventCount: 3 })
    }),

    handles('a lease that one handle gave is a lease to the other', async (harness, one, another) => {
      const { accept, advance, claimOne, states } = harness
      const request = { limits: { a: 9 }, leaseMs: LEASE, busy: [] }
      await accept('1')
      const mine = proof(await claimOne('a', MINUTE))
      equal((await another.claim(request)).deliveries, [])
      equal(await another.renew(mine, HOUR), true)
      await advance(MINUTE)
      for (const handle of [one, another]) equal((await handle.claim(request)).deliveries, [])
      matches(await another.settle({ ...mine, to: 'sent', attempt: SENT }), { live: true })
      equal(await one.settle({ ...mine, to: 'sent', attempt: SENT }), { live: false })
      equal(await states('1'), ['sent'])
    }),

    handles('a fence of one handle is never one of the other', async ({ accept, advance, found }, one, another) => {
      await accept('1')
      const fences: string[] = []
      for (const handle of [one, another, one, another, another, one]) {
        const { deliveries } = await handle.claim({ limits: { a: 1 }, leaseMs: MINUTE, busy: [] })
        const before = await found('1')
        for (const fence of fences) {
          equal(await handle.settle({ deliveryId: '1-a', fence, to: 'sent', attempt: SENT }), { live: false })
          equal(await handle.renew({ deliveryId: '1-a', fence }, HOUR), false)
        }
        equal(await found('1'), before)
        fences.push(...deliveries.map(({ fence }) => fence))
        await advance(MINUTE)
      }
      equal(new Set(fences).size, 6)
    }),

    handles('what one handle is asked to cancel the other does not queue again', async (harness, one, another) => {
      const { accept, claimOne, advance } = harness
      for (const id of ['1', '2']) await accept(id)
      const leases = [await claimOne(), await claimOne()]
      for (const id of ['1', '2']) await another.cancel(TENANT, id)
      const [first] = leases
      if (first)
        matches(await one.settle({ ...proof(first), to: 'queued', delayMs: 0 }), { live: true, cancelled: true })
      await advance(LEASE)
      for (const handle of [one, another]) {
        equal((await handle.claim({ limits: { a: 9 }, leaseMs: LEASE, busy: [] })).deliveries, [])
      }
    }),

    handles('what both handles accepted is handed out, listed and removed by either', async (harness, one, another) => {
      const { accept, advance } = harness
      for (const [id, handle] of Object.entries({ 1: one, 2: another })) {
        await accept(id, {}, handle)
        await accept(`ended-${id}`, { deliveries: [skipped(`s${id}`)] }, handle)
        await advance(MINUTE)
      }
      const { items } = await one.listDispatches({ tenant: TENANT, limit: 9 })
      equal((await another.listDispatches({ tenant: TENANT, limit: 9 })).items, items)
      equal(idsOf((await another.claim({ limits: { a: 9 }, leaseMs: 9 * HOUR, busy: [] })).deliveries), ['1-a', '2-a'])
      await advance(2 * HOUR)
      equal(await another.removeDispatches({ acceptedForMs: HOUR, limit: 9 }), 2)
      equal((await one.listDispatches({ tenant: TENANT, limit: 9 })).items.length, 2)
    }),
  ]
}
