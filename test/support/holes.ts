/** The paths at which a value has a member without a value: JSON drops it, and what compares members sees it. */
export function holes(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return value === undefined ? [path] : []
  return Object.entries(value).flatMap(([key, member]) => holes(member, `${path}/${key}`))
}
