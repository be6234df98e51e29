import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedDelivery, ClaimRequest } from '../../ports/dispatch-store.ts'
import type { ChannelLimits, WorkerOptions } from './worker-options.ts'

export interface Slot {
  /** Starts the send: from now on it counts against the rate limit. */
  begin(): void
  /** Frees the slot. Further calls do nothing. */
  leave(): void
}

/** A send that takes longer lends its slot to other tenants, while its tenant holds more than its share. */
const LENT_AFTER_MS = 1_000

/** Limits of a worker: a semaphore for each channel and receiver, and a sliding window for each channel. */
export interface Limiter {
  /** Limits of a claim now. Channels without a free slot are left out; lent slots are for tenants below their share. */
  request(): Pick<ClaimRequest, 'limits' | 'busy' | 'full'>
  /** Limits of a claim that leases nothing, for channels that wait only for their rate limit: it returns when they are due. */
  rateLimited(): Pick<ClaimRequest, 'limits' | 'busy'>
  /** Takes a slot for a delivery; `undefined` when its channel, its tenant or its receiver has none free. */
  take(claimed: Pick<ClaimedDelivery, 'channel' | 'concurrencyKey'>, tenant: string): Slot | undefined
  /** Milliseconds until a rate limit allows another send, or until a slot is lent; `undefined`: no send waits for either. */
  freeInMs(): number | undefined
}

interface ChannelState {
  readonly concurrency: number
  readonly perReceiver: number
  readonly rate: ChannelLimits['rate']
  taken: number
  /** Slots taken by each tenant, with their times. */
  readonly tenants: Map<string, Set<{ readonly takenAt: number }>>
  /** Slots taken whose send has not begun: they will count against the rate limit. */
  waiting: number
  /** Times of the sends that count against the rate limit, oldest first. */
  readonly begun: number[]
  readonly receivers: Map<string, number>
  /** Receivers with more claimed deliveries than slots; the value is true if a claim was reduced for them since. */
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
      const full: { channel: string; tenant: string }[] = []
      for (const [channel, state] of states) {
        const now = clock.now()
        const isLent = state.taken >= state.concurrency
        const slots = isLent ? Math.min(freeOfLent(state, now), shareAmong(state, 1)) : state.concurrency - state.taken
        const free = Math.min(slots, freeByRate(state, now))
        if (free <= 0) continue
        if (isLent) full.push(...fullTenants(state).map((tenant) => ({ channel, tenant })))
        limits[channel] = Math.min(free, slotsOfCrowded(state))
        for (const [concurrencyKey, taken] of state.receivers) {
          if (taken >= state.perReceiver) busy.push({ channel, concurrencyKey })
        }
      }
      return { limits, busy, ...(full.length > 0 && { full }) }
    },

    take({ channel, concurrencyKey: key }, tenant) {
      const state = states.get(channel)
      if (!state || !hasFree(state, tenant, clock.now()) || freeByRate(state, clock.now()) <= 0) return undefined
      const isFull = key !== undefined && freeOf(state, key) <= 0
      if (key !== undefined && (isFull || state.crowded.has(key))) state.crowded.set(key, false)
      return isFull ? undefined : takeSlot(state, key, tenant, clock)
    },

    rateLimited() {
      const limited = [...states].filter(([, state]) => freeByRateInMs(state, clock.now()) !== undefined)
      return { limits: Object.fromEntries(limited.map(([channel]) => [channel, 0])), busy: [] }
    },

    freeInMs() {
      const waits = [...states.values()].flatMap((state) => [
        freeByRateInMs(state, clock.now()),
        lentInMs(state, clock.now()),
      ])
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
    tenants: new Map(),
    waiting: 0,
    begun: [],
    receivers: new Map(),
    crowded: new Map(),
  }
}

function takeSlot(state: ChannelState, key: string | undefined, tenant: string, clock: Pick<Clock, 'now'>): Slot {
  const own = { takenAt: clock.now() }
  const held = state.tenants.get(tenant) ?? new Set()
  state.tenants.set(tenant, held.add(own))
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
      if (held.delete(own) && held.size === 0) state.tenants.delete(tenant)
      const left = key === undefined ? 0 : (state.receivers.get(key) ?? 0) - 1
      if (key !== undefined && left > 0) state.receivers.set(key, left)
      else if (key !== undefined) state.receivers.delete(key)
    },
  }
}

function freeOf({ perReceiver, receivers }: ChannelState, key: string): number {
  return perReceiver - (receivers.get(key) ?? 0)
}

/** Equal share of the slots of a channel, for tenants that hold some and `more` others. */
function shareAmong({ concurrency, tenants }: ChannelState, more: number): number {
  return Math.max(1, Math.floor(concurrency / Math.max(1, tenants.size + more)))
}

function fullTenants(state: ChannelState): readonly string[] {
  const share = shareAmong(state, 0)
  return [...state.tenants].filter(([, held]) => held.size >= share).map(([tenant]) => tenant)
}

/** Slots that are lent and free. Each tenant lends those of its long sends that it holds beyond its share. */
function freeOfLent(state: ChannelState, now: number): number {
  const share = shareAmong(state, 1)
  let lent = 0
  for (const held of state.tenants.values()) {
    let long = 0
    for (const { takenAt } of held) if (now - takenAt >= LENT_AFTER_MS) long++
    lent += Math.max(0, Math.min(long, held.size - share))
  }
  return state.concurrency + Math.min(lent, state.concurrency) - state.taken
}

function hasFree(state: ChannelState, tenant: string, now: number): boolean {
  const { taken, concurrency, tenants } = state
  if (taken < concurrency) return true
  const held = tenants.get(tenant)?.size ?? 0
  return held < shareAmong(state, held === 0 ? 1 : 0) && freeOfLent(state, now) > 0
}

/** Milliseconds until the oldest slot of a full channel is long enough taken to be lent. */
function lentInMs(state: ChannelState, now: number): number | undefined {
  if (state.taken < state.concurrency) return undefined
  const share = shareAmong(state, 1)
  let soonest = Number.POSITIVE_INFINITY
  for (const held of state.tenants.values()) {
    if (held.size <= share) continue
    for (const { takenAt } of held) {
      const leftMs = takenAt + LENT_AFTER_MS - now
      if (leftMs > 0) soonest = Math.min(soonest, leftMs)
    }
  }
  return soonest < Number.POSITIVE_INFINITY ? soonest : undefined
}

/** Limits the next claim while claims return more deliveries of one receiver than it has slots: most would be queued again. */
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

function freeByRate({ rate, begun, waiting }: ChannelState, now: number): number {
  if (!rate) return Number.POSITIVE_INFINITY
  while (begun[0] !== undefined && begun[0] <= now - rate.perMs) begun.shift()
  return rate.max - begun.length - waiting
}

function freeByRateInMs({ rate, begun, waiting, taken, concurrency }: ChannelState, now: number): number | undefined {
  const [oldest] = begun
  if (!rate || oldest === undefined || taken >= concurrency || begun.length + waiting < rate.max) return undefined
  return Math.max(0, oldest + rate.perMs - now)
}
