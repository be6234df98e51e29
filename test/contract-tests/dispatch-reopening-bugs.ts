import type { DispatchStore } from '../../src/ports/dispatch-store.ts'
import type { Bug, Plant, Planted } from './dispatch-planting.ts'

/** A fault that only a process has which starts when the two others have ended. */
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

/** Faults in what outlives the processes that were told of it. */
export const REOPENING_BUGS: readonly Planted[] = [
  {
    name: 'keys are remembered for as long as the process lives',
    caughtBy: 'what was accepted is there when the store is opened anew, with its key',
    plant: later(() => ({ recall: async () => undefined })),
  },
  {
    name: 'what was sent is written down later than it is told',
    caughtBy: 'what was done is still done when the store is opened anew',
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
    name: 'leases end with the process that gave them',
    caughtBy: 'a lease is one when the store is opened anew, and its fence is never given again',
    plant: later((store, fences) => ({
      settle: async (settlement) => (fences.has(settlement.fence) ? { live: false } : store.settle(settlement)),
    })),
  },
  {
    name: 'limits are counted anew by each process',
    caughtBy: 'limits and digests go on when the store is opened anew',
    plant: later((store) => ({
      accept(given) {
        const deliveries = given.dispatch.deliveries.map(({ limits: _, ...rest }) => rest)
        return store.accept({ ...given, dispatch: { ...given.dispatch, deliveries } })
      },
    })),
  },
]
