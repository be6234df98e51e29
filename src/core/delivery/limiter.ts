import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedDelivery, ClaimRequest } from '../../ports/dispatch-store.ts'
import type { ChannelLimits, WorkerOptions } from './worker-options.ts'

/** The permit to send one message. */
export interface Slot {
  /** Starts the send: from here it counts against the rate limit. */
  begin(): void
  /** Frees the slot. Further calls do nothing. */
  leave(): void
}

/** The concurrency and rate limits of a worker: a semaphore for each channel and receiver, and a sliding window for each channel. */
export interface Limiter {
  /** Limits of a claim now. Channels without a free slot are left out. */
  request(): Pick<ClaimRequest, 'limits' | 'busy'>
  /** Limits of a claim that takes nothing, for the channels that only their rate limit holds back: its answer says when they are due. */
  rateLimited(): Pick<ClaimRequest, 'limits' | 'busy'>
  /** Takes a slot for a delivery; `undefined` when its channel or its receiver has none free. */
  take(claimed: Pick<ClaimedDelivery, 'channel' | 'concurrencyKey'>): Slot | undefined
  /** Milliseconds until a rate limit allows another send; `undefined`: no rate limit holds one back. */
  freeInMs(): number | undefined
}

/** The state of one channel. */
interface ChannelState {
  readonly concurrency: number
  readonly perReceiver: number
  readonly rate: ChannelLimits['rate']
  /** Slots taken. */
  taken: number
  /** Slots taken whose send has not begun: they will count against the rate limit. */
  waiting: number
  /** Times of the sends that count against the rate limit, oldest first. */
  readonly begun: number[]
  /** Slots taken, by receiver. */
  readonly receivers: Map<string, number>
  /** Receivers with more claimed deliveries than slots; the value says whether a claim was reduced for them since. */
  readonly crowded: Map<string, boolean>
}

export function createLimiter(
  channels: Readonly<Record<string, Channel>>,
  options: WorkerOptions,
  clock: Pick<Clock, 'now'>,
): Limiter {
  const states = new Map(Object.entries(channels).map(([name, channel]) => [name, stateOf(name, channel, options)]))

  return {
    request() {
      const limits: Record<string, number> = {}
      const busy: { channel: string; concurrencyKey: string }[] = []
      for (const [channel, state] of states) {
        const free = Math.min(state.concurrency - state.taken, freeByRate(state, clock.now()))
        if (free <= 0) continue
        limits[channel] = Math.min(free, slotsOfCrowded(state))
        for (const [concurrencyKey, taken] of state.receivers) {
          if (taken >= state.perReceiver) busy.push({ channel, concurrencyKey })
        }
      }
      return { limits, busy }
    },

    take({ channel, concurrencyKey: key }) {
      const state = states.get(channel)
      if (!state || state.taken >= state.concurrency || freeByRate(state, clock.now()) <= 0) return undefined
      const isFull = key !== undefined && freeOf(state, key) <= 0
      if (key !== undefined && (isFull || state.crowded.has(key))) state.crowded.set(key, false)
      return isFull ? undefined : takeSlot(state, key, clock)
    },

    rateLimited() {
      const limited = [...states].filter(([, state]) => freeByRateInMs(state, clock.now()) !== undefined)
      return { limits: Object.fromEntries(limited.map(([channel]) => [channel, 0])), busy: [] }
    },

    freeInMs() {
      const waits = [...states.values()].map((state) => freeByRateInMs(state, clock.now()))
      const soonest = Math.min(...waits.filter((wait) => wait !== undefined))
      return soonest < Number.POSITIVE_INFINITY ? soonest : undefined
    },
  }
}

function stateOf(name: string, { concurrencyKey }: Channel, options: WorkerOptions): ChannelState {
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

function takeSlot(state: ChannelState, key: string | undefined, clock: Pick<Clock, 'now'>): Slot {
  let phase: 'waiting' | 'begun' | 'left' = 'waiting'
  state.taken++
  state.waiting++
  if (key !== undefined) state.receivers.set(key, (state.receivers.get(key) ?? 0) + 1)
  return {
    begin() {
      if (phase !== 'waiting') return
      phase = 'begun'
      state.waiting--
      if (state.rate) state.begun.push(clock.now())
    },
    leave() {
      if (phase === 'left') return
      if (phase === 'waiting') state.waiting--
      phase = 'left'
      state.taken--
      const left = key === undefined ? 0 : (state.receivers.get(key) ?? 0) - 1
      if (key !== undefined && left > 0) state.receivers.set(key, left)
      else if (key !== undefined) state.receivers.delete(key)
    },
  }
}

function freeOf({ perReceiver, receivers }: ChannelState, key: string): number {
  return perReceiver - (receivers.get(key) ?? 0)
}

/**
 * The free slots of crowded receivers, as a limit of the next claim. With many deliveries queued for one receiver, a claim for every
 * free slot brings mostly deliveries that must be queued again. So the claim is limited while it still brings deliveries of such
 * receivers.
 */
function slotsOfCrowded(state: ChannelState): number {
  let slots = 0
  for (const [key, wasReduced] of [...state.crowded]) {
    if (freeOf(state, key) <= 0) continue
    if (wasReduced) state.crowded.delete(key)
    else {
      state.crowded.set(key, true)
      slots += freeOf(state, key)
    }
  }
  return slots || Number.POSITIVE_INFINITY
}

/** Sends that the rate limit allows now, less the slots whose send has not begun. */
function freeByRate({ rate, begun, waiting }: ChannelState, now: number): number {
  if (!rate) return Number.POSITIVE_INFINITY
  while (begun[0] !== undefined && begun[0] <= now - rate.perMs) begun.shift()
  return rate.max - begun.length - waiting
}

/** Milliseconds until the rate limit allows a send that has a free slot; `undefined`: the rate limit does not hold one back. */
function freeByRateInMs({ rate, begun, waiting, taken, concurrency }: ChannelState, now: number): number | undefined {
  const [oldest] = begun
  if (!rate || oldest === undefined || taken >= concurrency || begun.length + waiting < rate.max) return undefined
  return Math.max(0, oldest + rate.perMs - now)
}
