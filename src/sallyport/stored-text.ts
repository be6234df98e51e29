import { SallyportError } from '../errors.ts'
import { isStorable } from '../model/json.ts'
import { matching } from '../options/checks.ts'
import type { Check } from '../options/read-options.ts'

/** No stored id or name is longer. */
const MAX_TEXT = 2_048

const DETAIL = 'must be a string of 1 to 2,048 characters, with no NUL and no half of a surrogate pair'

/** An id or a name that some store can hold. Others are mistakes, and no database is asked about them. */
function isStoredText(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= MAX_TEXT && isStorable(value)
}

/** Checks an option that names something stored. */
export const storedText: Check = matching(isStoredText, DETAIL)

/** @throws {SallyportError} `option_invalid`, for an argument that cannot be the id of anything stored. */
export function storedId(call: string, name: string, value: unknown): string {
  if (isStoredText(value)) return value
  throw new SallyportError('option_invalid', `${call}:`, [{ field: name, detail: DETAIL }])
}
