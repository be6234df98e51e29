import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import type { WorkerOptions } from '../../src/core/delivery/worker-options.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { Channel, OutboundMessage, SendContext } from '../../src/ports/channel.ts'
import type { DeliveryQueue } from '../../src/ports/delivery-queue.ts'
import type { DispatchStore } from '../../src/ports/dispatch-store.ts'
import type { EventCatalog } from '../../src/ports/event-catalog.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'

const events: EventCatalog<Record<string, unknown>> = defineEvents({ e: { channels: { a: {} } } })

/** Keeps workers from polling within a test. */
const NEVER_LOOKS: WorkerOptions = { pollMs: 3_600_000 }

/** Processes over one store, each with its own queue client. */
export interface Fleet {
  readonly store: DispatchStore & RunStore
  /** @param send `send` of the process's channel. */
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

export async function accept({ dispatch }: Sallyport, delayMs?: number): Promise<void> {
  const answer = await dispatch(
    { eventType: 'e', recipient: 'jane@example.com' },
    delayMs === undefined ? {} : { delayMs },
  )
  if (!answer.ok) throw new Error(`was not accepted: ${JSON.stringify(answer.body)}`)
}

/** Accepts every message and counts them. */
export interface Outbox {
  readonly deliveryIds: readonly string[]
  send(message: OutboundMessage, context: SendContext): Promise<{ outcome: 'sent' }>
  /** Resolves once it holds this many. */
  holds(count: number): Promise<void>
}

/** @param until Promise that each send waits for. */
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
