import type { Content, Delivery, DispatchAnswer, DispatchStatus } from './dispatch.ts'

/** One channel of a dispatch that was only planned. */
export interface PreviewedDelivery extends Pick<Delivery, 'channel' | 'status' | 'reason' | 'trace'> {
  /** Why it would be `failed`. */
  readonly detail?: string
  /** Enough to recognise it, not enough to use it. */
  readonly address?: string
  /** Of an event that is digested: as it would be if no other joined it. */
  readonly content?: Content
  /** Absent when it would be due at once. */
  readonly nextAttemptAt?: string
}

/**
 * The answer to `?dryRun=true`: what would become of the event. Nothing was stored, nothing will be sent. Throttles are not
 * looked at: they count when an event is stored.
 */
export interface DispatchPreview extends Pick<DispatchAnswer, 'eventType' | 'sessionId' | 'sandboxed' | 'warnings'> {
  readonly dryRun: true
  readonly status: DispatchStatus
  readonly deliveries: readonly PreviewedDelivery[]
}
