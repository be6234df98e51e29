import { equal, matches, ok } from '../assertions.ts'
import { delivery, digested, everyKind, HOUR, keyed, LEASE, MINUTE, proof, REJECTED, SENT, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, idsOf, type StoreHarness } from './store-harness.ts'

/** A case about what outlives every process. */
function reopening(name: string, run: (harness: StoreHarness) => Promise<void>): DispatchCase {
  return contractCase(name, run, 'durable')
}

/** Whatever was answered is there for a process that starts when all others have ended. */
export function reopeningCases(): readonly DispatchCase[] {
  return [
    reopening('what was accepted is there when the store is opened anew, with its key', async (harness) => {
      const accepted = await harness.accept('1', { ...keyed(), deliveries: everyKind() })
      const before = await harness.found('1')
      const later = await harness.reopen()
      equal(await later.found('1'), before)
      equal((await later.store.listDispatches({ tenant: TENANT, limit: 9 })).items, [before])
      const answer = 'answer' in accepted && accepted.answer
      equal(await later.store.recall(TENANT, 'k'), { fingerprint: 'f1', answer })
      equal(await later.accept('2', keyed()), { outcome: 'replayed', answer })
      equal(idsOf((await later.claim()).deliveries), ['x'])
    }),

    reopening('what was done is still done when the store is opened anew', async (harness) => {
      const { store, accept, claimOne, fail } = harness
      for (const id of ['sent', 'failed', 'tried', 'cancelled', 'retried', 'queued']) {
        await accept(id)
        if (id === 'sent') await store.settle({ ...proof(await claimOne()), to: 'sent', attempt: SENT })
        if (id === 'failed' || id === 'retried') await fail()
        if (id === 'tried')
          await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: HOUR, attempt: REJECTED })
        if (id === 'cancelled') await store.cancel(TENANT, id)
        if (id === 'retried') {
          await store.retry(TENANT, id, { expiresInMs: 72 * HOUR })
          equal((await claimOne('a', 9 * HOUR)).deliveryId, 'retried-a')
        }
      }
      const { items } = await store.listDispatches({ tenant: TENANT, limit: 9 })
      const later = await harness.reopen()
      equal((await later.store.listDispatches({ tenant: TENANT, limit: 9 })).items, items)
      equal(idsOf((await later.claim()).deliveries), ['queued-a'])
      await later.advance(HOUR)
      equal(idsOf((await later.claim()).deliveries), ['queued-a', 'tried-a'])
    }),

    reopening('a lease is one when the store is opened anew, and its fence is never given again', async (harness) => {
      for (const id of ['1', '2']) await harness.accept(id)
      const [settled, lost] = [await harness.claimOne('a', HOUR), await harness.claimOne('a', MINUTE)]
      const later = await harness.reopen()
      equal((await later.claim()).deliveries, [])
      equal(await later.store.settle({ ...proof(settled), to: 'sent', attempt: SENT }), { live: true, others: [] })
      await later.advance(LEASE)
      const again = await later.claimOne()
      matches(again, { deliveryId: lost.deliveryId, attempts: 2 })
      ok(again.fence !== lost.fence, 'it has a fence of its own')
      equal(await later.store.settle({ ...proof(lost), to: 'sent', attempt: SENT }), { live: false })
      equal(await later.store.renew(proof(again), HOUR), true)
    }),

    reopening('limits and digests go on when the store is opened anew', async (harness) => {
      const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
      const of = (id: string) => [digested(`d${id}`), delivery(`x${id}`, { channel: 'b', limits })]
      await harness.accept('1', { deliveries: of('1') })
      const later = await harness.reopen()
      await later.accept('2', { deliveries: of('2') })
      equal(await later.states('2'), ['queued', 'skipped throttled'])
      matches((await later.found('2')).deliveries[0], { deliveryId: 'd1', eventCount: 2 })
      await later.advance(HOUR)
      equal(idsOf((await later.claim()).deliveries), ['d1'])
    }),
  ]
}
