/**
 * Wakes workers before their next poll, and tells plugins of other processes of changes. Everything stays in the {@link DispatchStore}: lost
 * or repeated signals are harmless.
 */
export interface DeliveryQueue {
  /** Asks workers to claim due deliveries in `delayMs` milliseconds. Best effort; must not throw or block. */
  wake(delayMs: number): void
  /**
   * Calls `noticed` of the listeners of all other processes: something about this topic has changed. Wakes no worker. Best effort; must not
   * throw or block. Absent: other processes find changes by their own reads.
   *
   * @param topic 1-32 of `a-z 0-9 _`.
   * @example
   * ```ts
   * queue.notify?.('approvals')
   * ```
   */
  notify?(topic: string): void
  /** Calls the listener until the returned function is called. `worker.start()` rethrows its errors. */
  listen(listener: QueueListener): () => void
}

/** A worker, or the plugins of a host, that listen to a queue. Its methods need no `this`, return at once and may be called within `listen`. */
export interface QueueListener {
  /** Deliveries may be due: call it at each wake of any process. The worker polls. */
  due(): void
  /**
   * The wakes of all processes arrive from now on. Call it also after each reconnect: the worker polls once, because wakes may be missed,
   * and then only every five seconds. A queue that never calls it is polled every second.
   */
  connected(): void
  /** Wakes may be missed from now on. The worker polls at once, and then every second. */
  lost(): void
  /**
   * Another process has called `notify` with this topic. May also be called for notices of this process. They arrive while the queue is
   * connected, as wakes do.
   */
  noticed?(topic: string): void
}
