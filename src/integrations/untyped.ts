/** An object of which nothing is known. */
export type Members = Readonly<Record<string, unknown>>

/** The members of a value; none, where it is no object. */
export function untypedMembers(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

/** A text as a post takes it: not empty, and cut to its greatest length, of which no half of a surrogate pair is left. */
export function textOf(value: unknown, max = 100): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, max).toWellFormed() : undefined
}

/** Those members that are known, which is neither `undefined` nor `null`: nothing is told of the others. */
export function knownText<Facts extends object>(facts: Facts): { [Key in keyof Facts]?: NonNullable<Facts[Key]> } {
  const reported = Object.entries(facts).filter(([, fact]) => (fact ?? undefined) !== undefined)
  return Object.fromEntries(reported) as ReturnType<typeof knownText<Facts>>
}

/** Looks at something of which nothing is known: what that throws must not break what is looked at. */
export function ignoringErrors(look: () => void): void {
  try {
    look()
  } catch {
    // Whatever it is, whoever asked for it shall have it.
  }
}
