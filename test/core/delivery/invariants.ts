import type { Delivery, DeliveryStatus } from '../../../src/model/dispatch.ts'
import type { DeliveryChange } from '../../../src/model/dispatch-results.ts'
import type { SendLimit } from '../../../src/ports/delivery-policy.ts'
import type { ClaimedDelivery } from '../../../src/ports/dispatch-store.ts'
import type { Operation } from './operations.ts'
import { isSame, type Seen, type Snapshot } from './snapshot.ts'

/** Throws with the name of a broken invariant. */
export function hold(invariant: string, holds: boolean, detail: () => unknown): void {
  if (!holds) throw new Error(`broken: ${invariant}\n${JSON.stringify(detail(), undefined, 1)}`)
}

type Moves = Partial<Record<DeliveryStatus, readonly DeliveryStatus[]>>

/** The state diagram: allowed changes of status by operation. A reclaimed lease stays `sending`. */
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

/** Checks the deliveries, by id, before and after one operation. */
export function checkStep(
  before: ReadonlyMap<string, Seen>,
  after: ReadonlyMap<string, Seen>,
  operation: Operation,
): void {
  const isUntried = operation.do === 'settle' && operation.ending.attempt === undefined
  for (const [id, { delivery: old }] of before) {
    const fresh = after.get(id)?.delivery
    const reported = (): object => ({ id, operation, old, fresh })
    hold('no accepted delivery is lost', fresh !== undefined, reported)
    if (!fresh) continue
    const isAllowed =
      old.status === fresh.status || DIAGRAM[operation.do]?.[old.status]?.includes(fresh.status) === true
    hold('a status changes only along the diagram', isAllowed, reported)
    const isRetried = operation.do === 'retry' || operation.do === 'replan'
    hold('a final delivery changes only by a retry', !isFinal(old) || isRetried || isSame(old, fresh), reported)
    const isSameMessage =
      old.content === undefined || isSame([old.content, old.address], [fresh.content, fresh.address])
    hold('content and address never change', isSameMessage, reported)
    hold('attempts decrease only when none was made', fresh.attempts >= old.attempts - (isUntried ? 1 : 0), reported)
    const isClaimed = old.status !== 'sending' && fresh.status === 'sending'
    hold('an attempt is counted at the claim', !isClaimed || fresh.attempts === old.attempts + 1, reported)
  }
}

/** Checks that hold at any time. */
export function checkStanding(snapshot: Snapshot): void {
  for (const { route, deliveries } of snapshot) {
    const count = (...of: readonly DeliveryStatus[]): number =>
      deliveries.filter(({ status }) => of.includes(status)).length
    const isFirst = route === 'first'
    hold('the route first sends at most one delivery', !isFirst || count('sent') <= 1, () => deliveries)
    hold('the route first has at most one open delivery', !isFirst || count('queued', 'sending') <= 1, () => deliveries)
    hold(
      'a held delivery waits for an open one',
      count('held') === 0 || count('queued', 'sending') === 1,
      () => deliveries,
    )
    for (const delivery of deliveries) {
      const { attempts, attemptLog, status, dueAt } = delivery
      hold('each attempt is in the log', attemptLog.length === attempts, () => delivery)
      hold('only a queued delivery has a due time', (status === 'queued') === (dueAt !== undefined), () => delivery)
    }
  }
}

/** Checks the result of a claim. `leaseEnds`: the end of each earlier lease, by delivery. */
export function checkClaimed(
  before: Snapshot,
  claimed: readonly ClaimedDelivery[],
  leaseEnds: ReadonlyMap<string, number>,
  now: number,
): void {
  const ids = claimed.map(({ deliveryId }) => deliveryId)
  hold('a claim has no delivery twice', new Set(ids).size === ids.length, () => ids)
  for (const one of claimed) {
    const olds = before
      .flatMap(({ deliveries }) => deliveries)
      .filter(({ deliveryId }) => deliveryId === one.deliveryId)
    // A cancelled event of a digest has its own record under the same id; it does not count.
    const old = olds.find(({ status }) => status !== 'cancelled') ?? olds[0]
    const leaseEnd = leaseEnds.get(one.deliveryId) ?? Number.POSITIVE_INFINITY
    const reported = (): object => ({ old, one, leaseEnd, now })
    hold('no sent delivery is claimed', old?.status !== 'sent', reported)
    hold('no final delivery is claimed', old !== undefined && !isFinal(old), reported)
    hold('no held delivery is claimed', old?.status !== 'held', reported)
    hold(
      'no delivery is claimed before it is due',
      old?.status !== 'queued' || (old.dueAt ?? Number.NaN) <= now,
      reported,
    )
    hold(
      'a delivery is reclaimed only after its lease has ended',
      old?.status !== 'sending' || leaseEnd <= now,
      reported,
    )
    hold('no expired delivery is claimed', one.expiresInMs > 0, reported)
  }
}

/** Compares the reported changes with the real ones. `isOwn`: deliveries that the report leaves out. */
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
  const [real, listed] = [sorted(changes.values()), sorted(plain)]
  hold(`${what} reports exactly what it changed`, isSame(real, listed), () => ({ real, listed }))
}

/** An event of a digest. */
export interface DigestedOn {
  readonly dispatchId: string
  readonly channel: string
}

/** Checks that every digest event is in exactly one delivery. */
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
    hold('a digest counts exactly its events', delivery.eventCount === own, () => ({ delivery, own }))
  }
}

/** A delivery that was counted under a limit. */
export interface Admission {
  readonly tenant: string
  readonly limit: SendLimit
  readonly at: number
}

export function checkLimits(admissions: readonly Admission[]): void {
  for (const { tenant, limit, at } of admissions) {
    const isUnder = (one: Admission): boolean => one.tenant === tenant && one.limit.key === limit.key
    const within = admissions.filter((one) => isUnder(one) && one.at >= at && one.at < at + limit.windowMs)
    hold('no window of a limit has more than max deliveries', within.length <= limit.max, () => ({ limit, within }))
  }
}
