export type Members = Readonly<Record<string, unknown>>

/** The members of a value; empty if it is not an object. */
export function untypedMembers(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

/** A string as a post accepts it: not empty, and cut to `max` without splitting a surrogate pair. */
export function textOf(value: unknown, max = 100): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, max).toWellFormed() : undefined
}

export function knownText<Facts extends object>(facts: Facts): { [Key in keyof Facts]?: NonNullable<Facts[Key]> } {
  const known = Object.entries(facts).filter(([, fact]) => (fact ?? undefined) !== undefined)
  return Object.fromEntries(known) as ReturnType<typeof knownText<Facts>>
}

/** Ignores errors: reading foreign values must not break the recorded call. */
export function ignoringErrors(look: () => void): void {
  try {
    look()
  } catch {
    // The caller still gets the value.
  }
}
