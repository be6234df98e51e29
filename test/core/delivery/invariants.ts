import type { Delivery, DeliveryStatus } from '../../../src/model/dispatch.ts'
import type { SendLimit } from '../../../src/ports/delivery-policy.ts'
import type { ClaimedDelivery, DeliveryChange } from '../../../src/ports/dispatch-store.ts'
import type { Operation } from './operations.ts'
import { isSame, type Seen, type Snapshot } from './snapshot.ts'

/** Fails the run under the name of what was broken. */
export function hold(invariant: string, holds: boolean, detail: () => unknown): void {
  if (!holds) throw new Error(`broken: ${invariant}\n${JSON.stringify(detail(), undefined, 1)}`)
}

type Moves = Partial<Record<DeliveryStatus, readonly DeliveryStatus[]>>

/** The diagram: from which status to which, and by what. A lease that is handed on stays `sending`. */
const DIAGRAM: Partial<Record<Operation['do'], Moves>> = {
  claim: { queued: ['sending', 'expired'], sending: ['expired', 'cancelled'], held: ['expired'] },
  settle: { sending: ['sent', 'queued', 'failed', 'skipped', 'cancelled'], held: ['queued', 'skipped'] },
  cancel: { queued: ['cancelled'], held: ['cancelled'] },
  retry: { failed: ['queued', 'held', 'skipped'], expired: ['queued', 'held', 'skipped'] },
  replan: { failed: ['queued', 'held', 'skipped'], expired: ['queued', 'held', 'skipped'] },
}

const FINAL: readonly DeliveryStatus[] = ['sent', 'failed', 'skipped', 'cancelled', 'expired']

export function isFinal({ status }: Pick<Delivery, 'status'>): boolean {
  return FINAL.includes(status)
}

/** What holds between two moments with one operation between them. `before` and `after` give what is there by its id. */
export function checkStep(
  before: ReadonlyMap<string, Seen>,
  after: ReadonlyMap<string, Seen>,
  operation: Operation,
): void {
  const isUntried = operation.do === 'settle' && operation.ending.attempt === undefined
  for (const [id, { delivery: old }] of before) {
    const fresh = after.get(id)?.delivery
    const reported = (): object => ({ id, operation, old, fresh })
    hold('nothing that was accepted is lost', fresh !== undefined, reported)
    if (!fresh) continue
    const isAllowed =
      old.status === fresh.status || DIAGRAM[operation.do]?.[old.status]?.includes(fresh.status) === true
    hold('a status changes only along the diagram', isAllowed, reported)
    const isRetried = operation.do === 'retry' || operation.do === 'replan'
    hold('what is final changes only by a retry', !isFinal(old) || isRetried || isSame(old, fresh), reported)
    const isSaid = old.content === undefined || isSame([old.content, old.address], [fresh.content, fresh.address])
    hold('what is said, and to whom, never changes', isSaid, reported)
    hold('attempts shrink only when nothing was tried', fresh.attempts >= old.attempts - (isUntried ? 1 : 0), reported)
    const isClaimed = old.status !== 'sending' && fresh.status === 'sending'
    hold('an attempt is counted at the claim', !isClaimed || fresh.attempts === old.attempts + 1, reported)
  }
}

/** What holds at every moment. */
export function checkStanding(snapshot: Snapshot): void {
  for (const { route, deliveries } of snapshot) {
    const count = (...of: readonly DeliveryStatus[]): number =>
      deliveries.filter(({ status }) => of.includes(status)).length
    const isFirst = route === 'first'
    hold('of a route first no two are sent', !isFirst || count('sent') <= 1, () => deliveries)
    hold('of a route first no two are open', !isFirst || count('queued', 'sending') <= 1, () => deliveries)
    hold('what is held waits for something', count('held') === 0 || count('queued', 'sending') === 1, () => deliveries)
    for (const delivery of deliveries) {
      const { attempts, attemptLog, status, dueAt } = delivery
      hold('each attempt is in the log', attemptLog.length === attempts, () => delivery)
      hold('what is queued has its time', (status === 'queued') === (dueAt !== undefined), () => delivery)
    }
  }
}

/** What holds of what a claim hands out. `leaseEnds`: when the leases end that there were, by delivery. */
export function checkClaimed(
  before: Snapshot,
  claimed: readonly ClaimedDelivery[],
  leaseEnds: ReadonlyMap<string, number>,
  now: number,
): void {
  const ids = claimed.map(({ deliveryId }) => deliveryId)
  hold('nothing is claimed twice at once', new Set(ids).size === ids.length, () => ids)
  for (const one of claimed) {
    const olds = before
      .flatMap(({ deliveries }) => deliveries)
      .filter(({ deliveryId }) => deliveryId === one.deliveryId)
    // An event that was taken out of a digest has a record of its own under the same id: those of the others count.
    const old = olds.find(({ status }) => status !== 'cancelled') ?? olds[0]
    const leaseEnd = leaseEnds.get(one.deliveryId) ?? Number.POSITIVE_INFINITY
    const reported = (): object => ({ old, one, leaseEnd, now })
    hold('nothing is claimed after it was sent', old?.status !== 'sent', reported)
    hold('nothing final is claimed', old !== undefined && !isFinal(old), reported)
    hold('what is held is not claimed', old?.status !== 'held', reported)
    hold('nothing is claimed before it is due', old?.status !== 'queued' || (old.dueAt ?? Number.NaN) <= now, reported)
    hold('a lease is handed on only when it has ended', old?.status !== 'sending' || leaseEnd <= now, reported)
    hold('nothing is claimed past its expiry', one.expiresInMs > 0, reported)
  }
}

/** Compares what a call said that it changed with what changed. `own`: the delivery that the call was about, which it leaves out. */
export function checkReport(
  what: string,
  before: ReadonlyMap<string, Seen>,
  after: ReadonlyMap<string, Seen>,
  reported: readonly DeliveryChange[],
  isOwn: (delivery: Delivery) => boolean = () => false,
): void {
  const changes = new Map<string, DeliveryChange>()
  for (const [id, { delivery }] of after) {
    const { deliveryId, channel, status, reason, attempts } = delivery
    if (before.get(id)?.delivery.status === status || isOwn(delivery)) continue
    changes.set(deliveryId, { deliveryId, channel, status, ...(reason !== undefined && { reason }), attempts })
  }
  const sorted = (list: Iterable<DeliveryChange>): unknown =>
    [...list].sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1))
  const plain = reported.map(({ deliveryId, channel, status, reason, attempts }) => {
    return { deliveryId, channel, status, ...(reason !== undefined && { reason }), attempts }
  })
  const [real, said] = [sorted(changes.values()), sorted(plain)]
  hold(`${what} reports exactly what it changed`, isSame(real, said), () => ({ real, said }))
}

/** An event that was to be digested. */
export interface DigestedOn {
  readonly dispatchId: string
  readonly channel: string
}

/** Every event that is to go out in a digest is in one delivery, once. */
export function checkDigests(seen: ReadonlyMap<string, Seen>, events: readonly DigestedOn[]): void {
  const shared = new Map<string, { readonly delivery: Delivery; events: number }>()
  for (const { dispatchId, channel } of events) {
    const delivery = seen.get(`${dispatchId}/${channel}`)?.delivery
    hold('a digested event is in a delivery', delivery?.eventCount !== undefined, () => ({ dispatchId, delivery }))
    if (!delivery || delivery.status === 'cancelled') continue
    const found = shared.get(delivery.deliveryId) ?? { delivery, events: 0 }
    hold('a digest is the same in each of its dispatches', isSame(found.delivery, delivery), () => ({
      found,
      delivery,
    }))
    shared.set(delivery.deliveryId, { ...found, events: found.events + 1 })
  }
  for (const { delivery, events: own } of shared.values()) {
    hold('a digest holds just the events that are in it', delivery.eventCount === own, () => ({ delivery, own }))
  }
}

/** When something was let out under a limit. */
export interface LetOut {
  readonly tenant: string
  readonly limit: SendLimit
  readonly at: number
}

export function checkLimits(letOut: readonly LetOut[]): void {
  for (const { tenant, limit, at } of letOut) {
    const isUnder = (one: LetOut): boolean => one.tenant === tenant && one.limit.key === limit.key
    const within = letOut.filter((one) => isUnder(one) && one.at >= at && one.at < at + limit.windowMs)
    hold('no more than max go out in any window', within.length <= limit.max, () => ({ limit, within }))
  }
}
