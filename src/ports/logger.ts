/**
 * All fields of log lines: ids, names given by the host, codes and counts. Never event data, content, recipients, tokens, or texts of
 * providers and drivers, unless `errorDetails` is `full`. `message` comes from a function of the host, such as a template or a hook.
 */
export interface LogFields {
  readonly requestId?: string
  readonly dispatchId?: string
  readonly deliveryId?: string
  readonly runId?: string
  /** Names given by the host: of an event, a channel, a template field, a hook, a queue. */
  readonly eventType?: string
  readonly channel?: string
  readonly field?: string
  readonly hook?: string
  readonly queue?: string
  /** The code of a problem, or of an attempt's outcome. */
  readonly code?: string
  /** The reason of a delivery's status. */
  readonly reason?: string
  /** What to do, in Sallyport's words; for a template or a condition, the place and the fault. */
  readonly detail?: string
  /** Name of the thrown error; the message of an error of Sallyport. */
  readonly cause?: string
  /** `code` of the thrown error, such as `ECONNREFUSED`. */
  readonly causeCode?: string
  /** Message of the thrown error, as far as `errorDetails` allows. At most 1,000 characters. */
  readonly message?: string
  /** Stack frames of the error and its causes, without messages unless `errorDetails` is `full`. At most 4,000 characters. */
  readonly stack?: string
  /** Validation errors: `/eventData/x required`. No values. */
  readonly errors?: string
  readonly attempt?: number
  /** Deliveries that a stopping worker put back unsent, and sends that it aborted. */
  readonly givenBack?: number
  readonly aborted?: number
  readonly delayMs?: number
  /** Number of events that a digest left out. */
  readonly events?: number
  /** Requests in flight: complete and being handled. */
  readonly inFlight?: number
  /** Requests whose caller is being authenticated or rate limited. */
  readonly authenticating?: number
  /** Bodies that are arriving, and the bytes of memory that they take. */
  readonly unfinished?: number
  readonly unfinishedBytes?: number
}

/** Takes structured log lines. Must not throw. */
export interface Logger {
  /** @param event A stable dotted name, such as `delivery.failed`. */
  log(level: 'info' | 'warn' | 'error', event: string, fields: LogFields): void
}
