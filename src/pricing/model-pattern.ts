/** A model's name, or a pattern for all names with this prefix and suffix. */
export interface ModelPattern {
  readonly prefix: string
  /** Absent: the prefix is the whole name. */
  readonly suffix?: string
}

/** Reads a name with at most one `*`, which matches any characters or none; `undefined` if invalid. */
export function readPattern(text: unknown): ModelPattern | undefined {
  if (typeof text !== 'string' || text === '') return undefined
  const [prefix = '', suffix, ...more] = text.split('*')
  if (more.length > 0) return undefined
  return suffix === undefined ? { prefix } : { prefix, suffix }
}

export function means({ prefix, suffix }: ModelPattern, name: string): boolean {
  if (suffix === undefined) return name === prefix
  return name.length >= prefix.length + suffix.length && name.startsWith(prefix) && name.endsWith(suffix)
}

/** Sorts the more specific pattern first: a whole name, then more characters. */
export function comparePatterns(a: ModelPattern, b: ModelPattern): number {
  if (a.suffix === undefined || b.suffix === undefined)
    return Number(a.suffix !== undefined) - Number(b.suffix !== undefined)
  return b.prefix.length + b.suffix.length - a.prefix.length - a.suffix.length
}

/** Whether a name can match both of two equally specific patterns. */
export function patternsMeet(a: ModelPattern, b: ModelPattern): boolean {
  if (a.suffix === undefined || b.suffix === undefined) return a.prefix === b.prefix
  const begin = a.prefix.startsWith(b.prefix) || b.prefix.startsWith(a.prefix)
  return begin && (a.suffix.endsWith(b.suffix) || b.suffix.endsWith(a.suffix))
}
