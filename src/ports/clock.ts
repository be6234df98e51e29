/** Time and timers. Injected, so that tests can control them. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Calls `run` once after `ms`; the returned function cancels it. Keeps the process alive only with `keepAlive`. */
  after(ms: number, run: () => void, keepAlive?: 'keepAlive'): () => void
}
