import type { LoopCases } from './loop-case.ts'
import { backtrackers, literalPatterns } from './patterns.ts'

const LENGTH = 16_000
/** Slower results are measured again: the machine may have been busy. */
const SLOW_MS = 10
const TRIES = 5

/** Backtracking patterns with short inputs, and the check that limits those inputs. */
const SHORT: Readonly<Record<string, readonly [length: number, why: string]>> = {
  'src/channels/sms.ts /\\/+$/': [200, 'the base URL that the host configured'],
  'src/engines/liquid-filters.ts /%[-_0^#:]*\\d*[aAbBhcxX]/g': [100, 'a longer format is refused before'],
  'src/model/decimal.ts /0+$/': [40, 'a decimal has no more digits'],
  'src/storage/sql/connection/readiness-server.ts /(\\d[\\d.]*)-MariaDB/i': [
    200,
    "the version of the host's own database",
  ],
}

/** Tests each string separately and yields to the event loop in between. */
export const PATTERN_CASES: LoopCases = {
  'every pattern, on strings that make it backtrack': (share) => {
    const patterns = literalPatterns()
    return async () => {
      for (const { place, regex } of patterns) {
        const [most = LENGTH] = SHORT[`${place} ${regex}`] ?? []
        for (const text of backtrackers(most * share)) {
          if (quickest(regex, text) > SLOW_MS)
            console.error(`${place} ${regex} on ${JSON.stringify(text.slice(0, 40))}`)
          await new Promise(setImmediate)
        }
      }
    }
  },
}

function quickest(regex: RegExp, text: string): number {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < TRIES && least > SLOW_MS; attempt++) {
    const began = performance.now()
    text.search(regex)
    least = Math.min(least, performance.now() - began)
  }
  return least
}
