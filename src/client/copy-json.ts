/** What is left of a value as JSON. Throws a TypeError where it cannot be that. */
export function copyJson<Value>(value: Value, reviver?: (key: string, value: unknown) => unknown): Value {
  return JSON.parse(JSON.stringify(value), reviver)
}
