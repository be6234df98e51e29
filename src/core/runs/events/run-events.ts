import type { EndStatus, Run, RunSignal } from '../../../model/run.ts'
import type { BudgetState } from './budgets.ts'

/** The facts of a run event. */
export interface RunEventFacts {
  readonly tenant: string
  /** The run as it is stored now. */
  readonly run: Run
}

/** The facts of `budget.exceeded`. */
export interface BudgetEventFacts extends RunEventFacts {
  /** `level` is the reached limit of this event; if both limits are reached, each has its own event. */
  readonly budget: BudgetState
}

/** The recipient of a run event. */
export interface RunEventTarget {
  /** As in a dispatch request: a user id or an address. Never take it from run data alone: run data is self-reported. */
  readonly recipient: string
  /** Data that fit the event's schema. Default: `{ run }`; for `budget.exceeded` `{ budget, run }`. */
  readonly eventData?: object
  /** Default: the event's own channels. */
  readonly channel?: string
}

/**
 * Chooses the recipient of an event; `undefined`: no event. May be called more than once for one event; the first answer that is
 * dispatched counts. After an error, or no answer within ten seconds, it is called again later.
 */
export type RunEvent<Facts> = (facts: Facts) => RunEventTarget | undefined | Promise<RunEventTarget | undefined>

/**
 * Events of the catalogue that runs cause. Each is dispatched once for every end that a run reaches, in whatever order its posts
 * come, and once for every reached limit of a budget; with `days`, at most once a day (UTC). "Once" holds for 366 days, the life
 * of the idempotency key. A run that was removed and recorded again, or a session that was erased and used again, is a new one
 * with new events. An event that the catalogue refuses (unknown recipient, data that do not fit the schema) and an invalid target
 * are logged as `run_event.refused`, and not tried again.
 */
export type RunEvents = {
  readonly [Name in `run.${EndStatus}`]?: RunEvent<RunEventFacts>
} & {
  readonly 'budget.exceeded'?: RunEvent<BudgetEventFacts>
}

/** The event of each signal. */
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
