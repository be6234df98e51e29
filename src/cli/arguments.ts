import { parseArgs } from 'node:util'
import { durationOf } from '../model/duration.ts'
import { parseInstant } from '../model/instants.ts'
import { UsageError } from './terminal.ts'

/** Options of a command by name. `text` takes a value. */
export type OptionKinds = Readonly<Record<string, 'text' | 'list' | 'flag'>>

/** Options and arguments of a command. */
export interface Given {
  readonly positionals: readonly string[]
  text(name: string): string | undefined
  list(name: string): readonly string[] | undefined
  flag(name: string): boolean
  /** A text that must be there. */
  required(name: string): string
  /** Milliseconds from a duration such as `30d`, `12h`, `15m` or `90s`. */
  duration(name: string): number | undefined
  /** Epoch milliseconds from RFC 3339, or from a duration before `now`. */
  instant(name: string, now: number): number | undefined
  whole(name: string, least: number, most: number): number | undefined
}

/** @throws {UsageError} For an unknown option, or one without its value. */
export function readArguments(args: readonly string[], kinds: OptionKinds): Given {
  const options = Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [
      name,
      { type: kind === 'flag' ? ('boolean' as const) : ('string' as const), multiple: kind === 'list' },
    ]),
  )
  const { values, positionals } = parsed(() => parseArgs({ args: [...args], options, allowPositionals: true }))

  function text(name: string): string | undefined {
    const value = values[name]
    return typeof value === 'string' ? value : undefined
  }

  function duration(name: string): number | undefined {
    const value = text(name)
    const ms = value === undefined ? undefined : durationOf(value)
    if (value !== undefined && ms === undefined)
      throw new UsageError(`--${name} must be a duration such as 30d, 12h or 15m`)
    return ms
  }

  return {
    positionals,
    text,
    list(name) {
      const value = values[name]
      return Array.isArray(value) ? value.map(String) : undefined
    },
    flag: (name) => values[name] === true,
    required(name) {
      const value = text(name)
      if (!value) throw new UsageError(`--${name} is required`)
      return value
    },
    duration,
    instant(name, now) {
      const value = text(name)
      if (value === undefined) return undefined
      const ms = durationOf(value)
      if (ms !== undefined) return now - ms
      const at = parseInstant(value)
      if (at === undefined) throw new UsageError(`--${name} must be an RFC 3339 instant, or a duration such as 2h`)
      return at
    },
    whole(name, least, most) {
      const value = text(name)
      if (value === undefined) return undefined
      const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
      if (!(number >= least && number <= most))
        throw new UsageError(`--${name} must be a whole number from ${least} to ${most}`)
      return number
    },
  }
}

function parsed<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))
      throw new UsageError(error.message)
    throw error
  }
}
