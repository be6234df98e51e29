import { addDecimals, canonicalDecimal, negateDecimal } from '../../src/model/decimal.ts'
import { minusTotals, noTotals, type Totals } from '../../src/model/totals.ts'
import type { MergeDecision, MergeSnapshot, RunAncestor, RunKey, RunStore } from '../../src/ports/run-store.ts'
import { type Bug, deciding, seeing } from './run-bug.ts'

function replacing(sum: Totals | undefined, add: Totals): Totals {
  return sum ? (minusTotals(add, sum) ?? noTotals()) : add
}

/** What has to be added to come to the sum that binary floating point gives. */
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
  for (let next = all.at(-1)?.run; next?.state.parentRunId !== undefined && all.length < 64; ) {
    const runId: string = next.state.parentRunId
    next = await store.findRun(tenant, runId)
    const run = next?.state.sessionId === sessionId ? next : undefined
    all.push({ runId, ...(run && { run }) })
  }
  return all
}

function mapIds(store: RunStore, map: (id: string) => string): RunStore {
  return {
    ...store,
    mergeRun: (key, decide) => store.mergeRun({ ...key, runId: map(key.runId) }, decide),
    findRun: (tenant, runId) => store.findRun(tenant, map(runId)),
  }
}

const SESSION_AND_USER_ERASED: readonly string[] = [
  'a session is erased before a merge that it meets or after it, and neither is lost',
  'a session is erased before a merge that it meets or after it, and neither is lost, over two handles',
  'a user is erased before a merge that they meet or after it, and neither is lost',
  'a user is erased before a merge that they meet or after it, and neither is lost, over two handles',
]

/** What is decided of what there was, a moment before it is written. */
async function decidedBefore<T>(
  store: RunStore,
  key: RunKey,
  decide: (snapshot: MergeSnapshot) => MergeDecision<T>,
): Promise<MergeDecision<T>> {
  const { result } = await store.mergeRun(key, (snapshot) => ({ result: structuredClone(snapshot) }))
  const decision = decide(result)
  for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  return decision
}

/** Bugs of what merges see, and of what they write. */
export const MERGE_BUGS: readonly Bug[] = [
  {
    it: 'reads, decides and writes with nothing to hold off others in between',
    plant: (store) =>
      seeing(store, async (snapshot) => {
        await Promise.resolve()
        return structuredClone(snapshot)
      }),
    caughtBy: [
      'of 100 merges of one run at once, each sees what the ones before wrote',
      'of 100 merges of one run at once, each sees what the ones before wrote, over two handles',
      'of merges of 100 runs of one session at once, each sees what the ones before added',
      'one run id posted to two sessions at once becomes one run',
      'of a run and the first below it, merged at once, exactly one sees the other',
    ],
  },
  {
    it: 'writes what it decided, though another erased it meanwhile',
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
    it: 'drops a merge that meets an erasure',
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
    it: 'gives up an erasure that meets a merge',
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
    caughtBy: ['sessions are told apart, and each has the runs and sums of its own'],
  },
  {
    it: 'does not see a run that is in another session',
    plant: (store) =>
      seeing(store, (snapshot, { sessionId }) => ({
        ...snapshot,
        run: snapshot.run?.state.sessionId === sessionId ? snapshot.run : undefined,
      })),
    caughtBy: ['a merge sees the run also from another session: its id is unique within the tenant'],
  },
  {
    it: 'counts a sign of life as a revision',
    plant: (store) =>
      deciding(store, (decision, { run }) =>
        decision.touched && !decision.state ? { ...decision, state: run?.state } : decision,
      ),
    caughtBy: ['a sign of life alone is no revision, however many there are'],
  },
  {
    it: 'takes every merge for a sign of life',
    plant: (store) => deciding(store, (decision) => ({ ...decision, touched: true })),
    caughtBy: ['of a stored run, each decision changes what it says and leaves the rest as it is'],
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
      'a merge that decides nothing makes and changes nothing',
      'what a decision throws is thrown on, and nothing has changed',
      'where nothing is stored, a decision makes the run and the session if it has a state, and else nothing',
    ],
  },
  {
    it: 'puts what is decided in place of a tally',
    plant: (store) =>
      deciding(store, (decision, { session }) => {
        const { totalsChanges } = decision
        if (!totalsChanges) return decision
        return {
          ...decision,
          totalsChanges: { ...totalsChanges, session: replacing(session?.totals, totalsChanges.session) },
        }
      }),
    caughtBy: ['a tally is the sum of what was added, in every part of it and for every name'],
  },
  {
    it: 'adds money as binary floating point does',
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
    it: 'loses the names that every object has',
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
    caughtBy: ['a tally is the sum of what was added, in every part of it and for every name'],
  },
  {
    it: 'counts what is spent as spent today, whatever the instant',
    plant: (store) =>
      deciding(store, (decision) => {
        const { totalsChanges } = decision
        if (!totalsChanges) return decision
        return {
          ...decision,
          totalsChanges: { ...totalsChanges, users: totalsChanges.users.map(({ at: _, ...user }) => user) },
        }
      }),
    caughtBy: ['what is spent at an instant is spent on its day, from the first millisecond to the last'],
  },
  {
    it: 'adds failures to those that there were',
    plant: (store) =>
      deciding(store, (decision, { session }) =>
        decision.failures ? { ...decision, failures: [...decision.failures, ...(session?.failures ?? [])] } : decision,
      ),
    caughtBy: ['failures replace those of the session before, and are gone when there are none'],
  },
  {
    it: 'climbs without end, and around in rings',
    plant: (store) =>
      seeing(store, async (snapshot, key) => ({ ...snapshot, ancestors: await climb(store, key, snapshot.ancestors) })),
    caughtBy: [
      'up to 32 runs are above one, and no more are looked at',
      'runs that are above one another are each listed once',
      'a run that is met again above itself is the last',
      'a run that is its own parent is above itself once, stored or not',
      'a run whose account says top is the last above another, and has none above itself',
    ],
  },
  {
    it: 'prefers the parent that the key names',
    plant: (store) => ({
      ...store,
      mergeRun: (key, decide) =>
        key.parentRunId === undefined
          ? store.mergeRun(key, decide)
          : seeing(store, async (snapshot, { tenant, parentRunId = '' }) => {
              const run = await store.findRun(tenant, parentRunId)
              return { ...snapshot, ancestors: [{ runId: parentRunId, ...(run && { run }) }] }
            }).mergeRun(key, decide),
    }),
    caughtBy: ['the parent that the state names comes before the one that the key names'],
  },
  {
    it: 'compares ids without regard to upper and lower case',
    plant: (store) => mapIds(store, (id) => id.toLowerCase()),
    caughtBy: ['runs are told apart by their ids, whatever these are'],
  },
]
