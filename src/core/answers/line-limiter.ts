/** Keys that are counted apart. */
const MAX_KEYS = 50

interface Lines {
  readonly loggedAt: number
  /** Lines since, which are not logged. */
  omitted: number
}

/** Limits log lines that repeat: strangers and long outages must not fill the log. */
export interface LineLimiter {
  /** The key; `undefined` when 50 others are counted: the line must not show it, and further keys count as one. */
  countedAs(key: string | undefined): string | undefined
  /** Further fields of the line that is due now; `undefined`: omit the line. */
  admit(key: string | undefined, now: number): { readonly omitted?: number } | undefined
  /** Forgets all lines: what they report has ended, so the next one is due at once. */
  reset(): void
}

/** Admits at most one line in `everyMs` for each key, with the number of lines that were omitted since. */
export function limitLines(everyMs: number): LineLimiter {
  const logged = new Map<string | undefined, Lines>()

  function countedAs(key: string | undefined): string | undefined {
    return logged.has(key) || logged.size < MAX_KEYS ? key : undefined
  }

  return {
    countedAs,
    admit(given, now) {
      const key = countedAs(given)
      const last = logged.get(key)
      // A clock may be set back.
      if (last && Math.abs(now - last.loggedAt) < everyMs) {
        last.omitted++
        return undefined
      }
      logged.set(key, { loggedAt: now, omitted: 0 })
      return last?.omitted ? { omitted: last.omitted } : {}
    },
    reset: () => logged.clear(),
  }
}
