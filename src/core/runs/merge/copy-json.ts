import type { JsonValue } from '../../../model/json.ts'

/** A copy of plain JSON that shares nothing with it; members that are `undefined` are left out. */
export function copyJson(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(copyJson)
  if (typeof value !== 'object' || value === null) return value as JsonValue
  const copy: Record<string, JsonValue> = {}
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    if (member !== undefined) copy[key] = copyJson(member)
  }
  return copy
}
