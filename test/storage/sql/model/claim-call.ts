import type { ClaimedDelivery, ClaimRequest, Claims } from '../../../../src/ports/dispatch-store.ts'
import { type Expired, expireDelivery } from '../../../../src/storage/rules/delivery-transitions.ts'
import { beginAttempt, claimedDelivery, type DeliveryRow } from '../../../../src/storage/rules/dispatch-rows.ts'
import { type Call, type Checking, expectSame, Mismatch } from './calls.ts'
import type { DispatchModel } from './dispatch-model.ts'

/**
 * A claim may choose among the due deliveries: the model leases those that the store did, if it was allowed to. Alone, the claim must also
 * take the urgent ones first, and the oldest of each tenant, up to its limits, and name an instant that is not too late.
 */
export function claim(request: ClaimRequest): Call {
  return {
    ...{ name: 'claim', given: request },
    run: (store) => store.claim(request),
    check: (answer, on) => follow(request, answer as Claims, on),
  }
}

async function follow(request: ClaimRequest, claims: Claims, on: Checking): Promise<void> {
  const { model, now, isPaired } = on
  const dueAt = new Map(model.deliveries().map((row) => [row, row.wakeAt]))
  const due = model.deliveries().filter((row) => isDue(row, request, now))
  expire(claims.expired, model, now)
  const interrupted = await applyCancellations(due, claims, on)
  const taken = claims.deliveries.map((one) => lease(one, due, interrupted, request, on))
  const left = due.filter((row) => !taken.includes(row) && isWaiting(row) && row.expiresAt > now)
  for (const [channel, limit] of Object.entries(request.limits)) {
    const own = taken.filter((row) => row.channel === channel)
    if (own.length > limit) throw new Mismatch(`a claim exceeds the limit of ${channel}`)
    if (isPaired) continue
    const unleased = left.filter((row) => row.channel === channel && !interrupted.has(row))
    const isShared = request.full?.some((one) => one.channel === channel) ?? false
    const isPartial = isShared || interrupted.size > 0
    const isCut = claims.nextDueInMs === 0 && (isPartial || claims.expired.length > 0)
    if (own.length < limit && unleased.length > 0 && !isCut)
      throw new Mismatch(`due deliveries of ${channel} are left: ${ids(unleased)}`)
    checkOldestFirst(own, unleased, dueAt, isShared)
  }
  if (!isPaired) checkNextDue(claims, request, on)
}

function isWaiting({ status }: DeliveryRow): boolean {
  return status === 'queued' || status === 'sending'
}

function isLeftOut({ channel, concurrencyKey, dispatch }: DeliveryRow, { busy, full = [] }: ClaimRequest): boolean {
  const { tenant } = dispatch.head
  const isBusy = busy.some(
    (one) => one.channel === channel && one.concurrencyKey === concurrencyKey && (one.tenant ?? tenant) === tenant,
  )
  return isBusy || full.some((one) => one.channel === channel && one.tenant === tenant)
}

function isDue(row: DeliveryRow, request: ClaimRequest, now: number): boolean {
  return isWaiting(row) && row.wakeAt <= now && (request.limits[row.channel] ?? 0) > 0 && !isLeftOut(row, request)
}

/** Ends those that the claim reports, each with the held deliveries of its dispatches. */
function expire(reported: Claims['expired'], model: DispatchModel, now: number): void {
  const expected: Expired[] = []
  for (const { deliveryId } of reported) {
    const row = model.deliveries().find((one) => one.deliveryId === deliveryId && one.slot >= 0)
    if (!row) continue
    if (row.wakeAt > now || row.expiresAt > now) throw new Mismatch(`${deliveryId} expired early`)
    expected.push(...expireDelivery(row, model.transitions))
  }
  const sorted = (list: readonly Expired[]): readonly Expired[] =>
    list.toSorted((one, other) => (one.deliveryId < other.deliveryId ? -1 : 1))
  expectSame('the expired deliveries', sorted(reported), sorted(expected))
}

/** A cancellation was requested while a worker held the lease, which has ended: some claim applies it. Returns those that were found. */
async function applyCancellations(
  due: readonly DeliveryRow[],
  { deliveries }: Claims,
  { model, seen }: Checking,
): Promise<ReadonlySet<DeliveryRow>> {
  const found = new Set<DeliveryRow>()
  for (const row of due) {
    if (row.status !== 'sending' || !row.cancelledBy?.size) continue
    const { tenant, dispatchId } = row.dispatch.head
    const isClaimed = deliveries.some(({ deliveryId }) => deliveryId === row.deliveryId)
    const stored = (await seen(tenant, dispatchId))?.deliveries.find((one) => one.deliveryId === row.deliveryId)
    found.add(row)
    if (isClaimed || stored?.status !== 'sending') model.transitions.queue(row, row.wakeAt)
  }
  return found
}

function lease(
  one: ClaimedDelivery,
  due: readonly DeliveryRow[],
  interrupted: ReadonlySet<DeliveryRow>,
  { leaseMs }: ClaimRequest,
  { model, now }: Checking,
): DeliveryRow {
  const row = due.find(({ deliveryId }) => deliveryId === one.deliveryId)
  if (!row || !isWaiting(row) || row.expiresAt <= now) throw new Mismatch(`${one.deliveryId} was not to be claimed`)
  if (model.leased(one)) throw new Mismatch(`the fence ${one.fence} was used before`)
  const wasSending = row.status === 'sending' || (interrupted.has(row) && one.reclaimed === true)
  model.transitions.lease(row, one.fence, now + leaseMs)
  beginAttempt(row, now)
  expectSame('a claimed delivery', one, claimedDelivery(row, one.fence, now, wasSending))
  return row
}

/** @param isShared Of a channel with tenants at their share, a claim may not find all tenants with urgent deliveries. */
function checkOldestFirst(
  taken: readonly DeliveryRow[],
  left: readonly DeliveryRow[],
  dueAt: ReadonlyMap<DeliveryRow, number>,
  isShared: boolean,
): void {
  for (const row of left) {
    const isAfter = (one: DeliveryRow): boolean => {
      if (one.priority !== row.priority) return !isShared && one.priority > row.priority
      return one.dispatch.head.tenant === row.dispatch.head.tenant && (dueAt.get(one) ?? 0) > row.wakeAt
    }
    if (taken.some(isAfter)) throw new Mismatch(`a claim passed ${row.deliveryId}, which was due before`)
  }
}

/** It may be too early, but not later than the first delivery that the next claim could lease. */
function checkNextDue({ deliveries, nextDueInMs }: Claims, request: ClaimRequest, { model, now }: Checking): void {
  const isNext = (row: DeliveryRow): boolean => {
    const given = deliveries.filter(({ channel }) => channel === row.channel).length
    return isWaiting(row) && given < (request.limits[row.channel] ?? 0) && !isLeftOut(row, request)
  }
  const next = model.deliveries().filter(isNext)
  const earliest = Math.min(...next.map(({ wakeAt }) => Math.max(0, wakeAt - now)), Number.POSITIVE_INFINITY)
  const named = nextDueInMs ?? Number.POSITIVE_INFINITY
  if (named > earliest) throw new Mismatch(`nextDueInMs is ${named}, but the next delivery is due in ${earliest}`)
}

function ids(rows: readonly DeliveryRow[]): string {
  return rows.map(({ deliveryId }) => deliveryId).join(', ')
}
