import type { EndStatus, RunAccount, RunCost, RunSignal, RunState } from '../../../model/run.ts'
import type { StoredRun } from '../../../ports/run-store.ts'
import type { Priced } from '../price-run.ts'
import type { Tells } from './merge-rules.ts'
import { hasEnded, statusOfRun } from './run-status.ts'

/** Makes an account of a run that a merge has changed: its ends, what is to be told of it, what it cost. */
export function accountOf(
  run: StoredRun | undefined,
  state: RunState,
  priced: Priced | undefined,
  tells: Tells | undefined,
): RunAccount {
  const { ended, untold: before, top } = run?.account ?? NOTHING
  const cost = priced?.cost
  const status = statusOfRun(state)
  const came = hasEnded(status) && !ended.includes(status) ? status : undefined
  const untold = tells ? untoldOf(before, run, state, cost, came, tells) : before
  if (cost === undefined && untold.length === 0 && ended.length === 0 && top === undefined)
    return came === undefined ? NOTHING : JUST_ENDED[came]
  return {
    ended: came === undefined ? ended : [...ended, came],
    untold,
    ...priced,
    ...(top !== undefined && { top }),
  }
}

const NOTHING: RunAccount = Object.freeze({ ended: [], untold: [] })

/** Most runs are told of in one post and cost nothing that is known here: they share their accounts. */
const JUST_ENDED: Readonly<Record<EndStatus, RunAccount>> = {
  completed: justEnded('completed'),
  incomplete: justEnded('incomplete'),
  failed: justEnded('failed'),
  cancelled: justEnded('cancelled'),
  expired: justEnded('expired'),
}

function justEnded(status: EndStatus): RunAccount {
  return Object.freeze({ ended: [status], untold: [] })
}

/** An end is added when the run first comes to it, and never again; `budget` whenever the run spends otherwise than before. */
function untoldOf(
  before: readonly RunSignal[],
  run: StoredRun | undefined,
  state: RunState,
  cost: RunCost | undefined,
  came: EndStatus | undefined,
  tells: Tells,
): readonly RunSignal[] {
  const tellsEnd = came !== undefined && tells(came)
  const tellsBudget = !before.includes('budget') && tells('budget') && spendsAnew(run, state, cost)
  if (!tellsEnd && !tellsBudget) return before
  const untold = [...before]
  if (tellsEnd) untold.push(came)
  if (tellsBudget) untold.push('budget')
  return untold
}

/** Whether a merge changed what the run spends, or for whom. */
function spendsAnew(run: StoredRun | undefined, state: RunState, cost: RunCost | undefined): boolean {
  const before = run?.account.cost
  if (before?.amount !== cost?.amount || before?.currency !== cost?.currency) return true
  if (run?.state.parentRunId !== state.parentRunId) return true
  if (run === undefined) return Object.keys(state.counts).length > 0 || SPENDING.some((path) => path in state.latest)
  return run.state.counts !== state.counts || SPENDING.some((path) => run.state.latest[path] !== state.latest[path])
}

/** What tells, beside the counts, how much a run spends, and for whom. */
const SPENDING = ['cost', 'usageByModel', 'countsScope', 'userId']
