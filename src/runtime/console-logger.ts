import type { Logger } from '../ports/logger.ts'

/** Writes warnings and errors to the console, one JSON object per line: `{ time, level, event, … }`, with an RFC 3339 time. */
export const consoleLogger: Logger = {
  log(level, event, fields) {
    if (level === 'info') return
    console[level](JSON.stringify({ time: new Date().toISOString(), level, event, ...fields }))
  },
}
