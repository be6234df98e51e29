/**
 * All that a log line can hold: ids, names that the host gave, codes and counts. No event data, content, recipient, token, or text
 * of a provider's or a driver's is ever among them.
 */
export interface LogFields {
  readonly requestId?: string
  readonly dispatchId?: string
  readonly deliveryId?: string
  readonly runId?: string
  /** Names that the host gave: of an event of its catalogue, of a channel, of a hook, of a queue. */
  readonly eventType?: string
  readonly event?: string
  readonly channel?: string
  readonly hook?: string
  readonly queue?: string
  /** The code of a problem, or of an attempt's outcome. */
  readonly code?: string
  /** Why a delivery is what it is. */
  readonly reason?: string
  /** What to do about it, in words of Sallyport's; of a template or a condition, where in it and why. */
  readonly detail?: string
  /** What was thrown: its name, or its message where it is Sallyport's own. */
  readonly cause?: string
  /** Its `code`, such as `ECONNREFUSED`. */
  readonly causeCode?: string
  /** Where a request does not fit, and how: `/eventData/x required`. No values. */
  readonly errors?: string
  readonly attempt?: number
  readonly delayMs?: number
  /** How many events a digest left out. */
  readonly events?: number
  /** How many requests are in hand. */
  readonly inHand?: number
}

/** Takes structured log lines. Must not throw. */
export interface Logger {
  /** @param event A stable dotted name, such as `delivery.failed`. */
  log(level: 'info' | 'warn' | 'error', event: string, fields: LogFields): void
}
