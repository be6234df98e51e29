import type { Clock } from '../ports/clock.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'

/** Wakes the workers of this process. Workers elsewhere find what is due when they next look. */
export function localQueue(clock: Pick<Clock, 'after'>): DeliveryQueue {
  const listeners = new Set<() => void>()
  const ring = (): void => {
    for (const onDue of listeners) onDue()
  }
  return {
    wake(delayMs) {
      if (listeners.size === 0) return
      if (delayMs > 0) clock.after(delayMs, ring)
      else queueMicrotask(ring)
    },
    listen(onDue) {
      listeners.add(onDue)
      return () => void listeners.delete(onDue)
    },
  }
}
