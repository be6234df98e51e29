import type { DeliveryQueue, QueueListener } from '../../src/ports/delivery-queue.ts'

/** A listener with these methods; the others do nothing. */
export function queueListener(methods: Partial<QueueListener> = {}): QueueListener {
  return { due() {}, connected() {}, lost() {}, ...methods }
}

/** Listener of a queue that counts its wakes, and records its notices. */
export interface WakeCounter {
  /** Number of wakes since the start. */
  readonly wakes: number
  /** Calls of `connected` and `lost`, in their order. */
  readonly reports: readonly ('connected' | 'lost')[]
  /** Topics of its notices, in their order. */
  readonly topics: readonly string[]
  /** Resolves at the next wake. */
  next(): Promise<void>
  /** Resolves once it was woken this often. */
  reached(wakes: number): Promise<void>
  /** Resolves once it was told this often that the queue is connected or lost. */
  reported(reports: number): Promise<void>
  /** Resolves once it got this many notices. */
  noticed(notices: number): Promise<void>
  stop(): void
}

export function countWakes(queue: Pick<DeliveryQueue, 'listen'>): WakeCounter {
  const waiting = new Set<() => void>()
  const reports: ('connected' | 'lost')[] = []
  const topics: string[] = []
  let wakes = 0
  const changed = (): void => {
    for (const look of [...waiting]) look()
  }
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  const stop = queue.listen({
    due: () => [wakes++, changed()],
    connected: () => [reports.push('connected'), changed()],
    lost: () => [reports.push('lost'), changed()],
    noticed: (topic) => [topics.push(topic), changed()],
  })
  const reached = (least: number): Promise<void> => until(() => wakes >= least)
  return {
    get wakes() {
      return wakes
    },
    reports,
    topics,
    next: () => reached(wakes + 1),
    reached,
    reported: (least) => until(() => reports.length >= least),
    noticed: (least) => until(() => topics.length >= least),
    stop,
  }
}
