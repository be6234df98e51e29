import { isScope } from '../core/authenticate.ts'
import { matching, whole } from '../options/checks.ts'
import type { Check } from '../options/read-options.ts'

/** 20 years: more was meant as an instant. */
const MAX_AGE_MS = 20 * 366 * 86_400_000

export const tenant: Check = matching(isScope, 'must be 1-200 visible ASCII characters')

export const instantOption: Check = matching(
  (value) => (typeof value === 'number' || value instanceof Date) && Number.isFinite(Number(value)),
  'must be a Date, or epoch milliseconds',
)

/** A length of time in milliseconds. */
export const age: Check = whole(0, MAX_AGE_MS)
