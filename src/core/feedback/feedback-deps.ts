import type { Clock } from '../../ports/clock.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { DispatchStore } from '../../ports/dispatch-store.ts'
import type { EventCatalog } from '../../ports/event-catalog.ts'
import type { FeedbackStore } from '../../ports/feedback-store.ts'
import type { AnswerDeps } from '../answers/fault.ts'
import type { HookDeps } from '../hooks.ts'
import type { AddressKeys } from '../suppression/address-keys.ts'

/** Dependencies of the feedback endpoint. */
export interface FeedbackDeps extends Omit<AnswerDeps, 'hooks'>, HookDeps {
  readonly store: FeedbackStore & Pick<DispatchStore, 'findByDelivery' | 'fallBack'>
  readonly events: EventCatalog
  readonly clock: Clock
  /** Wakes a worker when a dispatch continues. */
  readonly queue?: DeliveryQueue
  /** Receives calls of hooks, so that a host can wait for them. Default: not called. */
  readonly background?: ((work: Promise<void>) => void) | undefined
  readonly addressKeys: AddressKeys
  /** Milliseconds that a soft bounce suppresses its address for events that are not critical; 0: not at all. */
  readonly softBounceMs: number
  /** Called for a request without a right proof. */
  onRefused(source: string): void
}
