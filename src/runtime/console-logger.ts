import type { Logger } from '../ports/logger.ts'

/** Writes warnings and errors to the console, one JSON object a line; what went well is not written. */
export const consoleLogger: Logger = {
  log(level, event, fields) {
    if (level === 'info') return
    console[level](JSON.stringify({ ...fields, level, event: `sallyport.${event}` }))
  },
}
