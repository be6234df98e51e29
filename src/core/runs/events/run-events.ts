import type { EndStatus, Run, RunSignal } from '../../../model/run.ts'
import type { BudgetState } from './budgets.ts'

/** What a run event is made of. */
export interface RunEventFacts {
  readonly tenant: string
  /** As it is recorded now. */
  readonly run: Run
}

/** What `budget.exceeded` is made of. */
export interface BudgetEventFacts extends RunEventFacts {
  /** Its `level` is the limit that this event tells of: where both are reached there is an event for each. */
  readonly budget: BudgetState
}

/** Whom an event tells. */
export interface RunEventTarget {
  /** As in a dispatch request: a user id, or an address; never one that only the run tells, since anybody's may stand there. */
  readonly recipient: string
  /** What the event's schema asks for. Default: `{ run }`; for `budget.exceeded` `{ budget, run }`. */
  readonly eventData?: object
  /** Default: the event's own channels. */
  readonly channel?: string
}

/**
 * Says whom an event tells; `undefined`: nobody. It may be asked more than once for one event, of which the first answer that
 * could be dispatched counts. What it throws, or does not say within ten seconds, is tried again later.
 */
export type RunEvent<Facts> = (facts: Facts) => RunEventTarget | undefined | Promise<RunEventTarget | undefined>

/**
 * Events of the catalogue that runs give rise to. Each is dispatched once for every end that a run comes to, whatever order its
 * posts had, and once for every limit of a budget that is reached: with `days`, at most once a day (in UTC). "Once" holds for
 * 366 days, for which its key is kept. A run that was removed and is recorded anew, and a session that was erased and is used
 * again, are others, and told of again. An event that the catalogue refuses (an unknown recipient, data that do not fit its
 * schema) is logged as `run_event.refused`, and not tried again; so is an answer that is no target.
 */
export type RunEvents = {
  readonly [Name in `run.${EndStatus}`]?: RunEvent<RunEventFacts>
} & {
  readonly 'budget.exceeded'?: RunEvent<BudgetEventFacts>
}

/** The event that tells of each signal. */
const EVENT_OF: Readonly<Record<RunSignal, keyof RunEvents>> = {
  completed: 'run.completed',
  incomplete: 'run.incomplete',
  failed: 'run.failed',
  cancelled: 'run.cancelled',
  expired: 'run.expired',
  budget: 'budget.exceeded',
}

export function eventOf(signal: RunSignal): keyof RunEvents {
  return EVENT_OF[signal]
}
