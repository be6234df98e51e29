import type { Awaitable } from '../model/awaitable.ts'
import { type TimeoutOptions, withTimeout } from '../model/time-out.ts'

const MAX_MS = 10_000

/** Calls a function of the host, and waits for its result at most ten seconds. Rejects with what it throws, or a `TimeoutError`. */
export function callHost<T>(call: () => Awaitable<T>, clock: TimeoutOptions['clock']): Promise<T> {
  const called = async (): Promise<T> => call()
  return withTimeout(called(), { ms: MAX_MS, clock })
}
