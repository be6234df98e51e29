/** Deep copy of plain data. Members that are `undefined` stay. */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyJson) as T
  const copy = { ...value }
  for (const key in copy) if (typeof copy[key] === 'object') copy[key] = copyJson(copy[key])
  return copy
}
