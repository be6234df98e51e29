import type { RunReport, RunState } from '../../src/model/run.ts'
import { facetsOf } from '../../src/model/run-facets.ts'
import { noTotals, type Totals } from '../../src/model/totals.ts'
import type { MergeDecision, RunKey, StoredRun } from '../../src/ports/run-store.ts'
import { type Bug, pageByOffset } from './run-bug.ts'

const KEY_OF = ({ tenant, state }: StoredRun): RunKey => ({ tenant, sessionId: state.sessionId, runId: state.runId })

/** Bugs of finds, lists, removals and erasures. */
export const STORE_BUGS: readonly Bug[] = [
  {
    it: 'keeps totals in the process only',
    plant(store) {
      const known = new Set<string>()
      return {
        ...store,
        mergeRun(key, decide) {
          known.add(key.sessionId)
          return store.mergeRun(key, decide)
        },
        async openSession(tenant, sessionId) {
          known.add(sessionId)
          return store.openSession(tenant, sessionId)
        },
        async findSession(tenant, sessionId) {
          const session = await store.findSession(tenant, sessionId)
          return session && (known.has(sessionId) ? session : { ...session, totals: noTotals(), failures: [] })
        },
      }
    },
    caughtBy: ['runs, sessions and totals survive reopening'],
  },
  {
    it: 'scans only the last thousand runs for a list',
    plant: (store) => ({
      ...store,
      async listRuns(query) {
        const page = await store.listRuns(query)
        const { items } = await store.listRuns({ tenant: query.tenant, first: query.first, limit: 1_000 })
        const seen = new Set(items.map(({ state }) => state.runId))
        return { ...page, items: page.items.filter(({ state }) => seen.has(state.runId)) }
      },
    }),
    caughtBy: ['a page of runs with one filter is full, however many other runs there are'],
  },
  {
    it: 'finds runs without the tenant',
    plant: (store) => ({
      ...store,
      async findRun(key) {
        const { items } = await store.listRuns({ limit: 1_000 })
        const isSame = ({ sessionId, runId }: RunState): boolean => sessionId === key.sessionId && runId === key.runId
        return (await store.findRun(key)) ?? items.find(({ state }) => isSame(state))
      },
    }),
    caughtBy: ['a tenant sees nothing of another tenant'],
  },
  {
    it: 'returns cached runs in lists',
    plant(store) {
      const kept = new Map<string, StoredRun>()
      const keep = (run: StoredRun): StoredRun => {
        const key = JSON.stringify([run.tenant, run.state.runId, run.revision])
        kept.set(key, kept.get(key) ?? run)
        return kept.get(key) ?? run
      }
      return {
        ...store,
        async listRuns(query) {
          const { items, ...page } = await store.listRuns(query)
          return { items: items.map(keep), ...page }
        },
      }
    },
    caughtBy: ['changing a found or listed run does not change the stored one'],
  },
  {
    it: 'uses offsets as cursors',
    plant: (store) => ({
      ...store,
      listRuns: (query) => pageByOffset(query, store.listRuns),
    }),
    caughtBy: [
      'paging through runs continues after a removed run and an erased session',
      'paging through runs stays complete while runs are added, changed and removed',
      'paging through a filter is complete while its runs stop fitting',
    ],
  },
  {
    it: 'uses times of creation as cursors',
    plant: (store) => ({
      ...store,
      async listRuns({ cursor, limit, first, ...query }) {
        const { items } = await store.listRuns({ ...query, ...(first && { first }), limit: 1_000 })
        const at = cursor === undefined ? undefined : Number(cursor)
        const left = items.filter(({ createdAt }) => {
          if (at === undefined) return true
          return first === 'newest' ? createdAt < at : createdAt > at
        })
        const page = left.slice(0, limit)
        return { items: page, ...(left.length > limit && { nextCursor: `${page.at(-1)?.createdAt}` }) }
      },
    }),
    caughtBy: ['runs created in the same millisecond are each listed once'],
  },
  {
    it: 'includes the limit of silentForMs',
    plant: (store) => ({
      ...store,
      listRuns: (query) =>
        store.listRuns(query.silentForMs === undefined ? query : { ...query, silentForMs: query.silentForMs - 1 }),
    }),
    caughtBy: ['silentForMs lists runs that are silent for longer, not for as long'],
  },
  {
    it: 'ignores the order of a list',
    plant: (store) => ({ ...store, listRuns: ({ first: _, ...query }) => store.listRuns(query) }),
    caughtBy: ['listRuns can begin with the newest'],
  },
  {
    it: 'ignores the tag where a user is given',
    plant: (store) => ({
      ...store,
      listRuns: ({ tag, ...query }) =>
        store.listRuns(query.userId === undefined && tag !== undefined ? { ...query, tag } : query),
    }),
    caughtBy: ['two filters of listRuns return the runs that fit both'],
  },
  {
    it: 'removes runs with pending events',
    plant: (store) => ({
      ...store,
      async removeRuns(query) {
        const { items } = await store.listRuns({ ...query, pending: true, limit: 1_000 })
        for (const run of items)
          await store.mergeRun(KEY_OF(run), () => ({ result: 0, derived: { ended: [], pending: [] } }))
        return store.removeRuns(query)
      },
    }),
    caughtBy: ['removeRuns keeps runs with pending events, and does not count them'],
  },
  {
    it: 'counts runs with pending events towards the limit of a removal',
    plant: (store) => ({
      ...store,
      async removeRuns(query) {
        const { items } = await store.listRuns({ status: query.status, pending: true, limit: 1_000 })
        return store.removeRuns({ ...query, limit: Math.max(query.limit - items.length, 0) })
      },
    }),
    caughtBy: ['removeRuns keeps runs with pending events, and does not count them'],
  },
  {
    it: 'includes the limit of unchangedForMs',
    plant: (store) => ({
      ...store,
      removeRuns: (query) => store.removeRuns({ ...query, unchangedForMs: query.unchangedForMs - 1 }),
    }),
    caughtBy: ['removeRuns removes runs unchanged for longer, not for as long'],
  },
  {
    it: 'keeps the totals of an erased user below runs',
    plant(store) {
      const descendants = new Map<string, { key: RunKey; runId: string; userId: string; users: Totals['users'] }>()
      return {
        ...store,
        mergeRun: (key, decide) =>
          store.mergeRun(key, (snapshot) => {
            const decision = decide(snapshot)
            for (const { runId, add } of decision.totalsChanges?.descendants ?? [])
              for (const [userId, spend] of Object.entries(add.users))
                descendants.set(JSON.stringify([key.tenant, key.sessionId, runId, userId]), {
                  ...{ key, runId, userId },
                  users: Object.fromEntries([[userId, spend]]),
                })
            return decision
          }),
        async erase(tenant, of) {
          const count = await store.erase(tenant, of)
          for (const { key, runId, userId, users } of descendants.values())
            if ('userId' in of && key.tenant === tenant && of.userId === userId) {
              const again = [{ runId, add: { ...noTotals(), users } }]
              const totalsChanges = { session: noTotals(), descendants: again, users: [] }
              await store.mergeRun(key, () => ({ result: 0, totalsChanges }))
            }
          return count
        },
      }
    },
    caughtBy: ['erasing a user erases their part of the totals below runs'],
  },
  {
    it: 'keeps the failures of an erased user',
    plant: (store) => ({
      ...store,
      async erase(tenant, of) {
        if ('sessionId' in of) return store.erase(tenant, of)
        const { items } = await store.listRuns({ tenant, limit: 1_000 })
        const sessions = new Set(items.map(({ state }) => state.sessionId))
        const failures = new Map<string, MergeDecision<number>>()
        for (const sessionId of sessions) {
          const session = await store.findSession(tenant, sessionId)
          failures.set(sessionId, { result: 0, failures: session?.failures })
        }
        const count = await store.erase(tenant, of)
        for (const [sessionId, decision] of failures)
          await store.mergeRun({ tenant, sessionId, runId: '-' }, () => decision)
        return count
      },
    }),
    caughtBy: ['erasing a user erases their failures in every session'],
  },
  {
    it: 'erases the child runs of an erased user',
    plant: (store) => ({
      ...store,
      async erase(tenant, of) {
        const { items } = await store.listRuns({ tenant, limit: 1_000 })
        const gone = items.filter(({ state }) => 'userId' in of && facetsOf(state).userId === of.userId)
        const ids = new Set(gone.map(({ state }) => state.runId))
        for (const run of items.filter(({ state }) => ids.has(state.application?.parentRunId ?? '')))
          await store.mergeRun(KEY_OF(run), () => {
            const latest = 'userId' in of ? { userId: of.userId } : {}
            return { result: 0, state: withLatest(run.state, latest) }
          })
        return store.erase(tenant, of)
      },
    }),
    caughtBy: ['erasing a user erases their runs in every session, and keeps child runs of others'],
  },
  {
    it: 'keeps the totals of an erased session',
    plant(store) {
      const kept = new Map<string, Totals>()
      return {
        ...store,
        async erase(tenant, of) {
          const session = 'sessionId' in of ? await store.findSession(tenant, of.sessionId) : undefined
          if (session) kept.set(JSON.stringify([tenant, session.sessionId]), structuredClone(session.totals))
          return store.erase(tenant, of)
        },
        mergeRun: (key, decide) =>
          store.mergeRun(key, (snapshot) => {
            const {
              state,
              totalsChanges = { session: noTotals(), descendants: [], users: [] },
              ...rest
            } = decide(snapshot)
            const id = JSON.stringify([key.tenant, key.sessionId])
            const session = kept.get(id)
            if (!state || !session) return { ...rest, state, totalsChanges }
            kept.delete(id)
            return { ...rest, state, totalsChanges: { ...totalsChanges, session } }
          }),
      }
    },
    caughtBy: ['an erased session begins empty with its next run'],
  },
]

function withLatest(state: RunState, latest: RunReport['latest']): RunState {
  return state.application ? { ...state, application: { ...state.application, latest } } : state
}
