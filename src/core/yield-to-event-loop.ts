import type { Clock } from '../ports/clock.ts'

/** Yields to the event loop: a store that answers at once does not. */
export function yieldToEventLoop(clock: Pick<Clock, 'after'>): Promise<void> {
  return new Promise((resolve) => void clock.after(0, resolve, 'keepAlive'))
}
