import { wrongReturn } from '../../options/wrong-return.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'

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

  const given: unknown = queue.listen({ due: poll, connected: () => report(true), lost: () => report(false) })
  if (typeof given !== 'function') {
    throw wrongReturn('listen() of the queue', given, 'a function that ends the listening')
  }
  return {
    get isConnected() {
      return isConnected
    },
    stop: () => void given(),
  }
}
