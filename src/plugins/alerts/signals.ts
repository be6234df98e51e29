import type { RunChange, Signal, SignalPublisher } from '../../core/runs/signal-outbox.ts'
import type { ReportedEnd, RunCost, RunState } from '../../model/run.ts'
import { sourceOfEnd } from '../../model/run-status.ts'
import { shownReport } from '../../model/shown-run.ts'
import type { StoredRun } from '../../ports/run-store.ts'
import { type AlertSignal, eventOf, type RunEvents } from './run-events.ts'

const ENDS: readonly ReportedEnd[] = (['completed', 'incomplete', 'failed', 'cancelled', 'expired'] as const).flatMap(
  (end) => [end, `agent:${end}`] as const,
)

/** The signals whose events the host defines. */
export function signalNames(events: RunEvents): SignalPublisher['names'] {
  const all: readonly AlertSignal[] = [...ENDS, 'budget']
  const own = all.filter((signal) => events[eventOf(signal)] !== undefined)
  return Object.fromEntries(own.map((signal) => [signal, signal === 'budget' ? 'repeated' : 'once']))
}

/** Raises an end when the run first reaches it, and `budget` whenever the run's spend changes. */
export function raiseSignals(
  { run, state, cost, newEnd, limits }: RunChange,
  names: SignalPublisher['names'],
): readonly Signal[] {
  const raised: Signal[] = []
  if (newEnd !== undefined && Object.hasOwn(names, newEnd))
    raised.push({ name: newEnd, ...(sourceOfEnd(newEnd) === 'agent' && { limits }) })
  if (names.budget && changesSpend(run, state, cost)) raised.push({ name: 'budget' })
  return raised
}

/** True if a merge changed the run's spend, its user or its parent. */
function changesSpend(run: StoredRun | undefined, state: RunState, cost: RunCost | undefined): boolean {
  const before = run?.derived.cost
  if (before?.amount !== cost?.amount || before?.currency !== cost?.currency) return true
  const [shownBefore, shown] = [run && shownReport(run.state), shownReport(state)]
  if (shownBefore?.parentRunId !== shown.parentRunId) return true
  if (shownBefore === undefined)
    return Object.keys(shown.counts).length > 0 || SPENDING.some((path) => path in shown.latest)
  if (run?.state.application?.parentRunId !== state.application?.parentRunId) return true
  if (shownBefore.counts !== shown.counts || shownBefore.clearCounts !== shown.clearCounts) return true
  return SPENDING.some((path) => shownBefore.latest[path] !== shown.latest[path])
}

/** Registers that, with the counts, determine the spend and its user. */
const SPENDING = ['cost', 'usageByModel', 'usageDoubt', 'countsScope', 'userId']
