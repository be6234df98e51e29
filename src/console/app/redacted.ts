import type { JsonValue } from '../../model/json.ts'

/**
 * An answer whose texts, numbers and flags `redact` may have replaced with a text, a number, a flag or null. Only the functions of
 * `words.ts` say what they are, so that no screen relies on their types.
 */
export type Redacted<T> = JsonValue extends T
  ? unknown
  : T extends string | number | boolean | null
    ? unknown
    : { readonly [K in keyof T]: Redacted<T[K]> }
