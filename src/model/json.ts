/** A JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** Copies plain data deeply and drops members that are `undefined`. */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyJson) as T
  // A spread plus writes of changed members is faster than building the object member by member.
  const copy = { ...value }
  for (const key in copy) {
    const member = copy[key]
    if (typeof member === 'object') copy[key] = copyJson(member)
    else if (member === undefined) delete copy[key]
  }
  return copy
}

/**
 * Converts any value to JSON; `undefined` for a function, a promise or a symbol.
 *
 * @throws The error of `JSON.stringify`: for a cycle, a bigint, or a `toJSON` that throws.
 */
export function toJson(value: unknown): JsonValue | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (value instanceof Promise) return undefined
  const text = JSON.stringify(value)
  return text === undefined ? undefined : (JSON.parse(text) as JsonValue)
}

/** Fast test; also matches paired surrogates. */
const SUSPECT = /[\0\ud800-\udfff]/

/** True if every store can keep the text: databases refuse NUL and unpaired surrogates. */
export function isStorable(text: string): boolean {
  return !SUSPECT.test(text) || (text.isWellFormed() && !text.includes('\0'))
}

/** True for a list or a plain object, also of another realm with its own `Object.prototype`. */
export function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

/** Returns the value as a plain object; `undefined` for anything else. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && isPlain(value)
  return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
}
