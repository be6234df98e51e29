import { inspect } from 'node:util'
import type { LogEvent, Logger } from 'kysely'

const ON_ONE_LINE = {
  breakLength: Number.POSITIVE_INFINITY,
  compact: true,
  maxArrayLength: null,
  maxStringLength: null,
}

/** Writes each statement with its parameters, its duration and its error. */
export function statementLogger(write: (text: string) => void): Logger {
  return (event) => write(textOf(event))
}

/** Prints every statement of tests with `SALLYPORT_LOG_SQL=1`. */
export const statementLog: Logger | undefined =
  process.env.SALLYPORT_LOG_SQL === '1' ? statementLogger(console.log) : undefined

function textOf(event: LogEvent): string {
  const { query, queryDurationMillis } = event
  const text = `${query.sql}\n  ${inspect(query.parameters, ON_ONE_LINE)} in ${queryDurationMillis.toFixed(1)} ms`
  return event.level === 'error' ? `${text}\n  ${event.error}` : text
}
