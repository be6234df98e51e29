import type { RunError, RunFailure, RunState } from '../../../model/run.ts'
import type { MergeSnapshot } from '../../../ports/run-store.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import { statusOfRun } from '../merge/run-status.ts'
import { finalOf, latestOf } from '../merge/selectors.ts'

/** How many runs that failed a session remembers. */
const MAX_FAILURES = 10

/** What a session says of failures once a run is in this state, the last first; `undefined`: what it said before. */
export function failuresAfter(
  { run, session }: Pick<MergeSnapshot, 'run' | 'session'>,
  state: RunState,
  now: number,
): readonly RunFailure[] | undefined {
  const failures = session?.failures ?? []
  const { runId } = state
  const hasFailed = statusOfRun(state) === 'failed'
  const known = failures.find((failure) => failure.runId === runId)
  if (!hasFailed) return known && failures.filter((failure) => failure !== known)
  const reported = failureOf(state, known?.at ?? now)
  if (known) {
    if (known.userId === reported.userId && sameError(known.error, reported.error)) return undefined
    return failures.map((failure) => (failure === known ? reported : failure))
  }
  const hadFailed = run !== undefined && statusOfRun(run.state) === 'failed'
  return hadFailed ? undefined : [reported, ...failures].slice(0, MAX_FAILURES)
}

function failureOf(state: RunState, at: number): RunFailure {
  const userId = latestOf(state, 'userId')
  const error = finalOf(state, 'error')
  return { runId: state.runId, at, ...(userId !== undefined && { userId }), ...(error && { error }) }
}

function sameError(a: RunError | undefined, b: RunError | undefined): boolean {
  return a === b || canonicalJson(a ?? null) === canonicalJson(b ?? null)
}
