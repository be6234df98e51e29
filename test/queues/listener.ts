import type { DeliveryQueue } from '../../src/ports/delivery-queue.ts'

/** Listener of a queue that counts its wakes. */
export interface WakeCounter {
  /** Number of wakes since the start. */
  readonly wakes: number
  /** Resolves at the next wake. */
  next(): Promise<void>
  /** Resolves once it was woken this often. */
  reached(wakes: number): Promise<void>
  stop(): void
}

export function countWakes(queue: DeliveryQueue): WakeCounter {
  const waiting = new Set<() => void>()
  let wakes = 0
  const stop = queue.listen(() => {
    wakes++
    for (const look of [...waiting]) look()
  })
  const reached = (least: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (wakes < least) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return {
    get wakes() {
      return wakes
    },
    next: () => reached(wakes + 1),
    reached,
    stop,
  }
}
