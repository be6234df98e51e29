import type { Clock } from '../../ports/clock.ts'
import type { DispatchStore } from '../../ports/dispatch-store.ts'
import type { EventCatalog } from '../../ports/event-catalog.ts'
import type { FeedbackStore } from '../../ports/feedback-store.ts'
import type { AnswerDeps } from '../answers/fault.ts'
import type { AddressKeys } from '../suppression/address-keys.ts'

/** Dependencies of the feedback endpoint. */
export interface FeedbackDeps extends AnswerDeps {
  readonly store: FeedbackStore & Pick<DispatchStore, 'findByDelivery'>
  readonly events: Pick<EventCatalog, 'find'>
  readonly clock: Clock
  readonly addressKeys: AddressKeys
  /** Milliseconds that a soft bounce suppresses its address for events that are not critical; 0: not at all. */
  readonly softBounceMs: number
  /** Called for a request without a right proof. */
  onRefused(source: string): void
}
