/** One name of a model, or all that begin and end so. */
export interface ModelPattern {
  readonly prefix: string
  /** Absent: the prefix is the whole name. */
  readonly suffix?: string
}

/** Reads a name in which one `*` may stand for any characters, or none. `undefined`: it is none. */
export function readPattern(text: unknown): ModelPattern | undefined {
  if (typeof text !== 'string' || text === '') return undefined
  const [prefix = '', suffix, ...more] = text.split('*')
  if (more.length > 0) return undefined
  return suffix === undefined ? { prefix } : { prefix, suffix }
}

/** Whether it means this name. */
export function means({ prefix, suffix }: ModelPattern, name: string): boolean {
  if (suffix === undefined) return name === prefix
  return name.length >= prefix.length + suffix.length && name.startsWith(prefix) && name.endsWith(suffix)
}

/** Which of two is closer to the names that it means, below 0 the first: one name, or else more characters that are given. */
export function comparePatterns(a: ModelPattern, b: ModelPattern): number {
  if (a.suffix === undefined || b.suffix === undefined)
    return Number(a.suffix !== undefined) - Number(b.suffix !== undefined)
  return b.prefix.length + b.suffix.length - a.prefix.length - a.suffix.length
}

/** Whether some name is meant by both of two that are equally close. */
export function patternsMeet(a: ModelPattern, b: ModelPattern): boolean {
  if (a.suffix === undefined || b.suffix === undefined) return a.prefix === b.prefix
  const begin = a.prefix.startsWith(b.prefix) || b.prefix.startsWith(a.prefix)
  return begin && (a.suffix.endsWith(b.suffix) || b.suffix.endsWith(a.suffix))
}
