/**
 * A faster alarm clock for the workers. The rows of the {@link DispatchStore} are the truth: an alarm that is lost or rings
 * twice only changes when a worker looks, never what it finds.
 */
export interface DeliveryQueue {
  /** Asks for workers to look for due deliveries in `delayMs` milliseconds. Best effort; must not throw or wait long. */
  wake(delayMs: number): void
  /**
   * Calls `onDue` at each alarm, in every process that listens, until the function returned is called. It may ring more often.
   * What it throws, `worker.start()` throws; nothing is started then, and it may be called again.
   */
  listen(onDue: () => void): () => void
}
