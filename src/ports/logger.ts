/**
 * All fields of log lines: ids, names given by the host, codes and counts. Never event data, content, recipients, tokens, or texts
 * of providers and drivers, unless `errorDetails` is `full`. `message` comes from functions of the host, such as a template or a
 * hook.
 */
export interface LogFields {
  readonly requestId?: string
  readonly dispatchId?: string
  readonly deliveryId?: string
  readonly runId?: string
  readonly eventType?: string
  readonly channel?: string
  /** Name of one of several providers of a channel. */
  readonly provider?: string
  readonly field?: string
  readonly hook?: string
  /** Name of a plugin. */
  readonly plugin?: string
  readonly queue?: string
  /** Code of a problem or of an attempt's outcome. */
  readonly code?: string
  readonly reason?: string
  /** Path of event data that a template reads, such as `data.order.id`. At most 200 characters. */
  readonly path?: string
  /** A remedy, in Sallyport's words; for a template or a condition, the place and the fault. */
  readonly detail?: string
  /** Name of the thrown error; for a `SallyportError`, its message. */
  readonly cause?: string
  /** `code` of the thrown error, such as `ECONNREFUSED`. */
  readonly causeCode?: string
  /** Message of the thrown error, as far as `errorDetails` allows. At most 1,000 characters. */
  readonly message?: string
  /** Stack frames of the error and its causes, without messages unless `errorDetails` is `full`. At most 4,000 characters. */
  readonly stack?: string
  /** Validation errors, such as `/eventData/x: is required`. No values. */
  readonly errors?: string
  readonly attempt?: number
  /** Deliveries that a stopping worker put back unsent, and sends that it aborted. */
  readonly givenBack?: number
  readonly aborted?: number
  readonly delayMs?: number
  /** Time-outs in succession, and the pause of the receiver after them. */
  readonly timeouts?: number
  readonly pauseMs?: number
  readonly events?: number
  /** Name of a feedback source. */
  readonly source?: string
  /** Reports that were new. */
  readonly added?: number
  /** Dispatches and answers of an erased recipient, and the deliveries that were cancelled. */
  readonly dispatches?: number
  readonly answers?: number
  readonly cancelled?: number
  /** Uses of tokens that were dropped. */
  readonly uses?: number
  /** Equal events since the last line that were not logged. */
  readonly omitted?: number
  /** Measurements that statistics lack. */
  readonly measurements?: number
  /** Complete requests that are being handled. */
  readonly inFlight?: number
  /** Requests that are being authenticated or rate limited. */
  readonly authenticating?: number
  /** Incomplete bodies, and their memory in bytes. */
  readonly unfinished?: number
  readonly unfinishedBytes?: number
}

/** Writes structured log lines. Must not throw. */
export interface Logger {
  /** @param event A stable dotted name, such as `delivery.failed`. */
  log(level: 'info' | 'warn' | 'error', event: string, fields: LogFields): void
}

/**
 * A logger with a method for each level, called as pino is: `logger.info(fields, event)`.
 *
 * @example
 * ```ts
 * createSallyport({ logger: pino(), … })
 * ```
 */
export interface LevelLogger {
  info(fields: LogFields, event: string): void
  warn(fields: LogFields, event: string): void
  error(fields: LogFields, event: string): void
}

/** A host's logger: its `log` is called if it has one, except that of a `console`, which gets JSON lines of all levels. */
export type GivenLogger = Logger | LevelLogger
