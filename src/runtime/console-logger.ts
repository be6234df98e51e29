import type { Logger } from '../ports/logger.ts'

/** Writes warnings and errors to the console, one JSON object a line: `{ time, level, event, … }`, the time as RFC 3339. Skips `info`. */
export const consoleLogger: Logger = {
  log(level, event, fields) {
    if (level === 'info') return
    console[level](JSON.stringify({ time: new Date().toISOString(), level, event, ...fields }))
  },
}
