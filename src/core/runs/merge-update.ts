import { isSallyportError, SallyportError } from '../../errors.ts'
import type { AddedAmounts } from '../../model/measurement.ts'
import type { DerivedRunData, ReportedEnd, RunEventLimit, RunSource, RunState, RunUpdate } from '../../model/run.ts'
import { hasEnded, sourceOfEnd, statusOfRun, statusSource } from '../../model/run-status.ts'
import { withTimeout } from '../../model/time-out.ts'
import { EMPTY, isEmpty, type Spend, type Totals } from '../../model/totals.ts'
import type { MergeDecision, Merged, MergeSnapshot, StoredRun } from '../../ports/run-store.ts'
import { HostFault, portFault } from '../answers/fault.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'
import { type Refused, refuse } from '../answers/result.ts'
import type { MeasureDeps } from '../measure.ts'
import { mergeRun, type RunMerge } from './merge/merge-run.ts'
import { type Priced, type PricingTerms, priceRun } from './merge/price-run.ts'
import { viewRun } from './merge/selectors.ts'
import type { RecordDeps } from './record-deps.ts'
import { rollUp } from './sessions/roll-up.ts'
import type { RunChange, Signal } from './signal-outbox.ts'

export type Recording =
  | (Extract<RunMerge, { outcome: 'merged' }> & {
      /** True if this post ended the run for the first time, or is an application's first end. */
      readonly firstEnd: boolean
      /** Totals that the merge added to the session. Absent: none. */
      readonly added?: Totals | undefined
    })
  | Extract<RunMerge, { outcome: 'conflict' }>
  | { readonly outcome: 'session_missing' }

export interface MergeRules extends PricingTerms {
  /** The source of the post. Default: `application`. */
  readonly source?: RunSource | undefined
  /** Limits of the token that posts; counted for the event of an agent's end. */
  readonly eventLimits?: readonly RunEventLimit[] | undefined
  readonly sessions?: 'create' | 'must-exist' | undefined
  /** Raises signals, which are stored with the run until they are published. Pure. Default: none. */
  readonly signals?: ((change: RunChange) => readonly Signal[]) | undefined
}

/** Decision function of a merge: {@link decideMerge}, or a condition before it. */
export type Decide = (snapshot: MergeSnapshot, update: RunUpdate, rules: MergeRules) => MergeDecision<Recording>

export interface MergedUpdate extends Omit<Extract<Recording, { outcome: 'merged' }>, 'added'> {
  readonly run: StoredRun
}

export interface MergeOptions extends Pick<MergeRules, 'source' | 'eventLimits'> {
  readonly decide?: Decide
}

/** Merges an update into its run in one atomic call, then exports a run that has ended and publishes its pending signals. */
export async function mergeUpdate(
  tenant: string,
  update: RunUpdate,
  deps: Omit<RecordDeps, 'redactor'>,
  { source, eventLimits, decide = decideMerge }: MergeOptions = {},
): Promise<MergedUpdate | Refused> {
  const { store, clock, sessions, prices, outbox } = deps
  const { sessionId, runId, parentRunId } = update
  const signals = outbox?.signals
  const rules: MergeRules = { tenant, now: clock.now(), source, eventLimits, sessions, prices, signals }
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
  if (deps.measure) measureRun(tenant, result, run, deps)
  if (result.firstEnd) exportRun(run, deps)
  if (outbox && run.derived.pending.length > 0) outbox.publish(run)
  const { state, created, changed, ignored, firstEnd } = result
  return { outcome: 'merged', state, created, changed, ignored, firstEnd, run }
}

function measureRun(
  tenant: string,
  { created, firstEnd, added, state }: Extract<Recording, { outcome: 'merged' }>,
  { derived }: StoredRun,
  { measure }: MeasureDeps,
): void {
  // An agent is told that it creates a run that the application has recorded.
  const isNew = created && (state.application === undefined || state.agent === undefined)
  const ended = firstEnd && derived.ended.length === 1 ? statusOfRun(state) : undefined
  const [byApplication, byAgent] = [amountsOf(added?.spend), amountsOf(added?.agent?.spend)]
  if (!isNew && ended === undefined && areNone(byApplication) && areNone(byAgent)) return
  measure?.({ of: 'run', tenant, isNew, ended, byApplication, byAgent })
}

const NO_AMOUNTS: AddedAmounts = Object.freeze({ tokens: 0, cost: EMPTY })

function amountsOf(spend: Spend | undefined): AddedAmounts {
  return spend ? { tokens: spend.tokens, cost: spend.cost } : NO_AMOUNTS
}

function areNone({ tokens, cost }: AddedAmounts): boolean {
  return tokens === 0 && isEmpty(cost)
}

/** Marks an error of the price book as the host's: it is the only host code that runs inside a decision. */
function priced<Result>(decide: () => Result, runId: string): Result {
  try {
    return decide()
  } catch (cause) {
    throw isSallyportError(cause) ? new HostFault('internal_error', 'price_book', cause, { runId }) : cause
  }
}

function identityConflict(fields: readonly string[]): Refused {
  const errors = fields.map((field) => ({
    pointer: `/run/${field}`,
    code: 'conflict' as const,
    detail: 'differs from what the run was recorded with',
  }))
  return refuse('run_identity_conflict', `A run keeps its ${fields.join(', ')}. Nothing was recorded.`, { errors })
}

const EXPORT_MS = 10_000

function lateExport(): never {
  throw new SallyportError('no_answer', `export() of an exporter did not end within ${EXPORT_MS / 1_000} s`)
}

function exportRun(run: StoredRun, deps: Pick<RecordDeps, 'exporters'> & FaultDeps): void {
  const { exporters = [] } = deps
  const logFailed = (cause: unknown): void =>
    reportFault(
      cause,
      { operation: 'exporter', runId: run.state.runId },
      { level: 'error', event: 'run.export_failed' },
      deps,
    )
  for (const exporter of exporters) {
    try {
      const exporting: unknown = exporter.export({ tenant: run.tenant, ...viewRun(run) })
      if (typeof exporting !== 'object' || exporting === null || !('then' in exporting)) continue
      withTimeout(Promise.resolve(exporting), { ms: EXPORT_MS, clock: deps.clock, fallback: lateExport }).catch(
        logFailed,
      )
    } catch (cause) {
      logFailed(cause)
    }
  }
}

/** Decides how a post changes its run, the run's derived data and the totals of session and ancestors. Pure. */
export function decideMerge(snapshot: MergeSnapshot, update: RunUpdate, rules: MergeRules): MergeDecision<Recording> {
  const { run, session } = snapshot
  if (rules.sessions === 'must-exist' && session === undefined) return { result: { outcome: 'session_missing' } }
  const merge = mergeRun(run?.state, update, rules.source)
  if (merge.outcome === 'conflict') return { result: merge }
  const { state, created, changed, ignored } = merge
  if (!changed)
    return { result: { outcome: 'merged', state, created, changed, ignored, firstEnd: false }, touched: true }
  const derived = deriveData(run, state, priceRun(run, state, rules), rules)
  const rolled = rollUp(snapshot, state, derived, rules.now)
  const firstEnd = isFirstEnd(run?.derived.ended ?? NO_DATA.ended, derived.ended)
  return {
    result: { outcome: 'merged', state, created, changed, ignored, firstEnd, added: rolled.totalsChanges?.session },
    touched: true,
    state,
    derived: rolled.derived,
    totalsChanges: rolled.totalsChanges,
    failures: rolled.failures,
  }
}

function deriveData(
  run: StoredRun | undefined,
  state: RunState,
  cost: Priced | undefined,
  { signals, eventLimits }: Pick<MergeRules, 'signals' | 'eventLimits'>,
): DerivedRunData {
  const { ended, pending: before, eventLimits: limitsBefore } = run?.derived ?? NO_DATA
  const end = endOf(state)
  const newEnd = end === undefined || ended.includes(end) ? undefined : end
  const raised = signals?.({ run, state, cost: cost?.cost, newEnd, limits: eventLimits }) ?? NOTHING
  // One change may raise a signal twice.
  const added = raised.filter(
    ({ name }, at) => !before.includes(name) && raised.findIndex((one) => one.name === name) === at,
  )
  const pending = added.length > 0 ? [...before, ...added.map(({ name }) => name)] : before
  const limits = added.reduce(withLimits, limitsBefore)
  const derived = { ended: newEnd === undefined ? ended : [...ended, newEnd], pending }
  if (limits === undefined) return cost === undefined ? derived : { ...derived, ...cost }
  return { ...derived, eventLimits: limits, ...cost }
}

const NOTHING: readonly Signal[] = Object.freeze([])

function withLimits(all: DerivedRunData['eventLimits'], { name, limits }: Signal): DerivedRunData['eventLimits'] {
  return limits ? { ...all, [name]: limits } : all
}

const NO_DATA: DerivedRunData = Object.freeze({ ended: [], pending: [] })

/** The end that the run shows, and who reported it. */
function endOf(state: RunState): ReportedEnd | undefined {
  const status = statusOfRun(state)
  if (!hasEnded(status)) return undefined
  return statusSource(state) === 'agent' ? `agent:${status}` : status
}

/** True for the first end of a run, and for the first that an application reports. */
function isFirstEnd(before: readonly ReportedEnd[], after: readonly ReportedEnd[]): boolean {
  if (after.length === before.length) return false
  return before.length === 0 || (after.some(isOfApplication) && !before.some(isOfApplication))
}

function isOfApplication(end: ReportedEnd): boolean {
  return sourceOfEnd(end) === 'application'
}
