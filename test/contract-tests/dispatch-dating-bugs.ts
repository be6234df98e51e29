import type { Dispatch } from '../../src/model/dispatch.ts'
import type { DispatchQuery, Page } from '../../src/ports/dispatch-query.ts'
import type { Acceptance, DispatchStore } from '../../src/ports/dispatch-store.ts'
import type { Planted } from './dispatch-planting.ts'

const ALL = { limit: 10_000, cursor: undefined } as const

/** The times of hosts when they accepted dispatches. */
function believedTimes() {
  const times = new Map<string, number>()
  const timeOf = ({ dispatchId, createdAt }: Dispatch): number => times.get(dispatchId) ?? createdAt
  return {
    note(given: Acceptance): Acceptance {
      const createdAt: unknown = Reflect.get(given.dispatch, 'createdAt')
      if (typeof createdAt === 'number') times.set(given.dispatch.dispatchId, createdAt)
      return given
    },
    timeOf,
    dated: (found: Dispatch | undefined) => found && { ...found, createdAt: timeOf(found) },
  }
}

async function listedBy(
  store: DispatchStore,
  query: DispatchQuery,
  before: (one: Dispatch, other: Dispatch) => number,
): Promise<Page<Dispatch>> {
  const { items } = await store.listDispatches({ ...query, ...ALL })
  const sorted = items.toSorted(before)
  return { items: query.first === 'oldest' ? sorted : sorted.reverse() }
}

/** Bugs of the times of records. */
export const DATING_BUGS: readonly Planted[] = [
  {
    name: 'dispatches are dated by the host',
    caughtBy: 'createdAt is the time of the store, not of its host',
    plant(store) {
      const believed = believedTimes()
      return () => ({
        accept: (given) => store.accept(believed.note(given)),
        findDispatch: async (...args) => believed.dated(await store.findDispatch(...args)),
      })
    },
  },
  {
    name: 'answers have the time of the host',
    caughtBy: 'createdAt is the time of the store, not of its host',
    plant(store) {
      const believed = believedTimes()
      return () => ({
        accept: (given) =>
          store.accept({ ...believed.note(given), answer: (shown) => given.answer(believed.dated(shown) ?? shown) }),
      })
    },
  },
  {
    name: 'lists are ordered by the times of hosts',
    caughtBy: 'listDispatches is ordered by acceptance, whatever the clocks of hosts and the ids',
    plant(store) {
      const { note, timeOf } = believedTimes()
      return () => ({
        accept: (given) => store.accept(note(given)),
        listDispatches: (query) => listedBy(store, query, (one, other) => timeOf(one) - timeOf(other)),
      })
    },
  },
  {
    name: 'lists are ordered by ids',
    caughtBy: 'listDispatches is ordered by acceptance, whatever the clocks of hosts and the ids',
    plant: (store) => () => ({
      listDispatches: (query) => listedBy(store, query, (one, other) => (one.dispatchId < other.dispatchId ? -1 : 1)),
    }),
  },
  {
    name: 'attempts end before they begin',
    caughtBy: 'attempts begin and end in order, by the clock of the store',
    plant: (store) => () => ({
      async findDispatch(tenant, dispatchId) {
        const found = await store.findDispatch(tenant, dispatchId)
        const deliveries = found?.deliveries.map((delivery) => ({
          ...delivery,
          attemptLog: delivery.attemptLog.map(({ endedAt = 0, ...attempt }) => ({ ...attempt, endedAt: endedAt - 65 })),
        }))
        return found && deliveries && { ...found, deliveries }
      },
    }),
  },
]
