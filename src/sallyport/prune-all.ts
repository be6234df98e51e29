import { yieldToEventLoop } from '../core/time-out.ts'
import type { Clock } from '../ports/clock.ts'

/** Removes batch by batch until one is not full, and lets everything else have its turn in between. Gives how many went. */
export async function pruneAll(remove: () => Promise<number>, limit: number, clock: Clock): Promise<number> {
  let pruned = 0
  for (;;) {
    const removed = await remove()
    pruned += removed
    if (removed < limit) return pruned
    await yieldToEventLoop(clock)
  }
}
