import { parseInstant } from '../model/instants.ts'
import { isSessionId, isVisibleAscii } from '../model/principal.ts'
import { matching } from '../options/checks.ts'
import type { Check } from '../options/read-options.ts'
import { shown } from '../options/shown-value.ts'

export const sessionIdText: Check = matching(isSessionId, 'must be 1 to 200 visible ASCII characters, and not . or ..')
export const visibleAscii: Check = matching(isVisibleAscii, 'must be 1 to 200 visible ASCII characters')

/** Last instant at which a credential or key is valid. */
export type NotAfter = Date | string | number

export const notAfter: Check = matching(
  (value) => notAfterMilliseconds(value) !== undefined,
  'must be a Date, an RFC 3339 instant with its offset (2027-01-31T00:00:00Z) or epoch milliseconds',
  (value) => (value instanceof Date ? 'an invalid Date' : typeof value === 'string' ? '' : shown(value)),
)

/** A smaller number is probably seconds, and is refused, as in request bodies. */
const SMALLEST_MILLISECONDS = 1e11

/** Epoch milliseconds; `Infinity` for `undefined` (no end); `undefined` for an invalid or ambiguous instant. */
export function notAfterMilliseconds(value: unknown): number | undefined {
  if (value === undefined) return Number.POSITIVE_INFINITY
  if (typeof value === 'number') return Number.isFinite(value) && value >= SMALLEST_MILLISECONDS ? value : undefined
  if (value instanceof Date) return numberOrUndefined(value.getTime())
  if (typeof value === 'string') return parseInstant(value)
  return undefined
}

function numberOrUndefined(milliseconds: number): number | undefined {
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}
