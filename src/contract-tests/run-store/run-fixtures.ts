import type { DerivedRunData, RunState } from '../../model/run.ts'
import type { MergeDecision, RunKey, RunStore, StoredRun } from '../../ports/run-store.ts'
import { ok } from '../assertions.ts'
import type { ContractCase, StoreTrial } from '../contract.ts'

/** What a case of the contract of run stores is tried on. */
export type RunTrial = StoreTrial<RunStore>

/** One sentence of the contract of run stores. */
export type RunStoreCase = ContractCase<RunTrial>

/** An account of which nothing is to be told. */
export const QUIET: DerivedRunData = Object.freeze({ ended: [], pending: [] })

/** An account of which something is to be told. */
export const PENDING: DerivedRunData = Object.freeze({ ended: ['failed'] as const, pending: ['failed'] as const })

/** Names that a careless store takes for members of every object, or for one another. */
export const HOSTILE_NAMES: readonly string[] = Object.freeze([
  ...['a', 'A', 'a ', 'ä', 'a\u0308', 'ss', 'ß', 'İ', '😀', '😁'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '$set', 'a.b', 'a%', "a'--", 'a"', 'a\\', 'null', '0'],
  ...['\u202e', 'x'.repeat(64)],
])

/** As {@link HOSTILE_NAMES}, and no other than a post may give a run and its session. */
export const HOSTILE_IDS: readonly string[] = Object.freeze([
  ...['a', 'A', '__proto__', 'constructor', 'toString', 'a.b', 'a_b', 'a-b', '0', '00', '1e3', 'null'],
  ...['x'.repeat(200), `${'x'.repeat(199)}X`],
])

export function runKeyOf(runId: string, more: Partial<RunKey> = {}): RunKey {
  return { tenant: 't', sessionId: 's', runId, ...more }
}

/** The least that a run can be. */
export function stateOf({ runId, sessionId }: RunKey, more: Partial<RunState> = {}): RunState {
  const nothing = { seq: -1, earliest: {}, counts: {}, final: {}, latest: {}, metadata: {}, tags: [] }
  return { runId, sessionId, ...nothing, ...more }
}

/** The second handle, which there must be. */
export function otherOf({ other }: RunTrial): RunStore {
  ok(other, 'the trial has a second handle, or the store declares that there is none')
  return other
}

/** Makes a run, or replaces it: with what is said, and else the least that it can be. */
export async function put(
  store: RunStore,
  key: RunKey,
  more: Partial<RunState> = {},
  decision: Partial<MergeDecision<undefined>> = {},
): Promise<StoredRun> {
  const decided = { result: undefined, state: stateOf(key, more), derived: QUIET, touched: true, ...decision }
  const { run } = await store.mergeRun(key, () => decided)
  ok(run, 'a merge that decides of a state gives the run')
  return run
}

/** Makes runs one after the other, a second apart, so that it is known which came first. */
export async function putEach(
  { store, advance }: Pick<RunTrial, 'store' | 'advance'>,
  keys: readonly RunKey[],
  more: Partial<RunState> = {},
): Promise<readonly StoredRun[]> {
  const runs: StoredRun[] = []
  for (const key of keys) {
    await advance(1_000)
    runs.push(await put(store, key, more))
  }
  return runs
}

/** Decides of all but the run, for a run that is stored or not. */
export async function decide(
  store: RunStore,
  key: RunKey,
  decision: Omit<MergeDecision<undefined>, 'result'>,
): Promise<StoredRun | undefined> {
  const { run } = await store.mergeRun(key, () => ({ result: undefined, ...decision }))
  return run
}

/** The names of so many runs: `r0` and on. */
export function runIds(count: number, prefix = 'r'): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${prefix}${at}`)
}
