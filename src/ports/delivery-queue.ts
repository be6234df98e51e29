/** Wakes workers before their next poll. Deliveries stay in the {@link DispatchStore}: lost or repeated signals are harmless. */
export interface DeliveryQueue {
  /** Asks workers to claim due deliveries in `delayMs` milliseconds. Best effort; must not throw or block. */
  wake(delayMs: number): void
  /** Calls `onDue` at each signal in every process; the returned function stops it. `worker.start()` rethrows its errors. */
  listen(onDue: () => void): () => void
}
