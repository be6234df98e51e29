import { addDecimals, canonicalDecimal, negateDecimal } from '../../src/model/decimal.ts'
import { minusTotals, noTotals, type Totals } from '../../src/model/totals.ts'
import type { MergeDecision, MergeSnapshot, RunAncestor, RunKey, RunStore } from '../../src/ports/run-store.ts'
import { type Bug, deciding, seeing } from './run-bug.ts'

function replacing(sum: Totals | undefined, add: Totals): Totals {
  return sum ? (minusTotals(add, sum) ?? noTotals()) : add
}

/** The exact amount to add so that the sum is that of binary floating point. */
function floating(sum: Totals | undefined, add: Totals): Totals {
  const cost = Object.entries(add.spend.cost).map(([currency, amount]) => {
    const before = sum?.spend.cost[currency] ?? '0'
    const after = canonicalDecimal(Number(before) + Number(amount)) ?? before
    return [currency, addDecimals(after, negateDecimal(before))]
  })
  return { ...add, spend: { ...add.spend, cost: Object.fromEntries(cost) } }
}

async function climb(
  store: RunStore,
  { tenant, sessionId }: RunKey,
  ancestors: readonly RunAncestor[],
): Promise<RunAncestor[]> {
  const all = [...ancestors]
  for (let next = all.at(-1)?.run; next?.state.application?.parentRunId !== undefined && all.length < 64; ) {
    const runId: string = next.state.application.parentRunId
    next = await store.findRun({ tenant, sessionId, runId })
    all.push({ runId, ...(next && { run: next }) })
  }
  return all
}

function mapIds(store: RunStore, map: (id: string) => string): RunStore {
  return {
    ...store,
    mergeRun: (key, decide) =>
      store.mergeRun({ ...key, runId: map(key.runId) }, (snapshot) => {
        const decision = decide(snapshot)
        const { state } = decision
        return state ? { ...decision, state: { ...state, runId: map(state.runId) } } : decision
      }),
    findRun: (key) => store.findRun({ ...key, runId: map(key.runId) }),
  }
}

const SESSION_AND_USER_ERASED: readonly string[] = [
  'a session erased during a merge is erased before or after it',
  'a session erased during a merge is erased before or after it, over two handles',
  'a user erased during a merge is erased before or after it',
  'a user erased during a merge is erased before or after it, over two handles',
]

/** Decides on a snapshot, then waits before it writes. */
async function decidedBefore<T>(
  store: RunStore,
  key: RunKey,
  decide: (snapshot: MergeSnapshot) => MergeDecision<T>,
): Promise<MergeDecision<T>> {
  const { result } = await store.mergeRun(key, (snapshot) => ({ result: structuredClone(snapshot) }))
  const decision = decide(result)
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
  return decision
}

/** Bugs of the snapshots and writes of merges. */
export const MERGE_BUGS: readonly Bug[] = [
  {
    it: 'reads, decides and writes without a transaction',
    plant: (store) =>
      seeing(store, async (snapshot) => {
        await Promise.resolve()
        return structuredClone(snapshot)
      }),
    caughtBy: [
      'of 100 concurrent merges of one run each sees the state of the ones before',
      'of 100 concurrent merges of one run each sees the state of the ones before, over two handles',
      'of concurrent merges of 100 runs of one session each sees the totals of the ones before',
      'one run id posted concurrently to two sessions becomes one run in each',
      'of a concurrently merged run and its first child exactly one sees the other',
    ],
  },
  {
    it: 'writes a run that was erased meanwhile',
    plant: (store) => ({
      ...store,
      async mergeRun(key, decide) {
        const decision = await decidedBefore(store, key, decide)
        return store.mergeRun(key, () => decision)
      },
    }),
    caughtBy: SESSION_AND_USER_ERASED,
  },
  {
    it: 'drops a merge that conflicts with an erasure',
    plant(store) {
      let erasures = 0
      return {
        ...store,
        async mergeRun(key, decide) {
          const before = erasures
          const decision = await decidedBefore(store, key, decide)
          if (erasures !== before) return { result: decision.result }
          return store.mergeRun(key, () => decision)
        },
        erase(tenant, of) {
          erasures += 1
          return store.erase(tenant, of)
        },
      }
    },
    caughtBy: SESSION_AND_USER_ERASED,
  },
  {
    it: 'gives up an erasure that conflicts with a merge',
    plant(store) {
      let merges = 0
      return {
        ...store,
        async mergeRun(key, decide) {
          merges += 1
          const decision = await decidedBefore(store, key, decide)
          const merged = await store.mergeRun(key, () => decision)
          merges -= 1
          return merged
        },
        erase: async (tenant, of) => (merges > 0 ? 0 : store.erase(tenant, of)),
      }
    },
    caughtBy: SESSION_AND_USER_ERASED,
  },
  {
    it: 'merges without looking at the session',
    plant: (store) => ({
      ...store,
      mergeRun: (key, decide) => store.mergeRun({ ...key, sessionId: 'all' }, decide),
      async findSession(tenant, sessionId) {
        const session = await store.findSession(tenant, 'all')
        return session && { ...session, sessionId }
      },
    }),
    caughtBy: ['sessions with similar ids are separate'],
  },
  {
    it: 'counts touched as a revision',
    plant: (store) =>
      deciding(store, (decision, { run }) =>
        decision.touched && !decision.state ? { ...decision, state: run?.state } : decision,
      ),
    caughtBy: ['touched alone is no revision'],
  },
  {
    it: 'sets lastSeenAt at every merge',
    plant: (store) => deciding(store, (decision) => ({ ...decision, touched: true })),
    caughtBy: ['a decision on a stored run changes exactly its members'],
  },
  {
    it: 'opens the session before it decides',
    plant: (store) => ({
      ...store,
      async mergeRun(key, decide) {
        await store.openSession(key.tenant, key.sessionId)
        return store.mergeRun(key, decide)
      },
    }),
    caughtBy: [
      'a merge that decides nothing changes nothing',
      'a decision that throws changes nothing, and the merge throws the same error',
      'a decision without a stored run creates the run only if it has a state',
    ],
  },
  {
    it: 'replaces totals instead of adding',
    plant: (store) =>
      deciding(store, (decision, { session }) => {
        const { totalsChanges } = decision
        if (!totalsChanges) return decision
        return {
          ...decision,
          totalsChanges: { ...totalsChanges, session: replacing(session?.totals, totalsChanges.session) },
        }
      }),
    caughtBy: ['totals add up in every part and for every name'],
  },
  {
    it: 'adds amounts in binary floating point',
    plant: (store) =>
      deciding(store, (decision, { session }) => {
        const { totalsChanges } = decision
        if (!totalsChanges) return decision
        return {
          ...decision,
          totalsChanges: { ...totalsChanges, session: floating(session?.totals, totalsChanges.session) },
        }
      }),
    caughtBy: ['amounts are added as exact decimals'],
  },
  {
    it: 'loses names of object members',
    plant: (store) => ({
      ...store,
      async findSession(tenant, sessionId) {
        const session = await store.findSession(tenant, sessionId)
        if (!session) return undefined
        const counts: Record<string, number> = {}
        for (const name in session.totals.counts) counts[name] = session.totals.counts[name] ?? 0
        return { ...session, totals: { ...session.totals, counts } }
      },
    }),
    caughtBy: ['totals add up in every part and for every name'],
  },
  {
    it: 'counts all spend for today',
    plant: (store) =>
      deciding(store, (decision) => {
        const { totalsChanges } = decision
        if (!totalsChanges) return decision
        return {
          ...decision,
          totalsChanges: { ...totalsChanges, users: totalsChanges.users.map(({ at: _, ...user }) => user) },
        }
      }),
    caughtBy: ['spend at an instant counts for its day, from the first millisecond to the last'],
  },
  {
    it: 'appends failures instead of replacing them',
    plant: (store) =>
      deciding(store, (decision, { session }) =>
        decision.failures ? { ...decision, failures: [...decision.failures, ...(session?.failures ?? [])] } : decision,
      ),
    caughtBy: ['failures replace the earlier failures of the session'],
  },
  {
    it: 'follows ancestors without end, also in cycles',
    plant: (store) =>
      seeing(store, async (snapshot, key) => ({ ...snapshot, ancestors: await climb(store, key, snapshot.ancestors) })),
    caughtBy: [
      'a run has at most 32 ancestors',
      'ancestors in a cycle are listed once each',
      'a run that is its own ancestor is the last ancestor',
      'a run that is its own parent is its only ancestor, stored or not',
      'a run whose derived data says top is the last ancestor, and has none itself',
    ],
  },
  {
    it: 'lists the ancestors of the parent in the key as counted',
    plant: (store) => ({
      ...store,
      mergeRun: (key, decide) =>
        key.parentRunId === undefined
          ? store.mergeRun(key, decide)
          : seeing(store, async (snapshot, { tenant, sessionId, parentRunId = '' }) => {
              const run = await store.findRun({ tenant, sessionId, runId: parentRunId })
              return { ...snapshot, ancestors: [{ runId: parentRunId, ...(run && { run }) }] }
            }).mergeRun(key, decide),
    }),
    caughtBy: ['the ancestors of the stored parent and those of another parent in the key are listed apart'],
  },
  {
    it: 'compares ids without case',
    plant: (store) => mapIds(store, (id) => id.toLowerCase()),
    caughtBy: ['runs with similar ids are separate'],
  },
]
