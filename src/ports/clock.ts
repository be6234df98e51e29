/** Time and timers. Injected, so that a test can control them. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /**
   * Calls `run` once, after `ms` milliseconds. The returned function cancels it. The timer must keep the process alive with
   * `keepAlive`, and must not without it.
   */
  after(ms: number, run: () => void, keepAlive?: 'keepAlive'): () => void
}
