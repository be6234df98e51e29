import type { GivenLogger, LevelLogger, Logger } from '../ports/logger.ts'
import { consoleLines } from './console-logger.ts'

/** Calls the host's logger as it expects: by its `log`, or as pino; a console gets JSON lines. */
export function toLogger(given: GivenLogger): Logger {
  // Its `log` takes what is printed, not a level.
  if (isConsole(given)) return consoleLines(given)
  if ('log' in given && typeof given.log === 'function') return given
  const levels = given as LevelLogger
  return { log: (level, event, fields) => levels[level](fields, event) }
}

function isConsole(given: object): given is Console {
  return Object.prototype.toString.call(given) === '[object console]'
}
