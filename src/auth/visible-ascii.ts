import { matching } from '../options/checks.ts'
import type { Check } from '../options/read-options.ts'

const VISIBLE_ASCII = /^[\x21-\x7e]{1,200}$/

/** Whether a value can name a credential, a key, a tenant or a session: 1 to 200 visible ASCII characters. */
export function isVisibleAscii(value: unknown): value is string {
  return typeof value === 'string' && VISIBLE_ASCII.test(value)
}

/** {@link isVisibleAscii}, of an option. */
export const visibleAscii: Check = matching(isVisibleAscii, 'must be 1 to 200 visible ASCII characters')
