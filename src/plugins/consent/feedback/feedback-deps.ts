import type { Dispatch } from '../../../model/dispatch.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { DispatchStore } from '../../../ports/dispatch-store.ts'
import type { EventCatalog } from '../../../ports/event-catalog.ts'
import type { FeedbackStore } from '../../../ports/feedback-store.ts'
import type { Logger } from '../../../ports/logger.ts'
import type { AddressKeys } from '../address-keys.ts'

/** Dependencies of the feedback endpoint. */
export interface FeedbackDeps {
  readonly store: FeedbackStore & Pick<DispatchStore, 'findByDelivery'>
  readonly events: EventCatalog
  readonly clock: Clock
  readonly logger: Logger
  /** Continues a dispatch after this delivery. */
  fallBack(dispatch: Dispatch, deliveryId: string): Promise<void>
  readonly addressKeys: AddressKeys
  /** Milliseconds that a soft bounce suppresses its address for events that are not critical; 0: not at all. */
  readonly softBounceMs: number
  /** Called for a request without a right proof. */
  onRefused(source: string): void
}
