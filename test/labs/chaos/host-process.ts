/**
 * A host in its own process, to be killed: `host-process.ts <settings as JSON>` serves and delivers until it is
 * stopped, and ends with its parent process.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as v from 'valibot'
import { toNode } from '../../../src/adapters/node.ts'
import { appSecrets } from '../../../src/auth/index.ts'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { LeaseToken } from '../../../src/ports/dispatch-store.ts'
import type { SallyportStore } from '../../../src/ports/sallyport-store.ts'
import type { BullmqQueue } from '../../../src/queues/bullmq.ts'
import { systemClock } from '../../../src/runtime/system-clock.ts'
import {
  type AttemptName,
  DELAY_MS,
  type HostCommand,
  type HostMessage,
  type HostSettings,
  type SinkPost,
} from './host-settings.ts'
import { openStore } from './place-store.ts'

const settings: HostSettings = JSON.parse(process.argv[2] ?? '{}')
const { name, place, secret, sinkPort, worker, redisPort, isWorking = true, graceMs = 5_000 } = settings
let clockOffMs = settings.clockOffMs ?? 0
/** Fences by attempt, and attempts by fence. */
const fences = new Map<string, string>()
const attempts = new Map<string, number>()
/** The latest attempt of each delivery. */
const latest = new Map<string, number>()

const clock: Clock = { ...systemClock, now: () => Date.now() + clockOffMs }
/** Sends a message; resolves when it and all earlier ones are on their way. */
const report = (word: HostMessage): Promise<void> =>
  new Promise((resolve) => void process.send?.(word, undefined, undefined, () => resolve()))

/** Wraps a store so that it reports leases and settlements. */
function reportingStore(store: SallyportStore): SallyportStore {
  return {
    ...store,
    async claim(request) {
      const askedAt = Date.now()
      const claims = await store.claim(request)
      for (const { deliveryId, fence, attempts: attempt } of claims.deliveries) {
        fences.set(`${deliveryId} ${attempt}`, fence)
        attempts.set(`${deliveryId} ${fence}`, attempt)
        latest.set(deliveryId, attempt)
        report({ word: 'leased', deliveryId, attempt, askedAt, at: Date.now(), leaseMs: request.leaseMs })
      }
      return claims
    },
    async renew(lease, leaseMs) {
      const askedAt = Date.now()
      const isLive = await store.renew(lease, leaseMs)
      if (isLive) report({ word: 'leased', ...attemptOf(lease), askedAt, at: Date.now(), leaseMs })
      return isLive
    },
    async settle(settlement) {
      const settled = await store.settle(settlement)
      report({ word: 'settled', ...attemptOf(settlement), to: settlement.to, live: settled.live })
      return settled
    },
  }
}

function attemptOf({ deliveryId, fence }: LeaseToken): AttemptName {
  return { deliveryId, attempt: attempts.get(`${deliveryId} ${fence}`) ?? 0 }
}

const sink: Channel = {
  address: ({ email }) => email,
  // Many retries, so that no delivery fails on a slow machine.
  retrySchedule: [200, 400, 800, ...Array<number>(50).fill(1_600)],
  async send({ content }, { deliveryId, attempt, signal }) {
    const sending: SinkPost = {
      ...{ host: name, order: String(content.text), deliveryId, attempt },
      fence: fences.get(`${deliveryId} ${attempt}`) ?? '',
    }
    const body = JSON.stringify(sending)
    try {
      const { ok } = await fetch(`http://127.0.0.1:${sinkPort}`, { method: 'POST', body, signal })
      return ok ? { outcome: 'sent' } : { outcome: 'retry', code: 'refused' }
    } catch {
      return { outcome: 'unknown', code: 'no_answer' }
    }
  },
}

const fields = { text: ({ data }: { readonly data: { readonly order: string } }) => data.order }
const data = v.object({ order: v.string() })
const queue = redisPort === undefined ? undefined : await queueAt(redisPort)
const { store, close } = await openStore(place)
const sallyport = createSallyport({
  ...{ clock, worker, queue },
  auth: appSecrets([secret]),
  events: defineEvents({
    'order.shipped': { data, channels: { sink: fields } },
    'order.reminder': { data, delayMs: DELAY_MS, channels: { sink: fields } },
  }),
  store: reportingStore(store),
  channels: { sink },
  logger: {
    log(level, event, { deliveryId, attempt }) {
      if (level === 'info') return
      if (typeof deliveryId !== 'string') return void report({ word: 'logged', event })
      const last = latest.get(deliveryId) ?? 0
      report({ word: 'logged', event, deliveryId, attempt: typeof attempt === 'number' ? attempt : last })
    },
  },
})

async function queueAt(port: number): Promise<BullmqQueue> {
  const { bullmqQueue } = await import('../../../src/queues/bullmq.ts')
  return bullmqQueue({ connection: { host: '127.0.0.1', port }, logger: { log() {} } })
}

const server = createServer(toNode(sallyport)).listen(0, '127.0.0.1', () => {
  if (isWorking) sallyport.worker.start()
  report({ word: 'listening', port: (server.address() as AddressInfo).port })
})

process.on('message', (order: HostCommand) => {
  clockOffMs = order.clockOffMs
})
process.on('disconnect', () => process.exit())
process.on('SIGTERM', async () => {
  const closed = new Promise((resolve) => server.close(resolve))
  // Callers keep their connections open for the next post.
  const closing = setInterval(() => server.closeIdleConnections(), 20)
  await Promise.all([closed, sallyport.worker.stop({ graceMs })])
  clearInterval(closing)
  await queue?.close()
  await close()
  await report({ word: 'stopped' })
  process.exit()
})
