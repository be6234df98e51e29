import { wrongReturn } from '../../options/wrong-return.ts'
import type { DeliveryQueue, QueueListener } from '../../ports/delivery-queue.ts'

export interface Listening {
  /** The queue reports that the wakes of all processes arrive. */
  readonly isConnected: boolean
  /** Ends the listening. */
  stop(): void
}

/**
 * Listens to a queue. Rethrows errors of its `listen`.
 *
 * @param poll Called at each wake, and when the queue is connected or lost: wakes may have been missed.
 * @throws {SallyportError} `answer_invalid`, when `listen` returns no function.
 */
export function listenToQueue(queue: DeliveryQueue, poll: () => void): Listening {
  let isConnected = false

  function report(connected: boolean): void {
    isConnected = connected
    poll()
  }

  const stop = startListening(queue, { due: poll, connected: () => report(true), lost: () => report(false) })
  return {
    get isConnected() {
      return isConnected
    },
    stop,
  }
}

/**
 * Calls `listen` of a queue. Rethrows its errors.
 *
 * @returns A function that ends the listening.
 * @throws {SallyportError} `answer_invalid`, when `listen` returns no function.
 */
export function startListening(queue: DeliveryQueue, listener: QueueListener): () => void {
  const given: unknown = queue.listen(listener)
  if (typeof given !== 'function') {
    throw wrongReturn('listen() of the queue', given, 'a function that ends the listening')
  }
  return () => void given()
}
