const MINUTE_MS = 60_000

/** A place's wall clock: from minutes of the epoch to the minutes that its calendar and clock show, counted alike. */
export type WallClock = (minute: number) => number

/** Gives wall clocks by the name of an IANA time zone. */
export type WallClocks = (timeZone: string | undefined) => WallClock

/** The wall clock of an IANA time zone; `undefined` when there is none of that name. */
export function wallClock(timeZone: string): WallClock | undefined {
  const format = formatIn(timeZone)
  if (format === undefined) return undefined
  return (minute) => {
    const parts = format.formatToParts(minute * MINUTE_MS).map(({ type, value }) => [type, Number(value)] as const)
    const shown = Object.fromEntries(parts)
    return Date.UTC(shown.year ?? 0, (shown.month ?? 1) - 1, shown.day, shown.hour, shown.minute) / MINUTE_MS
  }
}

/** Most zones that are kept at once: each takes some 50 KB, and names may come from what users wrote. */
const MAX_KEPT = 200
/** The longest name that a zone has is half as long. */
const MAX_NAME = 64

/**
 * Keeps the wall clocks that were asked for, because making one takes as long as dozens of its answers.
 *
 * @param otherwise For no name, and for one that no zone has.
 */
export function wallClocks(otherwise: WallClock): WallClocks {
  const kept = new Map<string, WallClock>()
  return (timeZone) => {
    if (typeof timeZone !== 'string' || timeZone.length > MAX_NAME) return otherwise
    const known = kept.get(timeZone)
    if (known !== undefined) return known
    const [oldest] = kept.keys()
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
    const clock = wallClock(timeZone) ?? otherwise
    kept.set(timeZone, clock)
    return clock
  }
}

function formatIn(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
  } catch {
    return undefined
  }
}
