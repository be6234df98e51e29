import type { OpenAnswer } from '../core/endpoints.ts'
import type { Clock } from '../ports/clock.ts'

/** Answers to reads of the last second: ten people on one screen read the store hardly more often than one. */
export interface AnswerCache {
  /** The answer that somebody asked for under this key in the last second, also one under way; otherwise that of `read`. */
  get(key: string, read: () => Promise<OpenAnswer>): Promise<OpenAnswer>
  /** Forgets all answers: after a change, nobody gets one from before it. */
  clear(): void
}

/** Half of the pause between two reads of a page. */
const KEPT_MS = 1_000

/** Answers in memory. More are not shared. */
const MAX_KEPT = 50

/** Characters of an answer. A longer one is shared only until it is complete. */
const MAX_CHARACTERS = 250_000

export function answerCache(clock: Pick<Clock, 'now'>): AnswerCache {
  const kept = new Map<string, { readonly since: number; readonly answer: Promise<OpenAnswer> }>()

  /** True also for the future: the clock was set back. */
  function isOld(since: number, now: number): boolean {
    return Math.abs(now - since) >= KEPT_MS
  }

  return {
    get(key, read) {
      const now = clock.now()
      for (const [each, { since }] of kept) if (isOld(since, now)) kept.delete(each)
      const found = kept.get(key)
      if (found) return found.answer
      const answer = read()
      if (kept.size < MAX_KEPT) {
        const own = { since: now, answer }
        kept.set(key, own)
        answer.then(
          ({ text }) => text.length > MAX_CHARACTERS && kept.get(key) === own && kept.delete(key),
          () => {},
        )
      }
      return answer
    },
    clear: () => kept.clear(),
  }
}
