/** Fields of a log line: no event data, recipients, tokens or provider answers are ever among them. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

/** Takes structured log lines. Must not throw. */
export interface Logger {
  /** @param event A stable dotted name, such as `delivery.failed`. */
  log(level: 'info' | 'warn' | 'error', event: string, fields: LogFields): void
}
