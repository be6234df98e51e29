import { isTimeZone } from '../model/time-zone.ts'
import { matching } from './checks.ts'
import { type Check, near } from './read-options.ts'
import { shownName } from './shown-value.ts'

/** An IANA time zone. */
export const timeZone: Check = (value) => {
  if (typeof value === 'string' && isTimeZone(value)) return undefined
  const shown = shownName(value)
  const isName = shown.startsWith('"')
  const nearest = isName && near(String(value), Intl.supportedValuesOf('timeZone'))
  const what = isName
    ? `${shown} is no IANA time zone that this runtime knows`
    : `is ${shown}; must be an IANA time zone`
  return what + (nearest || '; write one such as Europe/Vienna')
}

/** A BCP 47 locale for dates. */
export const locale: Check = matching(
  (value) => typeof value === 'string' && isLocale(value),
  'must be a BCP 47 locale that this runtime knows, such as en-US',
  shownName,
)

function isLocale(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat(name))
  } catch {
    return false
  }
}
