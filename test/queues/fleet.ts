import type { WorkerOptions } from '../../src/core/delivery/worker-options.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { Channel, OutboundMessage, SendContext } from '../../src/ports/channel.ts'
import type { DeliveryQueue } from '../../src/ports/delivery-queue.ts'
import type { DispatchStore } from '../../src/ports/dispatch-store.ts'
import type { EventCatalog } from '../../src/ports/event-catalog.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { createSallyport, type Sallyport } from '../../src/sallyport/create-sallyport.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'

const events: EventCatalog<Record<string, unknown>> = defineEvents({ e: { channels: { a: {} } } })

/** No worker looks by itself within a test. */
const NEVER_LOOKS: WorkerOptions = { pollMs: 3_600_000 }

/** Processes over one store, of which each has its own way to the queue. */
export interface Fleet {
  readonly store: DispatchStore & RunStore
  /** @param send What its channel does with a message. */
  process(queue: DeliveryQueue, send: Channel['send'], worker?: WorkerOptions): Sallyport
}

export function fleet(): Fleet {
  const store = memoryStore()
  return {
    store,
    process: (queue, send, worker = NEVER_LOOKS) =>
      createSallyport<Record<string, unknown>>({
        ...{ auth: testAuth, events, store, queue, worker, logger: recordingLogger() },
        channels: { a: { address: ({ email }) => email, send } },
      }),
  }
}

/** Accepts an event. */
export async function accept({ dispatch }: Sallyport, delayMs?: number): Promise<void> {
  const answer = await dispatch(
    { eventType: 'e', recipient: 'jane@example.com' },
    delayMs === undefined ? {} : { delayMs },
  )
  if (!answer.ok) throw new Error(`was not accepted: ${JSON.stringify(answer.body)}`)
}

/** Takes every message, and tells when there have been so many. */
export interface Outbox {
  readonly deliveryIds: readonly string[]
  send(message: OutboundMessage, context: SendContext): Promise<{ outcome: 'sent' }>
  /** Resolves once it holds so many. */
  holds(count: number): Promise<void>
}

/** @param until What each send waits for. */
export function outbox(until?: Promise<void>): Outbox {
  const deliveryIds: string[] = []
  const waiting = new Set<() => void>()
  return {
    deliveryIds,
    async send(_message, { deliveryId }) {
      deliveryIds.push(deliveryId)
      for (const look of [...waiting]) look()
      await until
      return { outcome: 'sent' }
    },
    holds: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (deliveryIds.length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}
