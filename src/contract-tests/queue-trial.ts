import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import { ok } from './assertions.ts'
import { type CaseTable, type ContractCase, casesOf } from './contract.ts'

/** An empty queue for one case. No other code may wake its listeners. */
export interface QueueTrial {
  readonly queue: DeliveryQueue
  /** A second handle on the same queue, as in another process. Omit it if the queue has only one. */
  readonly other?: DeliveryQueue
  /** The queue's time in milliseconds. */
  now(): number
  /** Resolves when the condition holds, and throws if that takes far too long. Time runs by itself, or this moves it. */
  until(condition: () => boolean): Promise<void>
  /** Moves time forward and runs the wakes that become due. Omit it if time cannot be moved. */
  advance?(ms: number): void | Promise<void>
  /** Resolves when a wake would call all current listeners. Omit it if that is so at once. */
  ready?(): Promise<void>
  /** Removes a dependency of the queue, such as its server. Omit it if there is none. */
  disconnect?(): void | Promise<void>
  /** Releases the queue after the case, also after a failure. A case may have called it before. */
  close?(): void | Promise<void>
}

/** Capabilities of a queue. Cases that need a missing one are skipped. */
export interface QueueCapabilities {
  /** `other` exists. Default: `true`. */
  readonly secondHandle?: boolean
  /** Time can be moved: `advance` exists. Default: `true`. */
  readonly injectedTime?: boolean
  /** `disconnect` exists. Default: `true`. */
  readonly disconnect?: boolean
  /** It reports `connected` and `lost`. Without that, workers poll it as often as they do without a queue. Default: `true`. */
  readonly reportsConnection?: boolean
  /** It has `notify`. Without that, plugins of other processes find changes by their own reads. Default: `false`. */
  readonly notices?: boolean
}

export type QueueCase = ContractCase<QueueTrial, QueueCapabilities>

export function queueCases(
  needs: readonly (keyof QueueCapabilities)[],
  table: CaseTable<QueueTrial>,
): readonly QueueCase[] {
  return casesOf(needs, table)
}

/** A listener of a queue, and its calls. */
export interface Listener {
  /** Times of the calls of `due`. */
  readonly calledAt: readonly number[]
  /** Calls of `connected` and `lost`, in their order. */
  readonly reports: readonly ('connected' | 'lost')[]
  /** Topics of the calls of `noticed`, in their order. */
  readonly topics: readonly string[]
  stop(): void
}

/** Adds a listener. */
export async function listen(t: QueueTrial, queue: DeliveryQueue = t.queue): Promise<Listener> {
  const calledAt: number[] = []
  const reports: ('connected' | 'lost')[] = []
  const topics: string[] = []
  const stop = queue.listen({
    due: () => void calledAt.push(t.now()),
    connected: () => void reports.push('connected'),
    lost: () => void reports.push('lost'),
    noticed: (topic) => void topics.push(topic),
  })
  await t.ready?.()
  return { calledAt, reports, topics, stop }
}

/** Adds a listener, and waits until it is told that the queue is connected. */
export async function connected(t: QueueTrial, queue?: DeliveryQueue): Promise<Listener> {
  const listener = await listen(t, queue)
  await t.until(() => listener.reports.at(-1) === 'connected')
  return listener
}

/** The second handle. */
export function otherOf({ other }: QueueTrial): DeliveryQueue {
  ok(other, '`create` returned no `other`: return one, or set `secondHandle: false`')
  return other
}
