/**
 * Wakes workers earlier than their polling does. Deliveries stay in the {@link DispatchStore}: a lost or repeated signal changes
 * when a worker claims, never what it claims.
 */
export interface DeliveryQueue {
  /** Asks workers to claim due deliveries in `delayMs` milliseconds. Best effort; must not throw or block. */
  wake(delayMs: number): void
  /**
   * Calls `onDue` at each signal, in every listening process, until the returned function is called. Extra calls are harmless.
   * `worker.start()` rethrows what it throws; nothing is started then, and `start()` may be called again.
   */
  listen(onDue: () => void): () => void
}
