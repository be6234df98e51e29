import type { Recipient } from '../../../model/recipient.ts'
import { isTimeZone } from '../../../model/time-zone.ts'
import { near } from '../../../options/read-options.ts'
import type { Logger } from '../../../ports/logger.ts'

const MAX_SHAPES = 100
/** Twice the length of the longest zone name. */
const MAX_NAME = 64
/** The check of a name takes as long as a dispatch, and names may come from users. */
const MAX_CHECKED = 1_000

const checked = /* @__PURE__ */ new Map<string, boolean>()
/** Near names and forms that were logged, by logger. */
const LOGGED = /* @__PURE__ */ new WeakMap<Logger, Set<string>>()

/**
 * Logs a time zone that the runtime does not know, once for each set of near names, or without these for each form such as `Aa Aa Aa`. The
 * text itself may be personal.
 */
export function logUnknownTimeZone({ timeZone }: Recipient, logger: Logger, eventType: string): void {
  if (!timeZone || isKnown(timeZone)) return
  const logged = LOGGED.get(logger) ?? new Set()
  LOGGED.set(logger, logged)
  const detail = describe(timeZone.slice(0, MAX_NAME))
  if (logged.has(detail) || logged.size >= MAX_SHAPES) return
  logged.add(detail)
  logger.log('warn', 'recipient.time_zone_unknown', { eventType, detail })
}

function describe(timeZone: string): string {
  const nearest = near(timeZone, Intl.supportedValuesOf('timeZone'))
  const form = nearest === '' ? `, of the form "${shapeOf(timeZone)}",` : ''
  const found = `a timeZone of the directory${form} is no IANA time zone that this runtime knows, so the policy uses its own`
  return found + (nearest || '; write one such as Europe/Vienna')
}

function isKnown(timeZone: string): boolean {
  if (timeZone.length > MAX_NAME) return false
  const known = checked.get(timeZone) ?? isTimeZone(timeZone)
  if (checked.size >= MAX_CHECKED) checked.clear()
  checked.set(timeZone, known)
  return known
}

/** Each word becomes `A`, `a` or `Aa`, each number `9`. */
function shapeOf(text: string): string {
  return text
    .replace(/[^ -~]+/g, '?')
    .replace(/[A-Z]+/g, 'A')
    .replace(/[a-z]+/g, 'a')
    .replace(/[0-9]+/g, '9')
}
