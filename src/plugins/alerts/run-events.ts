import type { BudgetState } from '../../model/budget.ts'
import type { EndStatus, ReportedEnd, Run } from '../../model/run.ts'
import { statusOfEnd } from '../../model/run-status.ts'

/** Facts of a run event. */
export interface RunEventFacts {
  readonly tenant: string
  /** The run as stored now. */
  readonly run: Run
}

/** Facts of `budget.exceeded`. */
export interface BudgetEventFacts extends RunEventFacts {
  /** `level` is the reached limit of this event; if both limits are reached, each has its own event. */
  readonly budget: BudgetState
}

/** Recipient of a run event. */
export interface RunEventTarget {
  /** As in a dispatch request: a user id or an address. Run data is self-reported: never take the recipient from it alone. */
  readonly recipient: string
  /** Data that fit the event's schema. Default: `{ run }`; for `budget.exceeded` `{ budget, run }`. */
  readonly eventData?: object
  /** Default: the event's own channels. */
  readonly channel?: string
}

/** Chooses the recipient; `undefined`: no event. Called again after an error or ten seconds; the first dispatched result counts. */
export type RunEvent<Facts> = (facts: Facts) => RunEventTarget | undefined | Promise<RunEventTarget | undefined>

/**
 * Catalogue events that runs cause. Each is dispatched once for every end that a run reaches, in any order of its posts, and once
 * for every reached limit of a budget; with `days`, at most once a day (UTC). "Once" holds for 366 days, the life of the
 * idempotency key. A run that was removed and recorded again, or a session that was erased and used again, is new and has new
 * events. An agent's end is counted for its token (`runEvents`, default 20). An event beyond that limit, one that the catalogue refuses,
 * and an invalid target are logged as `run_event.refused`, and not tried again.
 */
export type RunEvents = {
  readonly [Name in `run.${EndStatus}`]?: RunEvent<RunEventFacts>
} & {
  readonly 'budget.exceeded'?: RunEvent<BudgetEventFacts>
}

/** Signal of a run event: the run ended, or it may have exceeded a budget. */
export type AlertSignal = ReportedEnd | 'budget'

/** The catalogue event of a signal: an end has the same event whoever reported it. */
export function eventOf(end: ReportedEnd): `run.${EndStatus}`
export function eventOf(signal: AlertSignal): keyof RunEvents
export function eventOf(signal: AlertSignal): keyof RunEvents {
  return signal === 'budget' ? 'budget.exceeded' : `run.${statusOfEnd(signal)}`
}
