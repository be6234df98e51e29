import { parseInstant } from '../model/instants.ts'
import { matching } from '../options/checks.ts'
import type { Check } from '../options/read-options.ts'

const VISIBLE_ASCII = /^[\x21-\x7e]{1,200}$/

/** Whether a value can name a credential, a key, a tenant or a session: 1 to 200 visible ASCII characters. */
export function isVisibleAscii(value: unknown): value is string {
  return typeof value === 'string' && VISIBLE_ASCII.test(value)
}

/** The check of an option by {@link isVisibleAscii}. */
export const visibleAscii: Check = matching(isVisibleAscii, 'must be 1 to 200 visible ASCII characters')

/** The last instant at which a credential or key is valid. */
export type NotAfter = Date | string | number

/** The check of a {@link NotAfter}. */
export const notAfter: Check = matching(
  (value) => notAfterMilliseconds(value) !== undefined,
  'must be a Date, an RFC 3339 instant with its offset (2027-01-31T00:00:00Z) or epoch milliseconds',
)

/** A smaller number is taken for seconds, and refused: the wire has the same rule. */
const SMALLEST_MILLISECONDS = 1e11

/** Epoch milliseconds; `Infinity` for `undefined`, no end; `undefined` for an invalid or ambiguous instant. */
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
