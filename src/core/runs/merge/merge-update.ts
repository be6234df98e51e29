import { isSallyportError } from '../../../errors.ts'
import type { RunUpdate } from '../../../model/run.ts'
import type { MergeDecision, Merged, MergeSnapshot, StoredRun } from '../../../ports/run-store.ts'
import { HostFault, portFault } from '../../answers/fault.ts'
import { type FaultDeps, reportFault } from '../../answers/report-fault.ts'
import { type Refused, refuse } from '../../answers/result.ts'
import type { RecordDeps } from '../record-deps.ts'
import { viewRun } from '../run-view.ts'
import { decideMerge, type Recording } from './decide-merge.ts'
import type { MergeRules } from './merge-rules.ts'

/** A post that was merged, and the run as it is stored now. */
export interface MergedUpdate extends Extract<Recording, { outcome: 'merged' }> {
  readonly run: StoredRun
}

/** How a merge decides: {@link decideMerge}, or that with a condition of its own in front. */
export type Decide = (snapshot: MergeSnapshot, update: RunUpdate, rules: MergeRules) => MergeDecision<Recording>

/** Merges an update into its run, in one atomic call, and lets those know who are to know of it. */
export async function mergeUpdate(
  tenant: string,
  update: RunUpdate,
  deps: Omit<RecordDeps, 'redactor'>,
  decide: Decide = decideMerge,
): Promise<MergedUpdate | Refused> {
  const { store, clock, sessions, prices, publisher } = deps
  const { sessionId, runId, parentRunId } = update
  const rules: MergeRules = { tenant, now: clock.now(), sessions, prices, tells: publisher?.tells }
  let merged: Merged<Recording>
  try {
    const key = { tenant, sessionId, runId, parentRunId }
    merged = await store.mergeRun(key, (snapshot) => priced(() => decide(snapshot, update, rules), runId))
  } catch (cause) {
    throw portFault('store_unavailable', cause, { runId })
  }
  const { result, run } = merged
  if (result.outcome === 'session_missing') return refuse('session_not_found', 'Open the session before its first run.')
  if (result.outcome === 'conflict') return identityConflict(result.fields)
  if (run === undefined) throw new TypeError('the store gave no run')
  if (result.firstEnd) exportRun(run, deps)
  if (publisher && run.derived.pending.length > 0) publisher.publish(run)
  const { state, created, changed, ignored, firstEnd } = result
  return { outcome: 'merged', state, created, changed, ignored, firstEnd, run }
}

/** Of all that a merge asks, the price book alone is the host's. */
function priced<Result>(decide: () => Result, runId: string): Result {
  try {
    return decide()
  } catch (cause) {
    throw isSallyportError(cause) ? new HostFault('internal_error', 'price_book', cause, { runId }) : cause
  }
}

function identityConflict(fields: readonly string[]): Refused {
  const errors = fields.map((field) => ({
    pointer: field === 'sessionId' ? '/sessionId' : `/run/${field}`,
    code: 'conflict' as const,
    detail: 'differs from what the run was recorded with',
  }))
  return refuse('run_identity_conflict', `A run keeps its ${fields.join(', ')}. Nothing was recorded.`, { errors })
}

/** What another system makes of a run is its own matter. */
function exportRun(run: StoredRun, deps: Pick<RecordDeps, 'exporters'> & FaultDeps): void {
  const { exporters = [] } = deps
  const { runId } = run.state
  const logFailed = (cause: unknown): void =>
    reportFault(cause, { operation: 'exporter', runId }, { level: 'error', event: 'run.export_failed' }, deps)
  for (const exporter of exporters) {
    try {
      const exporting = exporter.export({ tenant: run.tenant, ...viewRun(run) })
      if (exporting !== undefined) Promise.resolve(exporting).catch(logFailed)
    } catch (cause) {
      logFailed(cause)
    }
  }
}
