/** The paths of members that are `undefined`: JSON drops them, but comparisons see them. */
export function holes(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return value === undefined ? [path] : []
  return Object.entries(value).flatMap(([key, member]) => holes(member, `${path}/${key}`))
}
