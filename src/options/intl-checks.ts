import { matching } from './checks.ts'
import { type Check, near } from './read-options.ts'
import { shownName } from './shown-value.ts'

/** An IANA time zone. */
export const timeZone: Check = (value) => {
  if (isTimeZone(value)) return undefined
  const shown = shownName(value)
  const isName = shown.startsWith('"')
  const nearest = isName && near(String(value), Intl.supportedValuesOf('timeZone'))
  const what = isName
    ? `${shown} is no IANA time zone that this runtime knows`
    : `is ${shown}; must be an IANA time zone`
  return what + (nearest || '; write one such as Europe/Vienna')
}

/** True for an IANA time zone that this runtime knows. Takes some 50 microseconds. */
export function isTimeZone(value: unknown): boolean {
  return typeof value === 'string' && isKnown(() => new Intl.DateTimeFormat('en', { timeZone: value }))
}

/** A BCP 47 locale for dates. */
export const locale: Check = matching(
  (value) => typeof value === 'string' && isKnown(() => new Intl.DateTimeFormat(value)),
  'must be a BCP 47 locale that this runtime knows, such as en-US',
  shownName,
)

function isKnown(create: () => unknown): boolean {
  try {
    return Boolean(create())
  } catch {
    return false
  }
}
