import { isSallyportError } from '../../errors.ts'
import type { DerivedRunData, EndStatus, RunCost, RunSignal, RunState, RunUpdate } from '../../model/run.ts'
import type { MergeDecision, Merged, MergeSnapshot, StoredRun } from '../../ports/run-store.ts'
import { HostFault, portFault } from '../answers/fault.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'
import { type Refused, refuse } from '../answers/result.ts'
import { mergeRun, type RunMerge } from './merge/merge-run.ts'
import { type Priced, type PricingTerms, priceRun } from './merge/price-run.ts'
import { hasEnded, statusOfRun } from './merge/run-status.ts'
import { viewRun } from './merge/selectors.ts'
import type { RecordDeps } from './record-deps.ts'
import { rollUp } from './sessions/roll-up.ts'

/** The result of recording one post. */
export type Recording =
  | (Extract<RunMerge, { outcome: 'merged' }> & {
      /** Whether this post ended the run for the first time. */
      readonly firstEnd: boolean
    })
  | Extract<RunMerge, { outcome: 'conflict' }>
  | { readonly outcome: 'session_missing' }

/** Settings of the host that a merge depends on. */
export interface MergeRules extends PricingTerms {
  readonly sessions?: 'create' | 'must-exist' | undefined
  /** Whether this host publishes an event for a signal. Default: none. */
  readonly publishes?: ((signal: RunSignal) => boolean) | undefined
}

/** How a merge decides: {@link decideMerge}, or a condition in front of it. */
export type Decide = (snapshot: MergeSnapshot, update: RunUpdate, rules: MergeRules) => MergeDecision<Recording>

/** A merged post, and the run as it is stored now. */
export interface MergedUpdate extends Extract<Recording, { outcome: 'merged' }> {
  readonly run: StoredRun
}

/** Merges an update into its run in one atomic call, then exports a run that has ended and publishes its pending events. */
export async function mergeUpdate(
  tenant: string,
  update: RunUpdate,
  deps: Omit<RecordDeps, 'redactor'>,
  decide: Decide = decideMerge,
): Promise<MergedUpdate | Refused> {
  const { store, clock, sessions, prices, publisher } = deps
  const { sessionId, runId, parentRunId } = update
  const rules: MergeRules = { tenant, now: clock.now(), sessions, prices, publishes: publisher?.publishes }
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
    pointer: field === 'sessionId' ? '/sessionId' : `/run/${field}`,
    code: 'conflict' as const,
    detail: 'differs from what the run was recorded with',
  }))
  return refuse('run_identity_conflict', `A run keeps its ${fields.join(', ')}. Nothing was recorded.`, { errors })
}

/** Passes a run to all exporters. Their faults are logged and change no answer. */
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

/** Decides how a post changes its run, the run's derived data and the totals above it. Pure. */
export function decideMerge(snapshot: MergeSnapshot, update: RunUpdate, rules: MergeRules): MergeDecision<Recording> {
  const { run, session } = snapshot
  if (rules.sessions === 'must-exist' && session === undefined) return { result: { outcome: 'session_missing' } }
  const merge = mergeRun(run?.state, update)
  if (merge.outcome === 'conflict') return { result: merge }
  const { state, created, changed, ignored } = merge
  if (!changed)
    return { result: { outcome: 'merged', state, created, changed, ignored, firstEnd: false }, touched: true }
  const derived = deriveData(run, state, priceRun(run, state, rules), rules.publishes)
  const rolled = rollUp(snapshot, state, derived, rules.now)
  const firstEnd = derived.ended.length > 0 && (run === undefined || run.derived.ended.length === 0)
  return {
    result: { outcome: 'merged', state, created, changed, ignored, firstEnd },
    touched: true,
    state,
    derived: rolled.derived,
    totalsChanges: rolled.totalsChanges,
    failures: rolled.failures,
  }
}

/** Updates the derived data of a changed run: its ends, its pending events, its cost. */
function deriveData(
  run: StoredRun | undefined,
  state: RunState,
  cost: Priced | undefined,
  publishes: MergeRules['publishes'],
): DerivedRunData {
  const { ended, pending: before, top } = run?.derived ?? NO_DATA
  const status = statusOfRun(state)
  const newEnd = hasEnded(status) && !ended.includes(status) ? status : undefined
  const pending = publishes ? pendingAfter(before, run, state, cost?.cost, newEnd, publishes) : before
  if (cost === undefined && pending.length === 0 && ended.length === 0 && top === undefined)
    return newEnd === undefined ? NO_DATA : JUST_ENDED[newEnd]
  return {
    ended: newEnd === undefined ? ended : [...ended, newEnd],
    pending,
    ...cost,
    ...(top !== undefined && { top }),
  }
}

const NO_DATA: DerivedRunData = Object.freeze({ ended: [], pending: [] })

/** Shared objects: most runs come in one post and have no calculated cost. */
const JUST_ENDED: Readonly<Record<EndStatus, DerivedRunData>> = {
  completed: justEnded('completed'),
  incomplete: justEnded('incomplete'),
  failed: justEnded('failed'),
  cancelled: justEnded('cancelled'),
  expired: justEnded('expired'),
}

function justEnded(status: EndStatus): DerivedRunData {
  return Object.freeze({ ended: [status], pending: [] })
}

/** Adds an end when the run first reaches it, and `budget` whenever the run's spend changes. */
function pendingAfter(
  before: readonly RunSignal[],
  run: StoredRun | undefined,
  state: RunState,
  cost: RunCost | undefined,
  newEnd: EndStatus | undefined,
  publishes: (signal: RunSignal) => boolean,
): readonly RunSignal[] {
  const publishesEnd = newEnd !== undefined && publishes(newEnd)
  const publishesBudget = !before.includes('budget') && publishes('budget') && changesSpend(run, state, cost)
  if (!publishesEnd && !publishesBudget) return before
  const pending = [...before]
  if (publishesEnd) pending.push(newEnd)
  if (publishesBudget) pending.push('budget')
  return pending
}

/** Whether a merge changed the run's spend, or whose spend it is. */
function changesSpend(run: StoredRun | undefined, state: RunState, cost: RunCost | undefined): boolean {
  const before = run?.derived.cost
  if (before?.amount !== cost?.amount || before?.currency !== cost?.currency) return true
  if (run?.state.parentRunId !== state.parentRunId) return true
  if (run === undefined) return Object.keys(state.counts).length > 0 || SPENDING.some((path) => path in state.latest)
  return run.state.counts !== state.counts || SPENDING.some((path) => run.state.latest[path] !== state.latest[path])
}

/** Registers that, beside the counts, decide the spend and whose it is. */
const SPENDING = ['cost', 'usageByModel', 'countsScope', 'userId']
