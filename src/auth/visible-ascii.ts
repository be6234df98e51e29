const VISIBLE_ASCII = /^[\x21-\x7e]{1,200}$/

/** Whether a value can name a credential, a key, a tenant or a session: 1 to 200 visible ASCII characters. */
export function isVisibleAscii(value: unknown): value is string {
  return typeof value === 'string' && VISIBLE_ASCII.test(value)
}

/** How {@link isVisibleAscii} is put in an error. */
export const VISIBLE_ASCII_RULE = 'must be 1 to 200 visible ASCII characters'
