import type { AttemptEnd } from '../../../src/model/attempt.ts'
import type { Content, DeliveryReason, DeliveryStatus } from '../../../src/model/dispatch.ts'
import type { SendLimit } from '../../../src/ports/delivery-policy.ts'
import type {
  Acceptance,
  ClaimRequest,
  DispatchStore,
  NewDelivery,
  Settlement,
} from '../../../src/ports/dispatch-store.ts'

interface ModelDigest {
  readonly key: string
  readonly max: number
  events: string[]
  /** When it first opened; 0: not open yet. */
  opened: number
}

/** A delivery, as in the contract of the store. */
export interface ModelDelivery {
  readonly deliveryId: string
  readonly channel: string
  readonly concurrencyKey: string | undefined
  /** The limits that it is not yet counted under. */
  limits: readonly SendLimit[]
  readonly home: ModelDispatch
  status: DeliveryStatus
  reason: DeliveryReason | undefined
  attempts: number
  attemptsBefore: number
  /** The end of each attempt; `undefined` for a lost one. */
  log: (AttemptEnd | undefined)[]
  /** The due time of a `queued` delivery, or the end of the lease of a `sending` one. */
  wakeAt: number
  expiresAt: number
  fence: string | undefined
  readonly address: string | undefined
  content: Content | undefined
  digest: ModelDigest | undefined
  /** The dispatches whose cancellation is pending until the lease ends. */
  readonly cancelledBy: Set<string>
}

export interface ModelDispatch {
  readonly dispatchId: string
  readonly tenant: string
  readonly eventType: string
  readonly recipient: string
  readonly route: 'all' | 'first'
  deliveries: ModelDelivery[]
  /** The number of replans; absent when no host failure is left. */
  replans: number | undefined
}

type RetryOptions = Parameters<DispatchStore['retry']>[2]

/** A delivery that was counted under a limit. */
interface Admission {
  readonly tenant: string
  readonly key: string
  readonly at: number
}

/** A model of a dispatch store over plain arrays: slow and simple. */
export interface DeliveryModel {
  readonly dispatches: readonly ModelDispatch[]
  /** Each delivery once, also if it belongs to several dispatches. */
  deliveries(): readonly ModelDelivery[]
  find(deliveryId: string): ModelDelivery | undefined
  accept(acceptance: Acceptance): 'accepted' | 'replayed' | 'key_reused'
  /** Whether a claim may return this now. */
  isDue(delivery: ModelDelivery, request: ClaimRequest): boolean
  /** Whether any claim may report it as expired. */
  mayExpire(delivery: ModelDelivery): boolean
  /** Applies the pending cancellations after the end of a lease. */
  applyCancellations(delivery: ModelDelivery): void
  isExpired(delivery: ModelDelivery): boolean
  lease(delivery: ModelDelivery, fence: string, leaseMs: number): void
  expire(delivery: ModelDelivery): void
  isLive(deliveryId: string, fence: string): boolean
  renew(deliveryId: string, leaseMs: number): void
  settle(settlement: Settlement): void
  /** Returns the ids of the changed deliveries. */
  cancel(tenant: string, dispatchId: string): readonly string[] | undefined
  retry(tenant: string, dispatchId: string, options: RetryOptions): readonly string[] | undefined
  /** @param isStale Another replan came after the read. */
  replan(
    tenant: string,
    dispatchId: string,
    isStale: boolean,
    deliveries: readonly NewDelivery[],
    options: RetryOptions,
  ): readonly string[] | 'conflict' | undefined
}

/** Deliveries that failed in host code, before they had content. */
export function hostFailuresOf({ deliveries }: ModelDispatch): ModelDelivery[] {
  return deliveries.filter(
    ({ status, reason, content, digest }) =>
      status === 'failed' && reason === 'template_error' && content === undefined && digest === undefined,
  )
}

export function deliveryModel(now: () => number): DeliveryModel {
  const dispatches: ModelDispatch[] = []
  const admissions: Admission[] = []
  const keys: { tenant: string; key: string; fingerprint: string; forgetAt: number }[] = []

  /** Records of events that were cancelled out of a digest; they share the id of the digest. */
  const records = new Set<ModelDelivery>()
  const all = (): ModelDelivery[] =>
    dispatches.flatMap(({ deliveries }) => deliveries).filter((one) => !records.has(one))
  const find = (deliveryId: string): ModelDelivery | undefined => all().find((one) => one.deliveryId === deliveryId)

  function admit(delivery: ModelDelivery): boolean {
    const { limits, home } = delivery
    const { tenant } = home
    const used = ({ key, windowMs }: SendLimit): number =>
      admissions.filter((one) => one.tenant === tenant && one.key === key && one.at > now() - windowMs).length
    if (limits.some((limit) => used(limit) >= limit.max)) return false
    for (const { key } of limits) admissions.push({ tenant, key, at: now() })
    delivery.limits = []
    return true
  }

  function end(delivery: ModelDelivery, status: DeliveryStatus, reason?: DeliveryReason): void {
    delivery.status = status
    delivery.reason = reason
    delivery.fence = undefined
  }

  /** Queues a delivery, or skips it if its limits are spent; returns whether it was queued. */
  function queue(delivery: ModelDelivery, at: number): boolean {
    const admitted = admit(delivery)
    if (admitted) {
      delivery.status = 'queued'
      delivery.wakeAt = at
      if (delivery.digest?.opened === 0) delivery.digest.opened = now()
    } else end(delivery, 'skipped', 'throttled')
    return admitted
  }

  const heldOf = ({ deliveries }: ModelDispatch): ModelDelivery[] =>
    deliveries.filter(({ status }) => status === 'held')

  function promote(dispatch: ModelDispatch, dueAt: number): void {
    for (const held of heldOf(dispatch)) if (queue(held, dueAt)) return
  }

  function isOpen({ status, content, wakeAt, digest }: ModelDelivery): boolean {
    return status === 'queued' && !content && wakeAt > now() && !!digest && digest.events.length < digest.max
  }

  function openDigest({ tenant, eventType, recipient }: ModelDispatch, fresh: NewDelivery): ModelDelivery | undefined {
    if (fresh.status !== 'queued' || !fresh.digest) return undefined
    const { channel, digest } = fresh
    const open = all().filter(
      (one) =>
        isOpen(one) &&
        one.channel === channel &&
        one.address === fresh.address &&
        one.digest?.key === digest.key &&
        one.home.tenant === tenant &&
        one.home.eventType === eventType &&
        one.home.recipient === recipient,
    )
    return open.sort(byOpening)[0]
  }

  function rowOf(fresh: NewDelivery, home: ModelDispatch, expiresAt: number): ModelDelivery {
    const { deliveryId, channel, status, reason, address, content, concurrencyKey, limits = [], digest } = fresh
    const log: AttemptEnd[] = []
    return {
      ...{ deliveryId, channel, status, reason, address, content, concurrencyKey, limits, home, expiresAt, log },
      digest: digest && { key: digest.key, max: digest.max, events: [home.dispatchId], opened: 0 },
      attempts: 0,
      attemptsBefore: 0,
      wakeAt: 0,
      fence: undefined,
      cancelledBy: new Set(),
    }
  }

  /** Cancels a delivery for one of its dispatches, or records the request; returns whether it was cancelled. */
  function cancelFor(one: ModelDelivery, dispatch: ModelDispatch): boolean {
    const { dispatchId, deliveries } = dispatch
    const others = one.digest?.events.filter((event) => event !== dispatchId) ?? []
    if (one.digest && others.length > 0 && !one.content && one.status !== 'sending') {
      one.digest.events = others
      const left = { ...one.digest, events: [dispatchId] }
      const record: ModelDelivery = { ...one, status: 'cancelled', reason: undefined, log: [...one.log], digest: left }
      records.add(record)
      deliveries[deliveries.indexOf(one)] = record
      one.cancelledBy.delete(dispatchId)
      return true
    }
    one.cancelledBy.add(dispatchId)
    const owners = one.digest?.events ?? [one.home.dispatchId]
    if (one.status === 'sending' || !owners.every((owner) => one.cancelledBy.has(owner))) return false
    end(one, 'cancelled')
    return true
  }

  function applyCancellations(one: ModelDelivery): void {
    for (const dispatch of dispatches) if (one.cancelledBy.has(dispatch.dispatchId)) cancelFor(one, dispatch)
  }

  function join(home: ModelDispatch, fresh: NewDelivery, expiresInMs: number): ModelDelivery | undefined {
    const joined = openDigest(home, fresh)
    if (!joined) return undefined
    joined.digest?.events.push(home.dispatchId)
    joined.expiresAt = Math.max(joined.expiresAt, now() + (fresh.delayMs ?? 0) + expiresInMs)
    return joined
  }

  const isDecided = ({ route, deliveries }: ModelDispatch): boolean =>
    route === 'first' && deliveries.some(({ status }) => ['sent', 'queued', 'sending', 'held'].includes(status))

  /** Queues deliveries that have content, or holds them with the route `first`. */
  function requeue(
    { deliveries, route }: ModelDispatch,
    { channel, expiresInMs }: RetryOptions,
  ): readonly ModelDelivery[] {
    const again = deliveries.filter(
      (one) =>
        (one.status === 'failed' || one.status === 'expired') &&
        one.address !== undefined &&
        (one.content !== undefined || one.digest !== undefined) &&
        (channel === undefined || one.channel === channel),
    )
    for (const one of again) {
      end(one, 'held')
      one.expiresAt = now() + expiresInMs
      one.attemptsBefore = one.attempts
      one.cancelledBy.clear()
      if (route === 'all') queue(one, now())
    }
    return again
  }

  /** Returns the ids of the replacements. */
  function replace(home: ModelDispatch, fresh: readonly NewDelivery[], expiresInMs: number): readonly string[] {
    const dueAt = ({ delayMs = 0 }: NewDelivery): number => now() + delayMs
    const lastDue = Math.max(now(), ...fresh.filter(isQueued).map(dueAt))
    return fresh.map((one) => {
      const at = home.deliveries.findIndex(({ deliveryId }) => deliveryId === one.deliveryId)
      const joined = join(home, one, expiresInMs)
      const wakeAt = one.status === 'held' ? lastDue : dueAt(one)
      const row = joined ?? { ...rowOf(one, home, wakeAt + expiresInMs), wakeAt }
      home.deliveries[at] = row
      if (!joined && one.status === 'queued') {
        if (home.route === 'first') end(row, 'held')
        else queue(row, wakeAt)
      }
      return row.deliveryId
    })
  }

  function insert({ dispatch, expiresInMs }: Acceptance): void {
    const { dispatchId, tenant, eventType, recipient, route } = dispatch
    const replans = dispatch.source && 0
    const home: ModelDispatch = { dispatchId, tenant, eventType, recipient, route, deliveries: [], replans }
    const firstDue = Math.min(
      ...dispatch.deliveries.filter(isQueued).map(({ delayMs = 0 }) => delayMs),
      Number.MAX_VALUE,
    )
    let isThrottled = false
    for (const fresh of dispatch.deliveries) {
      const joined = join(home, fresh, expiresInMs)
      if (joined) {
        home.deliveries.push(joined)
        continue
      }
      const dueAt = now() + (fresh.status === 'held' ? firstDue : (fresh.delayMs ?? 0))
      const row = rowOf(fresh, home, dueAt + expiresInMs)
      home.deliveries.push(row)
      if (fresh.status === 'queued' && !queue(row, dueAt)) isThrottled = true
    }
    dispatches.push(home)
    if (isThrottled && route === 'first') promote(home, now() + firstDue)
  }

  return {
    dispatches,
    deliveries: () => [...new Set(all())],
    find,

    accept(acceptance) {
      const { dispatch, idempotency } = acceptance
      if (idempotency) {
        const { key, fingerprint, ttlMs } = idempotency
        const { tenant } = dispatch
        const kept = keys.find((one) => one.tenant === tenant && one.key === key && one.forgetAt > now())
        if (kept) return kept.fingerprint === fingerprint ? 'replayed' : 'key_reused'
        keys.push({ tenant, key, fingerprint, forgetAt: now() + ttlMs })
      }
      insert(acceptance)
      return 'accepted'
    },

    isDue({ status, wakeAt, channel, concurrencyKey, home }, { limits, busy, full = [] }) {
      if (full.some((one) => one.channel === channel && one.tenant === home.tenant)) return false
      const isBusy = busy.some(
        ({ tenant = home.tenant, ...one }) =>
          one.channel === channel && one.concurrencyKey === concurrencyKey && tenant === home.tenant,
      )
      const isWaiting = status === 'queued' || status === 'sending'
      return isWaiting && wakeAt <= now() && (limits[channel] ?? 0) > 0 && !isBusy
    },

    mayExpire: ({ status, wakeAt }) => (status === 'queued' || status === 'sending') && wakeAt <= now(),

    applyCancellations(delivery) {
      if (delivery.cancelledBy.size === 0) return
      end(delivery, 'queued')
      applyCancellations(delivery)
    },

    isExpired: ({ expiresAt }) => now() >= expiresAt,

    lease(delivery, fence, leaseMs) {
      delivery.status = 'sending'
      delivery.attempts += 1
      delivery.log.push(undefined)
      delivery.fence = fence
      delivery.wakeAt = now() + leaseMs
    },

    expire(delivery) {
      end(delivery, 'expired')
      for (const held of heldOf(delivery.home)) end(held, 'expired')
    },

    isLive(deliveryId, fence) {
      const found = find(deliveryId)
      return found?.status === 'sending' && found.fence === fence
    },

    renew(deliveryId, leaseMs) {
      const found = find(deliveryId)
      if (found) found.wakeAt = now() + leaseMs
    },

    settle(settlement) {
      const found = find(settlement.deliveryId)
      if (!found) return
      found.log.pop()
      if (settlement.attempt) found.log.push(settlement.attempt)
      else found.attempts -= 1
      switch (settlement.to) {
        case 'queued':
          end(found, 'queued')
          found.wakeAt = now() + settlement.delayMs
          if (settlement.content) found.content = settlement.content
          applyCancellations(found)
          return
        case 'sent':
          end(found, 'sent')
          for (const held of heldOf(found.home)) end(held, 'skipped', 'fallback_unneeded')
          return
        default:
          end(found, settlement.to, settlement.reason)
          promote(found.home, now())
      }
    },

    cancel(tenant, dispatchId) {
      const dispatch = dispatches.find((one) => one.dispatchId === dispatchId && one.tenant === tenant)
      if (!dispatch) return undefined
      const changed: string[] = []
      for (const one of [...dispatch.deliveries]) {
        const isOpen = one.status === 'queued' || one.status === 'held' || one.status === 'sending'
        if (isOpen && cancelFor(one, dispatch)) changed.push(one.deliveryId)
      }
      return changed
    },

    retry(tenant, dispatchId, options) {
      const dispatch = dispatches.find((one) => one.dispatchId === dispatchId && one.tenant === tenant)
      if (!dispatch) return undefined
      if (isDecided(dispatch)) return []
      const again = requeue(dispatch, options)
      promote(dispatch, now())
      return again.map(({ deliveryId }) => deliveryId)
    },

    replan(tenant, dispatchId, isStale, deliveries, options) {
      const dispatch = dispatches.find((one) => one.dispatchId === dispatchId && one.tenant === tenant)
      if (!dispatch) return undefined
      if (isStale || dispatch.replans === undefined) return 'conflict'
      if (isDecided(dispatch)) return []
      const again = requeue(dispatch, options)
      const replaced = replace(dispatch, deliveries, options.expiresInMs)
      const changed = new Set([...again.map(({ deliveryId }) => deliveryId), ...replaced])
      const [next] = heldOf(dispatch)
      promote(dispatch, next && replaced.includes(next.deliveryId) ? next.wakeAt : now())
      dispatch.replans = hostFailuresOf(dispatch).length > 0 ? dispatch.replans + 1 : undefined
      return dispatch.deliveries.map(({ deliveryId }) => deliveryId).filter((id) => changed.has(id))
    },
  }
}

/** Events join the digest that opened first; of two that opened together, the one with the lesser id. */
function byOpening(one: ModelDelivery, other: ModelDelivery): number {
  const before = (one.digest?.opened ?? 0) - (other.digest?.opened ?? 0)
  return before || (one.deliveryId < other.deliveryId ? -1 : 1)
}

function isQueued(fresh: NewDelivery): boolean {
  return fresh.status === 'queued'
}
