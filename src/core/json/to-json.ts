import type { JsonValue } from '../../model/json.ts'

/**
 * A copy of a value as JSON carries it, or `undefined` when JSON cannot: a function, a promise, a symbol.
 *
 * @throws What `JSON.stringify` throws: for a cycle, a bigint, or a `toJSON` that does.
 */
export function toJson(value: unknown): JsonValue | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (value instanceof Promise) return undefined
  const text = JSON.stringify(value)
  return text === undefined ? undefined : (JSON.parse(text) as JsonValue)
}

/** A function that should have been synchronous may have given a promise: what becomes of it must not end the process. */
export function ignoreRejection(value: unknown): void {
  if (value instanceof Promise) value.catch(() => {})
}
