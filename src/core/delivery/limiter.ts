import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedDelivery, ClaimRequest } from '../../ports/dispatch-store.ts'
import type { ChannelLimits, WorkerOptions } from './worker-options.ts'

/** Where one message is being sent. */
export interface Slot {
  /** It is being sent now: from here it counts against the rate. */
  begin(): void
  /** It has been sent, or has not. */
  leave(): void
}

/** The free places of a worker. */
export interface Limiter {
  /** What may be claimed now. A channel that has no free place is not named. */
  request(): Pick<ClaimRequest, 'limits' | 'busy'>
  /** Asks for nothing of the channels that have a place, but that their rate keeps from sending now: only when it is due. */
  heldUp(): Pick<ClaimRequest, 'limits' | 'busy'>
  /** A place for a delivery, or `undefined` when its channel or its receiver has none. */
  take(claimed: Pick<ClaimedDelivery, 'channel' | 'concurrencyKey'>): Slot | undefined
  /** Milliseconds until a rate lets a channel send that it keeps from sending now; `undefined`: there is none. */
  freeInMs(): number | undefined
}

/** One channel's places. */
interface ReceiverQueue {
  readonly concurrency: number
  readonly perReceiver: number
  readonly rate: ChannelLimits['rate']
  taken: number
  /** Taken, but not begun: they will count against the rate. */
  waiting: number
  /** When those sends were begun that still count against the rate, oldest first. */
  readonly begun: number[]
  /** Places that are taken, by receiver. */
  readonly receivers: Map<string, number>
  /** Receivers of which more came than there were places, and whether fewer were asked for since. */
  readonly crowded: Map<string, boolean>
}

export function createLimiter(
  channels: Readonly<Record<string, Channel>>,
  options: WorkerOptions,
  clock: Pick<Clock, 'now'>,
): Limiter {
  const queues = new Map(Object.entries(channels).map(([name, channel]) => [name, queueOf(name, channel, options)]))

  return {
    request() {
      const limits: Record<string, number> = {}
      const busy: { channel: string; concurrencyKey: string }[] = []
      for (const [channel, queue] of queues) {
        const free = Math.min(queue.concurrency - queue.taken, freeByRate(queue, clock.now()))
        if (free <= 0) continue
        limits[channel] = Math.min(free, placesOfCrowded(queue))
        for (const [concurrencyKey, taken] of queue.receivers) {
          if (taken >= queue.perReceiver) busy.push({ channel, concurrencyKey })
        }
      }
      return { limits, busy }
    },

    take({ channel, concurrencyKey: key }) {
      const queue = queues.get(channel)
      if (!queue || queue.taken >= queue.concurrency || freeByRate(queue, clock.now()) <= 0) return undefined
      const isFull = key !== undefined && placesOf(queue, key) <= 0
      if (key !== undefined && (isFull || queue.crowded.has(key))) queue.crowded.set(key, false)
      return isFull ? undefined : slotIn(queue, key, clock)
    },

    heldUp() {
      const held = [...queues].filter(([, queue]) => freeByRateInMs(queue, clock.now()) !== undefined)
      return { limits: Object.fromEntries(held.map(([channel]) => [channel, 0])), busy: [] }
    },

    freeInMs() {
      const waits = [...queues.values()].map((queue) => freeByRateInMs(queue, clock.now()))
      const soonest = Math.min(...waits.filter((wait) => wait !== undefined))
      return soonest < Number.POSITIVE_INFINITY ? soonest : undefined
    },
  }
}

function queueOf(name: string, { concurrencyKey }: Channel, options: WorkerOptions): ReceiverQueue {
  const own = options.channels?.[name]
  const concurrency = own?.concurrency ?? options.concurrency ?? 10
  const perReceiver = own?.perReceiver ?? options.perReceiver ?? Math.max(1, Math.floor(concurrency / 5))
  return {
    concurrency,
    perReceiver: concurrencyKey ? perReceiver : Number.POSITIVE_INFINITY,
    rate: own?.rate ?? options.rate,
    taken: 0,
    waiting: 0,
    begun: [],
    receivers: new Map(),
    crowded: new Map(),
  }
}

function slotIn(queue: ReceiverQueue, key: string | undefined, clock: Pick<Clock, 'now'>): Slot {
  let state: 'waiting' | 'begun' | 'left' = 'waiting'
  queue.taken++
  queue.waiting++
  if (key !== undefined) queue.receivers.set(key, (queue.receivers.get(key) ?? 0) + 1)
  return {
    begin() {
      if (state !== 'waiting') return
      state = 'begun'
      queue.waiting--
      if (queue.rate) queue.begun.push(clock.now())
    },
    leave() {
      if (state === 'left') return
      if (state === 'waiting') queue.waiting--
      state = 'left'
      queue.taken--
      const left = key === undefined ? 0 : (queue.receivers.get(key) ?? 0) - 1
      if (key !== undefined && left > 0) queue.receivers.set(key, left)
      else if (key !== undefined) queue.receivers.delete(key)
    },
  }
}

function placesOf({ perReceiver, receivers }: ReceiverQueue, key: string): number {
  return perReceiver - (receivers.get(key) ?? 0)
}

/**
 * With much queued for one receiver, a claim of every free place brings mostly what must be put back. So no more is asked for
 * than such receivers have places, as long as that brings some of theirs.
 */
function placesOfCrowded(queue: ReceiverQueue): number {
  let places = 0
  for (const [key, wasAsked] of [...queue.crowded]) {
    if (placesOf(queue, key) <= 0) continue
    if (wasAsked) queue.crowded.delete(key)
    else {
      queue.crowded.set(key, true)
      places += placesOf(queue, key)
    }
  }
  return places || Number.POSITIVE_INFINITY
}

/** How many more sends the rate lets begin now, those included that have a place and have not begun. */
function freeByRate({ rate, begun, waiting }: ReceiverQueue, now: number): number {
  if (!rate) return Number.POSITIVE_INFINITY
  while (begun[0] !== undefined && begun[0] <= now - rate.perMs) begun.shift()
  return rate.max - begun.length - waiting
}

/** Milliseconds until the rate lets one send begin for which there is a place; `undefined`: that is not what keeps it. */
function freeByRateInMs({ rate, begun, waiting, taken, concurrency }: ReceiverQueue, now: number): number | undefined {
  const [oldest] = begun
  if (!rate || oldest === undefined || taken >= concurrency || begun.length + waiting < rate.max) return undefined
  return Math.max(0, oldest + rate.perMs - now)
}
