import { parseInstant } from '../model/instants.ts'
import { matching } from '../options/checks.ts'
import type { Check } from '../options/read-options.ts'

/** Below this a number is seconds, not milliseconds: the wire has the same rule. */
const SMALLEST_MILLISECONDS = 1e11

/** The last instant at which a credential or key is good. */
export type NotAfter = Date | string | number

/** An instant that {@link notAfterMilliseconds} can read. */
export const notAfter: Check = matching(
  (value) => notAfterMilliseconds(value) !== undefined,
  'must be a Date, an RFC 3339 instant with its offset (2027-01-31T00:00:00Z) or epoch milliseconds',
)

/** Epoch milliseconds; `Infinity` for `undefined`, no end; `undefined` for what is no instant, or could mean two. */
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
