import type { Dispatch } from '../../../model/dispatch.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { DispatchStore } from '../../../ports/dispatch-store.ts'
import type { EventCatalog } from '../../../ports/event-catalog.ts'
import type { Logger } from '../../../ports/logger.ts'
import type { AddressKeys } from '../address-keys.ts'
import type { FeedbackRecords } from '../feedback-records.ts'
import type { SuppressionRecords } from '../suppression-records.ts'

/** Dependencies of the feedback endpoint. */
export interface FeedbackDeps {
  readonly store: Pick<DispatchStore, 'findByDelivery'>
  readonly feedback: FeedbackRecords
  readonly suppressions: Pick<SuppressionRecords, 'remove'>
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
