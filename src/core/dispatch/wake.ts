import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { Logger } from '../../ports/logger.ts'
import { describeCause } from '../fault.ts'

/** What is stored is stored: a queue that fails, now or by and by, only means that a worker looks later. */
export function wake(queue: DeliveryQueue | undefined, logger: Logger, delayMs = 0): void {
  const failed = (cause: unknown): void => logger.log('error', 'queue.wake_failed', describeCause(cause))
  try {
    const asked: unknown = queue?.wake(delayMs)
    if (asked instanceof Promise) asked.catch(failed)
  } catch (cause) {
    failed(cause)
  }
}
