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
  /** The claims of the worker. */
  readonly claims: readonly ClaimRequest[]
}

/** A worker over one store that records claims; its methods may be replaced. */
export function app(
  channels: Readonly<Record<string, Channel>>,
  { store: change, ...options }: WorkerOptions & { store?: (real: DispatchStore) => Partial<DispatchStore> } = {},
  rest: Partial<DispatchDeps> = {},
): TestApp {
  const base = testDeps(channels, { events, ...rest })
  const queue = rest.queue ?? localQueue(base.clock)
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

/** Runs all work that needs no advance of the clock. */
export function settled({ deps }: TestApp): Promise<void> {
  return attempting.settled(deps.clock)
}

/** Advances the clock in steps and runs all work in between. */
export function pass({ deps }: TestApp, ms: number, step?: number): Promise<void> {
  return attempting.pass(deps.clock, ms, step)
}

export interface Gated {
  readonly channel: RecordingChannel
  readonly gates: readonly Gate<SendOutcome>[]
  readonly most: () => number
  readonly open: () => number
}

/** A channel that sends when its gates open, and counts the messages in flight. */
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

/** The number of deliveries by status. */
export async function totals(deps: TestDeps): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { deliveries } of await stored(deps)) {
    for (const { status } of deliveries) counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

/** Each address is its own receiver. */
export const byAddress: Pick<Channel, 'concurrencyKey'> = { concurrencyKey: (address) => address }

/** A stop of a worker that may not have ended. */
export interface Stop {
  isStopped(): boolean
  readonly ended: Promise<void>
}

/** Stops the worker of an app. */
export function stopping({ worker }: TestApp, graceMs?: number): Stop {
  let isStopped = false
  const ended = worker.stop(graceMs === undefined ? {} : { graceMs }).then(() => {
    isStopped = true
  })
  return { isStopped: () => isStopped, ended }
}
