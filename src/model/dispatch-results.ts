import type { Issue, ProblemCode } from '../errors.ts'
import type { DeliveryReason, DeliveryStatus, DispatchView } from './dispatch.ts'

/** A delivery whose status changed. */
export interface DeliveryChange {
  readonly deliveryId: string
  readonly channel: string
  readonly status: DeliveryStatus
  readonly reason?: DeliveryReason
  readonly attempts: number
}

/** Result of `dispatches.cancel`. */
export interface CancelResult {
  /** Exactly these deliveries will not be sent. Empty: none could be stopped. */
  readonly cancelled: readonly DeliveryChange[]
  readonly dispatch: DispatchView
}

/** A delivery that failed in host code and still cannot be planned. It is unchanged, and a later retry may succeed. */
export interface UnplannedDelivery {
  readonly deliveryId: string
  readonly channel: string
  /**
   * `template_error`, `condition_error` or `channel_error`; or the code with which its event would be refused now, such as
   * `event_unknown`. `channel_not_allowed`: the event no longer has this channel.
   */
  readonly code: ProblemCode | DeliveryReason
  readonly detail: string
  /** With pointers such as `/eventData/total`. */
  readonly errors?: readonly Issue[]
}

/** Result of `dispatches.retry`. */
export interface RetryResult {
  /** The retried deliveries: `queued`, or `held` with the route `first`. Empty in sandbox mode. */
  readonly retried: readonly DeliveryChange[]
  /** Deliveries that failed in host code and still cannot be planned, with the reason. Unchanged; a later retry may succeed. */
  readonly unplanned: readonly UnplannedDelivery[]
  readonly dispatch: DispatchView
}
