import type { LevelLogger, LogFields, Logger } from '../ports/logger.ts'

/** Writes one JSON object per line to a console: `{ time, level, event, … }`, with an RFC 3339 time. */
export function consoleLines(to: { [Level in keyof LevelLogger]: (line: string) => void }): Logger {
  return { log: (level, event, fields) => to[level](lineOf(level, event, fields)) }
}

/** Writes warnings and errors to the console, as {@link consoleLines}. */
export const consoleLogger: Logger = {
  log(level, event, fields) {
    if (level !== 'info') console[level](lineOf(level, event, fields))
  },
}

function lineOf(level: string, event: string, fields: LogFields): string {
  return JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })
}
