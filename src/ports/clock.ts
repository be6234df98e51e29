/** The time, and timers. Injected, so that a test can move it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /**
   * Calls `run` once, after `ms` milliseconds; the function returned calls it off. Must not keep the process alive, but with
   * `keepAlive` it should: somebody waits for it.
   */
  after(ms: number, run: () => void, keepAlive?: 'keepAlive'): () => void
}
