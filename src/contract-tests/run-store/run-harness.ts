import type { RunReport } from '../../model/run.ts'
import type { Spend, Totals } from '../../model/totals.ts'
import type {
  MergeDecision,
  MergeKey,
  MergeSnapshot,
  RunAncestor,
  RunQuery,
  RunStore,
  StoredRun,
  StoredSession,
} from '../../ports/run-store.ts'
import { ok } from '../assertions.ts'
import type { CaseTable, ContractCase, StoreCapabilities, StoreTrial } from '../contract.ts'
import { readPages, reopened, storeCases } from '../store-cases.ts'
import { put, runIdsOf, runKeyOf } from './run-fixtures.ts'

export const DAY_MS = 86_400_000

/** Maximum difference between the store's clock, on another machine, and `now` of its trial. */
const LEEWAY_MS = 100

/** A clock that has not moved for so long stands still. */
const STILL_MS = 3

export type RunStoreCase = ContractCase<StoreTrial<RunStore>>

/** A run by its key, or by its id in the tenant `t` and the session `s`. */
type RunRef = string | MergeKey

/** A store under test, with the calls that most cases make. Default tenant: `t`. */
export interface RunHarness {
  readonly store: RunStore
  /** The second handle; `store` if there is none. */
  readonly other: RunStore
  now(): number
  advance(ms: number): Promise<void>
  /** The same harness over another handle. */
  through(store: RunStore): RunHarness
  /** Creates or replaces a run. */
  put(ref: RunRef, more?: Partial<RunReport>, decision?: Partial<MergeDecision<undefined>>): Promise<StoredRun>
  /** Creates runs a second apart, so that their order is known. */
  putEach(refs: readonly RunRef[], more?: Partial<RunReport>): Promise<void>
  /** Creates runs. The parent of each is the next one. */
  putChain(ids: readonly string[]): Promise<void>
  /** Merges a decision into a run, stored or not. */
  decide(ref: RunRef, decision: Omit<MergeDecision<undefined>, 'result'>): Promise<StoredRun | undefined>
  /** A copy of the snapshot of a merge that decides nothing. */
  see(ref: RunRef): Promise<MergeSnapshot>
  /** Totals of the descendants of a run, by a merge snapshot. */
  descendants(ref: RunRef): Promise<Totals | undefined>
  ancestors(ref: RunRef): Promise<readonly RunAncestor[]>
  ancestorIds(ref: RunRef): Promise<readonly string[]>
  run(ref: RunRef): Promise<StoredRun | undefined>
  session(sessionId?: string): Promise<StoredSession | undefined>
  spend(userId?: string): Promise<Spend>
  /** Reads a list page by page, and runs `between` between pages. */
  list(
    query?: Partial<RunQuery>,
    between?: (read: readonly StoredRun[]) => Promise<void>,
  ): Promise<readonly StoredRun[]>
  ids(query?: Partial<RunQuery>): Promise<readonly string[]>
  /** Whether the store's clock stands still unless it is moved. Only then can a case check a millisecond. */
  standsStill(): Promise<boolean>
  /** A harness over the same data, after all handles were closed. */
  reopen(): Promise<RunHarness>
}

export function runCases(
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<RunHarness>,
): readonly RunStoreCase[] {
  return storeCases(harnessOf, needs, table)
}

function harnessOf(trial: StoreTrial<RunStore>): RunHarness {
  const { store, other = store } = trial
  const keyOf = (ref: RunRef): MergeKey => (typeof ref === 'string' ? runKeyOf(ref) : ref)

  async function see(ref: RunRef): Promise<MergeSnapshot> {
    const { result } = await store.mergeRun(keyOf(ref), (snapshot) => ({ result: structuredClone(snapshot) }))
    return result
  }

  const list: RunHarness['list'] = async (query = {}, between) => {
    const limit = query.limit ?? 100
    const read = (cursor = query.cursor) => store.listRuns({ ...query, limit, cursor })
    return readPages(limit, read, between)
  }

  return {
    store,
    other,
    now: () => trial.now(),
    advance: async (ms) => trial.advance(ms),
    through: (handle) => harnessOf({ ...trial, store: handle }),
    put: (ref, more, decision) => put(store, keyOf(ref), more, decision),
    async putEach(refs, more) {
      for (const ref of refs) {
        await trial.advance(1_000)
        await put(store, keyOf(ref), more)
      }
    },
    async putChain(ids) {
      for (const [at, runId] of ids.entries()) {
        const parentRunId = ids[at + 1]
        await put(store, keyOf(runId), parentRunId === undefined ? {} : { parentRunId })
      }
    },
    decide: async (ref, decision) => (await store.mergeRun(keyOf(ref), () => ({ result: undefined, ...decision }))).run,
    see,
    descendants: async (ref) => (await see(ref)).descendants,
    ancestors: async (ref) => listed(await see(ref)),
    ancestorIds: async (ref) => listed(await see(ref)).map(({ runId }) => runId),
    run: (ref) => store.findRun(keyOf(ref)),
    session: (sessionId = 's') => store.findSession('t', sessionId),
    spend: (userId = 'u') => store.findSpend('t', userId, 0),
    list,
    ids: async (query) => runIdsOf(await list(query)),
    async standsStill() {
      const [start, began] = [trial.now(), performance.now()]
      while (performance.now() - began < STILL_MS) await store.findRun(runKeyOf('nobody'))
      return trial.now() === start
    },
    reopen: async () => harnessOf(await reopened(trial)),
  }
}

export interface Span {
  readonly from: number
  readonly to: number
}

/** Returns the result, and the span of the store's time in which it was produced: the clock may run. */
export async function timedRuns<T>({ now }: RunHarness, act: () => Promise<T>): Promise<{ value: T; when: Span }> {
  const from = now()
  const value = await act()
  return { value, when: { from, to: now() } }
}

export function happened(at: number | undefined, { from, to }: Span, what: string): void {
  const isWithin = at !== undefined && at >= from - LEEWAY_MS && at <= to + LEEWAY_MS
  ok(isWithin, `${what}: expected ${from} to ${to}, got ${at}`)
}

/** The ancestors that a merge would count: those of the parent in the key, if it is a new one. */
function listed({ ancestors, newAncestors }: MergeSnapshot): readonly RunAncestor[] {
  return newAncestors ?? ancestors
}
