/** A value that JSON can carry. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** Copies plain data: the copy shares nothing with the original and has no members that are `undefined`. */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyJson) as T
  // A spread and the writes of changed members cost less than building the object member by member.
  const copy = { ...value }
  for (const key in copy) {
    const member = copy[key]
    if (typeof member === 'object') copy[key] = copyJson(member)
    else if (member === undefined) delete copy[key]
  }
  return copy
}

/**
 * Converts any value to JSON; `undefined` when JSON cannot carry it: a function, a promise, a symbol.
 *
 * @throws What `JSON.stringify` throws: for a cycle, a bigint, or a `toJSON` that throws.
 */
export function toJson(value: unknown): JsonValue | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (value instanceof Promise) return undefined
  const text = JSON.stringify(value)
  return text === undefined ? undefined : (JSON.parse(text) as JsonValue)
}

/** Nearly every text passes this one test. Paired surrogates match it too. */
const SUSPECT = /[\0\ud800-\udfff]/

/** Whether every store can keep a text: databases refuse NUL and half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !SUSPECT.test(text) || (text.isWellFormed() && !text.includes('\0'))
}
