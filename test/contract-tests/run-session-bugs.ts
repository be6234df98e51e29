import { facetsOf } from '../../src/model/run-facets.ts'
import type { RunStore, StoredRun } from '../../src/ports/run-store.ts'
import { type Bug, seeing } from './run-bug.ts'

async function findAnywhere(store: RunStore, tenant: string, runId: string): Promise<StoredRun | undefined> {
  const { items } = await store.listRuns({ tenant, limit: 1_000 })
  return items.find(({ state }) => state.runId === runId)
}

/** Bugs of stores that mix runs of one id in two sessions. */
export const SESSION_BUGS: readonly Bug[] = [
  {
    it: 'finds the run of another session',
    plant: (store) => ({
      ...store,
      findRun: async (key) => (await store.findRun(key)) ?? findAnywhere(store, key.tenant, key.runId),
    }),
    caughtBy: ['a session neither finds nor sees the run of another session'],
  },
  {
    it: 'shows a merge the run of another session',
    plant: (store) =>
      seeing(store, async (snapshot, { tenant, runId }) => {
        const run = snapshot.run ?? (await findAnywhere(store, tenant, runId))
        return run ? { ...snapshot, run } : snapshot
      }),
    caughtBy: ['a session neither finds nor sees the run of another session'],
  },
  {
    it: 'shows a merge the parent in another session',
    plant: (store) =>
      seeing(store, async (snapshot, { tenant }) => {
        const [first, ...others] = snapshot.newAncestors ?? snapshot.ancestors
        const run = first && (first.run ?? (await findAnywhere(store, tenant, first.runId)))
        if (!run) return snapshot
        const ancestors = [{ ...first, run }, ...others]
        return snapshot.newAncestors ? { ...snapshot, newAncestors: ancestors } : { ...snapshot, ancestors }
      }),
    caughtBy: ['a session neither finds nor sees the run of another session'],
  },
  {
    it: 'lists one run per id',
    plant: (store) => ({
      ...store,
      async listRuns(query) {
        const { items, ...page } = await store.listRuns(query)
        const first = new Map(items.toReversed().map((run) => [run.state.runId, run]))
        return { items: items.filter((run) => first.get(run.state.runId) === run), ...page }
      },
    }),
    caughtBy: [
      'lists contain the runs of one id in all sessions, on pages of any length',
      'runs of one id created in the same millisecond are each listed once',
      'pending events belong to the run of one session',
    ],
  },
  {
    it: 'erases the failures of a user by run id alone',
    plant: (store) => ({
      ...store,
      async erase(tenant, of) {
        const { items } = await store.listRuns({ tenant, limit: 1_000 })
        const gone = items.filter(({ state }) => 'userId' in of && facetsOf(state).userId === of.userId)
        const ids = new Set(gone.map(({ state }) => state.runId))
        for (const sessionId of new Set(items.map(({ state }) => state.sessionId)))
          await store.mergeRun({ tenant, sessionId, runId: '-' }, ({ session }) => ({
            result: 0,
            failures: session?.failures.filter(({ runId }) => !ids.has(runId)),
          }))
        return store.erase(tenant, of)
      },
    }),
    caughtBy: ['erasing a user leaves the runs and failures of the same ids in other sessions'],
  },
  {
    it: 'erases the runs of one id in every session',
    plant: (store) => ({
      ...store,
      async erase(tenant, of) {
        const { items } = await store.listRuns({ tenant, limit: 1_000 })
        const ids = items.filter(({ state }) => 'sessionId' in of && state.sessionId === of.sessionId)
        const same = items.filter(({ state }) => ids.some((one) => one.state.runId === state.runId))
        const count = await store.erase(tenant, of)
        for (const { state } of same) await store.erase(tenant, { sessionId: state.sessionId })
        return count
      },
    }),
    caughtBy: ['erasing a session leaves the runs of the same ids in other sessions'],
  },
]
