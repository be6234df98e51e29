import type { DerivedRunData, EndStatus, RunCost, RunSignal, RunState } from '../../../model/run.ts'
import type { StoredRun } from '../../../ports/run-store.ts'
import type { Priced } from '../price-run.ts'
import type { Publishes } from './merge-rules.ts'
import { hasEnded, statusOfRun } from './run-status.ts'

/** Makes an account of a run that a merge has changed: its ends, what is to be told of it, what it cost. */
export function derivedOf(
  run: StoredRun | undefined,
  state: RunState,
  priced: Priced | undefined,
  tells: Publishes | undefined,
): DerivedRunData {
  const { ended, pending: before, top } = run?.derived ?? NOTHING
  const cost = priced?.cost
  const status = statusOfRun(state)
  const came = hasEnded(status) && !ended.includes(status) ? status : undefined
  const pending = tells ? pendingOf(before, run, state, cost, came, tells) : before
  if (cost === undefined && pending.length === 0 && ended.length === 0 && top === undefined)
    return came === undefined ? NOTHING : JUST_ENDED[came]
  return {
    ended: came === undefined ? ended : [...ended, came],
    pending,
    ...priced,
    ...(top !== undefined && { top }),
  }
}

const NOTHING: DerivedRunData = Object.freeze({ ended: [], pending: [] })

/** Most runs are told of in one post and cost nothing that is known here: they share their accounts. */
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

/** An end is added when the run first comes to it, and never again; `budget` whenever the run spends otherwise than before. */
function pendingOf(
  before: readonly RunSignal[],
  run: StoredRun | undefined,
  state: RunState,
  cost: RunCost | undefined,
  came: EndStatus | undefined,
  tells: Publishes,
): readonly RunSignal[] {
  const publishesEnd = came !== undefined && tells(came)
  const publishesBudget = !before.includes('budget') && tells('budget') && spendsAnew(run, state, cost)
  if (!publishesEnd && !publishesBudget) return before
  const pending = [...before]
  if (publishesEnd) pending.push(came)
  if (publishesBudget) pending.push('budget')
  return pending
}

/** Whether a merge changed what the run spends, or for whom. */
function spendsAnew(run: StoredRun | undefined, state: RunState, cost: RunCost | undefined): boolean {
  const before = run?.derived.cost
  if (before?.amount !== cost?.amount || before?.currency !== cost?.currency) return true
  if (run?.state.parentRunId !== state.parentRunId) return true
  if (run === undefined) return Object.keys(state.counts).length > 0 || SPENDING.some((path) => path in state.latest)
  return run.state.counts !== state.counts || SPENDING.some((path) => run.state.latest[path] !== state.latest[path])
}

/** What tells, beside the counts, how much a run spends, and for whom. */
const SPENDING = ['cost', 'usageByModel', 'countsScope', 'userId']
