import type { Clock } from '../ports/clock.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import { createAlarms } from './timers.ts'
import { createBell } from './wake-emitter.ts'

/** Wakes the workers of this process. Workers elsewhere find what is due when they next look. */
export function localQueue(clock: Pick<Clock, 'now' | 'after'>): DeliveryQueue {
  const bell = createBell()
  const alarms = createAlarms(clock, bell.ringNow, (now, delayMs) => now + delayMs)
  return {
    wake(delayMs) {
      if (!bell.isHeard()) return
      if (delayMs > 0) alarms.set(delayMs)
      else bell.ring()
    },
    listen(onDue) {
      const stop = bell.listen(onDue)
      return () => {
        stop()
        if (!bell.isHeard()) alarms.clear()
      }
    },
  }
}
