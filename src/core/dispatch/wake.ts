import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { Logger } from '../../ports/logger.ts'
import { describeCause } from '../fault.ts'

/** What is stored is stored: a queue that fails only means that a worker looks later. */
export function wake(queue: DeliveryQueue | undefined, logger: Logger): void {
  try {
    queue?.wake(0)
  } catch (cause) {
    logger.log('error', 'queue.wake_failed', describeCause(cause))
  }
}
