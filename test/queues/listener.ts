import type { DeliveryQueue } from '../../src/ports/delivery-queue.ts'

/** Somebody who listens to a queue. */
export interface Ear {
  /** How often it has rung. */
  readonly rings: number
  /** Resolves at the next ring. */
  next(): Promise<void>
  /** Resolves once it has rung so often. */
  touched(rings: number): Promise<void>
  stop(): void
}

export function ear(queue: DeliveryQueue): Ear {
  const waiting = new Set<() => void>()
  let rings = 0
  const stop = queue.listen(() => {
    rings++
    for (const look of [...waiting]) look()
  })
  const touched = (least: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (rings < least) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return {
    get rings() {
      return rings
    },
    next: () => touched(rings + 1),
    touched,
    stop,
  }
}
