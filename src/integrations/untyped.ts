/** An object of which nothing is known. */
export type Members = Readonly<Record<string, unknown>>

/** The members of a value; none, where it is no object. */
export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

/** A text as a post takes it: not empty, and cut to its greatest length. */
export function textOf(value: unknown, max = 100): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, max) : undefined
}

/** Those members that are known, which is neither `undefined` nor `null`: nothing is told of the others. */
export function known<Facts extends object>(facts: Facts): { [Key in keyof Facts]?: NonNullable<Facts[Key]> } {
  const told = Object.entries(facts).filter(([, fact]) => (fact ?? undefined) !== undefined)
  return Object.fromEntries(told) as ReturnType<typeof known<Facts>>
}
