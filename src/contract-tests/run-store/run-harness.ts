import type { RunState } from '../../model/run.ts'
import type { Spend, Totals } from '../../model/totals.ts'
import type {
  MergeDecision,
  MergeSnapshot,
  RunAncestor,
  RunKey,
  RunQuery,
  RunStore,
  StoredRun,
  StoredSession,
} from '../../ports/run-store.ts'
import { ok } from '../assertions.ts'
import { type CaseTable, type ContractCase, casesOf, type StoreCapabilities, type StoreTrial } from '../contract.ts'
import { put, runIdsOf, runKeyOf } from './run-fixtures.ts'

export const DAY_MS = 86_400_000

/** Ends a loop over pages when a cursor leads back to an earlier page. No case has so many. */
const MAX_PAGES = 1_000

/** How far the clock of a store on another machine may differ from the `now` of its trial. */
const LEEWAY_MS = 100

/** A clock that has not moved for so long stands still. */
const STILL_MS = 3

/** A case of the contract of `RunStore`. */
export type RunStoreCase = ContractCase<StoreTrial<RunStore>>

/** A run by its key, or by its id in the tenant `t` and the session `s`. */
type RunRef = string | RunKey

/** A store under test, with the calls that most cases make. They use the tenant `t` where a call names none. */
export interface RunHarness {
  readonly store: RunStore
  /** The second handle, or `store` again where there is none. */
  readonly other: RunStore
  now(): number
  advance(ms: number): Promise<void>
  /** The same harness over another handle. */
  through(store: RunStore): RunHarness
  /** Creates or replaces a run. */
  put(ref: RunRef, more?: Partial<RunState>, decision?: Partial<MergeDecision<undefined>>): Promise<StoredRun>
  /** Creates runs a second apart, so that their order is known. */
  putEach(refs: readonly RunRef[], more?: Partial<RunState>): Promise<void>
  /** Creates runs, the next one of which is the parent of each. */
  putChain(ids: readonly string[]): Promise<void>
  /** Merges a decision into a run, stored or not. */
  decide(ref: RunRef, decision: Omit<MergeDecision<undefined>, 'result'>): Promise<StoredRun | undefined>
  /** A copy of the snapshot of a merge that decides nothing. */
  see(ref: RunRef): Promise<MergeSnapshot>
  /** The totals below a run, by the snapshot of a merge. */
  descendants(ref: RunRef): Promise<Totals | undefined>
  /** The ancestors of a run, by the snapshot of a merge. */
  ancestors(ref: RunRef): Promise<readonly RunAncestor[]>
  ancestorIds(ref: RunRef): Promise<readonly string[]>
  run(runId: string): Promise<StoredRun | undefined>
  session(sessionId?: string): Promise<StoredSession | undefined>
  /** The spend of a user over all days. */
  spend(userId?: string): Promise<Spend>
  /** Reads a list page by page, and runs `between` between two pages. */
  list(
    query?: Partial<RunQuery>,
    between?: (read: readonly StoredRun[]) => Promise<void>,
  ): Promise<readonly StoredRun[]>
  /** The ids of a list, in its order. */
  ids(query?: Partial<RunQuery>): Promise<readonly string[]>
  /** True if the store's clock stands still unless it is moved. Only then can a case check a millisecond. */
  standsStill(): Promise<boolean>
  /** A harness over the same data, after all handles were closed. */
  reopen(): Promise<RunHarness>
}

/** The cases of a table, all of which need these capabilities. Each case runs on its own harness. */
export function runCases(
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<RunHarness>,
): readonly RunStoreCase[] {
  return casesOf<RunHarness, StoreCapabilities>(needs, table).map(({ run, ...rest }) => ({
    ...rest,
    async run(trial) {
      const hasOther = !needs.includes('secondHandle') || trial.other !== undefined
      ok(hasOther, '`create` returned no `other`: return one, or set `secondHandle: false`')
      await run(harnessOf(trial))
    },
  }))
}

function harnessOf(trial: StoreTrial<RunStore>): RunHarness {
  const { store, other = store } = trial
  const keyOf = (ref: RunRef): RunKey => (typeof ref === 'string' ? runKeyOf(ref) : ref)

  async function see(ref: RunRef): Promise<MergeSnapshot> {
    const { result } = await store.mergeRun(keyOf(ref), (snapshot) => ({ result: structuredClone(snapshot) }))
    return result
  }

  const list: RunHarness['list'] = async (query = {}, between) => {
    const limit = query.limit ?? 100
    const all: StoredRun[] = []
    let cursor = query.cursor
    for (let page = 0; page < MAX_PAGES; page++) {
      const { items, nextCursor } = await store.listRuns({ ...query, limit, cursor })
      ok(items.length <= limit, `a page has at most ${limit} runs, got ${items.length}`)
      all.push(...items)
      if (nextCursor === undefined) return all
      cursor = nextCursor
      await between?.(items)
    }
    throw new Error(`a list still has a next page after ${MAX_PAGES} pages`)
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
    ancestors: async (ref) => (await see(ref)).ancestors,
    ancestorIds: async (ref) => (await see(ref)).ancestors.map(({ runId }) => runId),
    run: (runId) => store.findRun('t', runId),
    session: (sessionId = 's') => store.findSession('t', sessionId),
    spend: (userId = 'u') => store.findSpend('t', userId, 0),
    list,
    ids: async (query) => runIdsOf(await list(query)),
    async standsStill() {
      const [start, began] = [trial.now(), performance.now()]
      while (performance.now() - began < STILL_MS) await store.findRun('t', 'nobody')
      return trial.now() === start
    },
    async reopen() {
      const reopened = await trial.reopen?.()
      ok(reopened, '`create` returned no `reopen`: return one, or set `durable: false`')
      return harnessOf({ ...trial, store: reopened, other: reopened })
    },
  }
}

/** A span of the store's time. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Does something, and returns the span of the store's time in which it was done: the store's clock may run. */
export async function timedRuns<T>({ now }: RunHarness, act: () => Promise<T>): Promise<{ value: T; when: Span }> {
  const from = now()
  const value = await act()
  return { value, when: { from, to: now() } }
}

/** Fails unless the instant is in the span. */
export function happened(at: number | undefined, { from, to }: Span, what: string): void {
  const isWithin = at !== undefined && at >= from - LEEWAY_MS && at <= to + LEEWAY_MS
  ok(isWithin, `${what}: expected ${from} to ${to}, got ${at}`)
}
