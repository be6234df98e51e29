import type { Clock } from '../ports/clock.ts'

/** Lets everything else in the process have its turn: a store that answers at once would not. */
export function yieldToEventLoop(clock: Pick<Clock, 'after'>): Promise<void> {
  return new Promise((resolve) => void clock.after(0, resolve, 'keepAlive'))
}
