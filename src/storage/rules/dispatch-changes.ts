import type { DeliveryStatus } from '../../model/dispatch.ts'
import { isHostCodeReason } from '../../model/dispatch.ts'
import { copyJson } from '../../model/json.ts'
import type { Acceptance, DeliveryChange, NewDelivery, RetryRequest } from '../../ports/dispatch-store.ts'
import type { Replannable } from '../../ports/plan-source.ts'
import { changeOf } from './delivery-copies.ts'
import { type DeliveryPlaces, isOpenDelivery, type Transitions } from './delivery-transitions.ts'
import { type DeliveryRow, type DispatchRow, deliveryRows, dispatchRow } from './dispatch-rows.ts'

/** Makes the rows of a new dispatch, and admits those that are `queued`. `undefined`, and nothing is changed: its quota is spent. */
export function acceptDispatch(
  { dispatch: given, expiresInMs, quota }: Acceptance,
  now: number,
  places: DeliveryPlaces,
  moves: Transitions,
): DispatchRow | undefined {
  if (!moves.spend(given.tenant, quota, now)) return undefined
  const dispatch = dispatchRow(given, expiresInMs, now)
  const queued = dispatch.deliveries.filter(({ status }) => status === 'queued')
  admitDeliveries(dispatch, queued, now, places, moves)
  return dispatch
}

/**
 * Lets deliveries of a dispatch join the digests that are open for them; the others wait until they are due, or are throttled.
 * With the route `first`, the fallback of a throttled one is due when that one was to be.
 */
export function admitDeliveries(
  dispatch: DispatchRow,
  rows: readonly DeliveryRow[],
  now: number,
  places: DeliveryPlaces,
  moves: Transitions,
): void {
  const { deliveries, head } = dispatch
  for (const row of rows) {
    const open = places.openDigest(row, now)
    if (open) {
      open.digest?.events.push(...(row.digest?.events ?? []))
      open.expiresAt = Math.max(open.expiresAt, row.expiresAt)
      places.changed(open)
      deliveries[deliveries.indexOf(row)] = open
    } else if (!moves.admit(row, row.wakeAt, now) && head.route === 'first') moves.promote(dispatch, row.wakeAt, now)
  }
}

/** Cancels what is `queued` and `held`, and sees to it that what is `sending` is not queued again. Gives what changed. */
export function cancelDispatch(dispatch: DispatchRow, moves: Transitions): DeliveryChange[] {
  const changes: DeliveryChange[] = []
  for (const row of dispatch.deliveries) {
    const cancelled = moves.cancel(row, dispatch)
    if (cancelled) changes.push(changeOf(cancelled))
  }
  return changes
}

const SENT_OR_OPEN: readonly DeliveryStatus[] = ['sent', 'queued', 'sending', 'held']

/** Whether, with the route `first`, something of a dispatch is sent or may yet be: then the others are not wanted. */
export function hasItsOne({ head, deliveries }: DispatchRow): boolean {
  return head.route === 'first' && deliveries.some(({ status }) => SENT_OR_OPEN.includes(status))
}

/** Queues again what failed or expired, whoever asked for its end before. Limits are counted only where they have not been. */
export function requeueDispatch(
  dispatch: DispatchRow,
  options: RetryRequest,
  now: number,
  moves: Transitions,
): DeliveryChange[] {
  if (hasItsOne(dispatch)) return []
  const again = retryDeliveries(dispatch, options, now, moves)
  if (dispatch.head.route === 'first') moves.promote(dispatch, now, now)
  return again.map(changeOf)
}

/** Queues what can be retried, or holds it with the route `first`. Gives what that was. */
export function retryDeliveries(
  { head, deliveries }: DispatchRow,
  { channel, expiresInMs }: RetryRequest,
  now: number,
  moves: Transitions,
): readonly DeliveryRow[] {
  const again = deliveries.filter((row) => isRetriable(row) && (channel === undefined || row.channel === channel))
  for (const row of again) {
    row.attemptsBefore = row.attempts
    row.expiresAt = now + expiresInMs
    row.cancelledBy = undefined
    if (head.route === 'first') moves.hold(row)
    else moves.admit(row, now, now)
  }
  return again
}

function isRetriable({ status, address, content, digest }: DeliveryRow): boolean {
  if (status !== 'failed' && status !== 'expired') return false
  return address !== undefined && (content !== undefined || digest !== undefined)
}

/** What takes the place of deliveries that failed in host code. */
export interface Replan extends RetryRequest {
  /** Of the plan that was read. */
  readonly version: number
  readonly deliveries: readonly NewDelivery[]
}

/** What a dispatch can be planned again from, as a host gets it. */
export function readReplannable(dispatch: DispatchRow, now: number): Replannable | undefined {
  const { head, plan } = dispatch
  const failed = hostCodeFailures(dispatch).map(({ deliveryId, channel }) => ({ deliveryId, channel }))
  if (!plan || failed.length === 0) return undefined
  const { source, version } = plan
  return { dispatch: { ...head }, failed, source: copyJson(source), version, waitedMs: now - head.createdAt }
}

/**
 * Puts planned deliveries in the place of those that failed in host code, and retries the others. Gives what changed;
 * `undefined`, and nothing is changed: the plan has another version, or one of them is not to be replaced.
 */
export function replanDispatch(
  dispatch: DispatchRow,
  { version, deliveries, ...options }: Replan,
  now: number,
  places: DeliveryPlaces,
  moves: Transitions,
): DeliveryChange[] | undefined {
  const { plan, head } = dispatch
  const replaced = replaceable(dispatch, deliveries)
  if (plan?.version !== version || !replaced) return undefined
  if (hasItsOne(dispatch)) return []
  const again = retryDeliveries(dispatch, options, now, moves)
  const rows = deliveryRows(deliveries, dispatch, options.expiresInMs, now)
  const planned = rows.map((row, at) => replace(replaced[at] ?? row, row))
  const changed = new Set([...planned, ...again].map((row) => dispatch.deliveries.indexOf(row)))
  if (head.route === 'first') promoteFirst(dispatch, planned, now, moves)
  else {
    const queued = planned.filter((_, at) => deliveries[at]?.status === 'queued')
    admitDeliveries(dispatch, queued, now, places, moves)
  }
  dispatch.plan = hasHostCodeFailure(dispatch) ? { source: plan.source, version: version + 1 } : undefined
  return dispatch.deliveries.filter((_, at) => changed.has(at)).map(changeOf)
}

/** Whether a delivery of it failed in the host's own code. */
function hasHostCodeFailure(dispatch: DispatchRow): boolean {
  return hostCodeFailures(dispatch).length > 0
}

/** What failed in the host's own code, before there was anything to send. */
function hostCodeFailures({ deliveries }: DispatchRow): DeliveryRow[] {
  return deliveries.filter(({ status, reason, content, digest }) => {
    return status === 'failed' && isHostCodeReason(reason) && content === undefined && digest === undefined
  })
}

/** The rows that these are to replace, in their order; `undefined`: one of them replaces none. */
function replaceable(dispatch: DispatchRow, deliveries: readonly NewDelivery[]): readonly DeliveryRow[] | undefined {
  const failed = hostCodeFailures(dispatch)
  const rows = deliveries.flatMap(({ deliveryId, channel }) => {
    return failed.find((row) => row.deliveryId === deliveryId && row.channel === channel) ?? []
  })
  return new Set(rows).size === deliveries.length ? rows : undefined
}

/**
 * The row stays the same object. What is to be queued is held until it is admitted, so that it does not join its own digest. With
 * the route `first` it may have to wait for others, and the policy is then asked again.
 */
function replace(row: DeliveryRow, planned: DeliveryRow): DeliveryRow {
  const isWaiting = planned.status === 'queued' || planned.status === 'held'
  const mayWaitLonger = isWaiting && planned.dispatch.head.route === 'first'
  return Object.assign(row, planned, isWaiting && { status: 'held' }, mayWaitLonger && { deferred: true })
}

/** The first that waits is due when it was planned to be, or now where it is retried. */
function promoteFirst(dispatch: DispatchRow, planned: readonly DeliveryRow[], now: number, moves: Transitions): void {
  const next = dispatch.deliveries.find(({ status }) => status === 'held')
  moves.promote(dispatch, next && planned.includes(next) ? next.wakeAt : now, now)
}

/** Whether something of it may yet be sent. */
export function isOpenDispatch({ deliveries }: DispatchRow): boolean {
  return deliveries.some(({ status }) => isOpenDelivery(status))
}

/** Takes a dispatch of which nothing is open out of the digests that it shares with others: these keep the rest. */
export function leaveDigests(dispatch: DispatchRow): void {
  for (const row of dispatch.deliveries) {
    const others = row.digest?.events.filter((event) => event.dispatch !== dispatch) ?? []
    if (!row.digest || !others[0]) continue
    row.digest.events = others
    row.dispatch = others[0].dispatch
    row.cancelledBy?.delete(dispatch)
  }
}
