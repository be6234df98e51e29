import type { DispatchStore } from '../../src/ports/dispatch-store.ts'
import type { Bug, Plant, Planted } from './dispatch-planting.ts'

/** A bug of the third process only, which starts after the two others. */
function later(bug: (store: DispatchStore, fences: ReadonlySet<string>) => Bug): Plant {
  return (store) => {
    let processes = 0
    const fences = new Set<string>()
    const before: Bug = {
      async claim(request) {
        const claims = await store.claim(request)
        for (const { fence } of claims.deliveries) fences.add(fence)
        return claims
      },
    }
    return () => (++processes > 2 ? bug(store, fences) : before)
  }
}

/** Bugs of durability. */
export const REOPENING_BUGS: readonly Planted[] = [
  {
    name: 'idempotency keys end with the process',
    caughtBy: 'accepted dispatches and idempotency keys survive reopening',
    plant: later(() => ({ recall: async () => undefined })),
  },
  {
    name: 'settlements are written after the answer',
    caughtBy: 'settlements and changes survive reopening',
    plant: later((store) => ({
      async listDispatches(query) {
        const { items, ...page } = await store.listDispatches(query)
        const unsent = items.map((one) => ({
          ...one,
          deliveries: one.deliveries.map((each) => (each.status === 'sent' ? { ...each, status: 'queued' } : each)),
        }))
        return { ...page, items: unsent as typeof items }
      },
    })),
  },
  {
    name: 'leases end with the process',
    caughtBy: 'leases survive reopening, and fencing tokens are never reused',
    plant: later((store, fences) => ({
      settle: async (settlement) => (fences.has(settlement.fence) ? { live: false } : store.settle(settlement)),
    })),
  },
  {
    name: 'limits end with the process',
    caughtBy: 'limits and digests survive reopening',
    plant: later((store) => ({
      accept(given) {
        const deliveries = given.dispatch.deliveries.map(({ limits: _, ...rest }) => rest)
        return store.accept({ ...given, dispatch: { ...given.dispatch, deliveries } })
      },
    })),
  },
]
