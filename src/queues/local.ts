import type { Clock } from '../ports/clock.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import { createTimers } from './timers.ts'
import { createWakeEmitter } from './wake-emitter.ts'

/**
 * Wakes the workers of this process. Workers of other processes find due deliveries at their next poll, so it never reports `connected`.
 */
export function localQueue(clock: Pick<Clock, 'now' | 'after'>): DeliveryQueue {
  const wakeEmitter = createWakeEmitter()
  const timers = createTimers(clock, wakeEmitter.emitNow, (now, delayMs) => now + delayMs)
  return {
    wake(delayMs) {
      if (!wakeEmitter.hasListeners()) return
      if (delayMs > 0) timers.set(delayMs)
      else wakeEmitter.emit()
    },
    listen(listener) {
      const stop = wakeEmitter.listen(listener)
      return () => {
        stop()
        if (!wakeEmitter.hasListeners()) timers.clear()
      }
    },
  }
}
