import type { Clock } from '../ports/clock.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'

/** Wakes the workers of this process. Workers elsewhere find what is due when they next look. */
export function localQueue(clock: Pick<Clock, 'now' | 'after'>): DeliveryQueue {
  const listeners = new Set<() => void>()
  /** One for all alarms of an instant. */
  const timers = new Map<number, () => void>()
  const ring = (): void => {
    for (const onDue of listeners) onDue()
  }

  function setTimer(delayMs: number): void {
    const instant = clock.now() + delayMs
    if (timers.has(instant)) return
    const callOff = clock.after(delayMs, () => {
      timers.delete(instant)
      ring()
    })
    timers.set(instant, callOff)
  }

  return {
    wake(delayMs) {
      if (listeners.size === 0) return
      if (delayMs > 0) setTimer(delayMs)
      else queueMicrotask(ring)
    },
    listen(onDue) {
      const listener = (): void => onDue()
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        for (const callOff of timers.values()) callOff()
        timers.clear()
      }
    },
  }
}
