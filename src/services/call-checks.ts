import { isStorable } from '../model/json.ts'
import { isVisibleAscii } from '../model/principal.ts'
import { matching, whole } from '../options/checks.ts'
import { type Check, type Checks, faultOf, optionError, problemsAt, readOptions } from '../options/read-options.ts'
import { shown } from '../options/shown-value.ts'

/** Limits a read to one tenant. Default: `default`. */
export interface TenantScope {
  readonly tenant?: string | undefined
}

/** 20 years: a longer duration is probably an instant. */
const MAX_AGE_MS = 20 * 366 * 86_400_000

const MAX_TEXT = 2_048

const STORED_TEXT = 'must be a string of 1 to 2,048 characters, with no NUL and no half of a surrogate pair'

export const tenant: Check = matching(isVisibleAscii, 'must be 1-200 visible ASCII characters')

export const instantOption: Check = matching(
  (value) => (typeof value === 'number' || value instanceof Date) && Number.isFinite(Number(value)),
  'must be a Date, or epoch milliseconds',
  (value) => (value instanceof Date ? 'an invalid Date' : shown(value)),
)

export const age: Check = whole(0, MAX_AGE_MS)

/** An id or name that a store can hold. Other values are mistakes and cause no query. */
export const storedText: Check = matching(
  (value) => typeof value === 'string' && value.length >= 1 && value.length <= MAX_TEXT && isStorable(value),
  STORED_TEXT,
)

/** @throws {SallyportError} `option_invalid`, for an argument that cannot be a stored id. */
export function storedId(call: string, name: string, value: unknown): string {
  optionError(call, problemsAt(name, faultOf(value, storedText)))
  return String(value)
}

const SCOPE: Checks<TenantScope> = { tenant }

/** @throws {SallyportError} `option_invalid`, for an invalid tenant. */
export function tenantOf(call: string, scope: TenantScope = {}): string {
  return readOptions(call, scope, SCOPE).tenant ?? 'default'
}
