/**
 * All that a log line can hold: ids, names that the host gave, codes and counts. No event data, content, recipient, token, or text
 * of a provider's or a driver's is among them, unless `errorDetails` is `full`. `message` is that of a function of the host's own, such as a template or a hook.
 */
export interface LogFields {
  readonly requestId?: string
  readonly dispatchId?: string
  readonly deliveryId?: string
  readonly runId?: string
  /** Names that the host gave: of an event of its catalogue, of a channel, of a template field, of a hook, of a queue. */
  readonly eventType?: string
  readonly channel?: string
  readonly field?: string
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
  /** Its message, as far as `errorDetails` allows. At most 1,000 characters. */
  readonly message?: string
  /** Its stack frames and those of its causes, without messages unless `errorDetails` is `full`. At most 4,000 characters. */
  readonly stack?: string
  /** Where a request does not fit, and how: `/eventData/x required`. No values. */
  readonly errors?: string
  readonly attempt?: number
  /** How many deliveries a worker that stopped put back unsent, and how many sends it aborted. */
  readonly givenBack?: number
  readonly aborted?: number
  readonly delayMs?: number
  /** How many events a digest left out. */
  readonly events?: number
  /** How many requests are in flight: complete, and being handled. */
  readonly inFlight?: number
  /** How many requests wait for their caller to be authenticated or counted. */
  readonly authenticating?: number
  /** How many bodies are arriving, and how many bytes of memory they take. */
  readonly unfinished?: number
  readonly unfinishedBytes?: number
}

/** Takes structured log lines. Must not throw. */
export interface Logger {
  /** @param event A stable dotted name, such as `delivery.failed`. */
  log(level: 'info' | 'warn' | 'error', event: string, fields: LogFields): void
}
