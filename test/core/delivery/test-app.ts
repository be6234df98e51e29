import { createWorker, type Worker, type WorkerOptions } from '../../../src/core/delivery/worker.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchDeps } from '../../../src/core/dispatch/handle-dispatch.ts'
import type { Channel, SendOutcome } from '../../../src/ports/channel.ts'
import type { DeliveryQueue } from '../../../src/ports/delivery-queue.ts'
import type { ClaimRequest, DispatchStore } from '../../../src/ports/dispatch-store.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { localQueue } from '../../../src/queues/local.ts'
import { type TestDeps, testDeps } from '../../support/deps.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'
import { accepted, type Gate, gate, stored } from '../dispatch/dispatching.ts'
import * as attempting from './attempting.ts'

export const BODY = { eventType: 'e', recipient: 'jane@example.com' }
export const SENT: SendOutcome = { outcome: 'sent' }

/** One event, `e`, on channel `a`. */
const events: EventCatalog = defineEvents({ e: { channels: { a: {} } } })

export interface TestApp {
  readonly deps: TestDeps & { readonly queue: DeliveryQueue }
  readonly worker: Worker
  /** What the worker asked the store for. */
  readonly claims: readonly ClaimRequest[]
}

/** A worker over one store, whose claims are noted and whose methods may be replaced. */
export function app(
  channels: Readonly<Record<string, Channel>>,
  { store: change, ...options }: WorkerOptions & { store?: (real: DispatchStore) => Partial<DispatchStore> } = {},
  rest: Partial<DispatchDeps> = {},
): TestApp {
  const base = testDeps(channels, { events, ...rest })
  const queue = localQueue(base.clock)
  const claims: ClaimRequest[] = []
  const changed = { ...base.store, ...change?.(base.store) }
  const store = {
    ...changed,
    claim: (request: ClaimRequest) => {
      claims.push(request)
      return changed.claim(request)
    },
  }
  const deps = { ...base, queue }
  return { deps, worker: createWorker({ ...deps, store }, options), claims }
}

/** Lets everything happen that happens without the clock moving on. */
export function settled({ deps }: TestApp): Promise<void> {
  return attempting.settled(deps.clock)
}

/** Moves the clock on, step by step, and lets everything happen on the way. */
export function pass({ deps }: TestApp, ms: number, step?: number): Promise<void> {
  return attempting.pass(deps.clock, ms, step)
}

export interface Gated {
  readonly channel: RecordingChannel
  readonly gates: readonly Gate<SendOutcome>[]
  readonly most: () => number
  readonly open: () => number
}

/** A channel that sends when its gates are opened, and counts how many messages it has in hand. */
export function gated(rest: Partial<Channel> = {}): Gated {
  const gates: Gate<SendOutcome>[] = []
  let most = 0
  let open = 0
  const channel = recordingChannel(
    [
      async () => {
        const next = gate<SendOutcome>()
        gates.push(next)
        most = Math.max(most, ++open)
        return next.promise.finally(() => open--)
      },
    ],
    rest,
  )
  return { channel, gates, most: () => most, open: () => open }
}

export async function acceptMany(deps: TestDeps, count: number, body: object = BODY): Promise<void> {
  for (let at = 0; at < count; at++) await accepted(deps, body)
}

/** How many deliveries there are of each status. */
export async function totals(deps: TestDeps): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { deliveries } of await stored(deps)) {
    for (const { status } of deliveries) counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

/** Mail to one address is one receiver. */
export const byAddress: Pick<Channel, 'concurrencyKey'> = { concurrencyKey: (address) => address }
