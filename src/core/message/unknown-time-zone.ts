import type { Recipient } from '../../model/recipient.ts'
import { isTimeZone } from '../../model/time-zone.ts'
import { near } from '../../options/read-options.ts'
import type { Logger } from '../../ports/logger.ts'

const MAX_SHAPES = 100
/** Twice the length of the longest zone name. */
const MAX_NAME = 64
/** The check of a name takes as long as a dispatch, and names may come from users. */
const MAX_CHECKED = 1_000

/** Details by name; `undefined`: the runtime knows it. */
const checked = /* @__PURE__ */ new Map<string, string | undefined>()
/** Details that were logged, by logger. */
const LOGGED = /* @__PURE__ */ new WeakMap<Logger, Set<string>>()

/**
 * Logs a time zone that the runtime does not know, once for each set of near names, or without these for each form such as `Aa Aa Aa`. The
 * text itself may be personal.
 */
export function logUnknownTimeZone({ timeZone }: Recipient, logger: Logger, eventType: string): void {
  const logged = LOGGED.get(logger) ?? new Set()
  LOGGED.set(logger, logged)
  if (!timeZone || logged.size >= MAX_SHAPES) return
  const detail = check(timeZone)
  if (detail === undefined || logged.has(detail)) return
  logged.add(detail)
  logger.log('warn', 'recipient.time_zone_unknown', { eventType, detail })
}

function check(timeZone: string): string | undefined {
  if (timeZone.length > MAX_NAME) return describe(timeZone.slice(0, MAX_NAME), [])
  if (checked.has(timeZone)) return checked.get(timeZone)
  const detail = isTimeZone(timeZone) ? undefined : describe(timeZone, Intl.supportedValuesOf('timeZone'))
  if (checked.size >= MAX_CHECKED) checked.clear()
  checked.set(timeZone, detail)
  return detail
}

function describe(timeZone: string, known: readonly string[]): string {
  const nearest = near(timeZone, known)
  const form = nearest === '' ? `, of the form "${shapeOf(timeZone)}",` : ''
  const found = `a timeZone of the directory${form} is no IANA time zone that this runtime knows, so the policy uses its own`
  return found + (nearest || '; write one such as Europe/Vienna')
}

/** Each word becomes `A`, `a` or `Aa`, each number `9`. */
function shapeOf(text: string): string {
  return text
    .replace(/[^ -~]+/g, '?')
    .replace(/[A-Z]+/g, 'A')
    .replace(/[a-z]+/g, 'a')
    .replace(/[0-9]+/g, '9')
}
