import type { DeliveryStatus } from '../../model/dispatch.ts'
import { isHostCodeReason } from '../../model/dispatch.ts'
import type { DeliveryChange } from '../../model/dispatch-results.ts'
import { copyJson } from '../../model/json.ts'
import type { Acceptance, NewDelivery, NewDispatch, RetryRequest } from '../../ports/dispatch-store.ts'
import type { Replannable } from '../../ports/plan-source.ts'
import { type DeliveryIndex, isOpenDelivery, type Transitions } from './delivery-transitions.ts'
import { joinDigest, leaveDigest } from './digests.ts'
import { changeOf, type DeliveryRow, type DispatchRow, deliveryRows, dispatchRow } from './dispatch-rows.ts'

/** Creates the rows of a new dispatch and admits the `queued` ones. Returns `undefined` and changes nothing if a quota is spent. */
export function acceptDispatch(
  { dispatch: given, expiresInMs, quotas }: Acceptance,
  now: number,
  index: DeliveryIndex,
  transitions: Transitions,
): DispatchRow | undefined {
  if (!transitions.spend(given.tenant, quotas, now)) return undefined
  const dispatch = dispatchRow(given, expiresInMs, now)
  const queued = dispatch.deliveries.filter(({ status }) => status === 'queued')
  admitDeliveries(dispatch, queued, now, index, transitions)
  return dispatch
}

/** Adds deliveries to open digests and admits the others. With the route `first`, a fallback is due like its throttled delivery. */
function admitDeliveries(
  dispatch: DispatchRow,
  rows: readonly DeliveryRow[],
  now: number,
  index: DeliveryIndex,
  transitions: Transitions,
): void {
  const { deliveries, head } = dispatch
  for (const row of rows) {
    const open = index.openDigest(row, now)
    if (open?.digest && row.digest) {
      joinDigest(open, open.digest, row, row.digest)
      index.resize(open)
      deliveries[deliveries.indexOf(row)] = open
    } else if (!transitions.admit(row, row.wakeAt, now) && head.route === 'first')
      transitions.promote(dispatch, row.wakeAt, now)
  }
}

/** Whether two of its deliveries have the same id. */
export function repeatsDelivery({ deliveries }: Pick<NewDispatch, 'deliveries'>): boolean {
  return new Set(deliveries.map(({ deliveryId }) => deliveryId)).size < deliveries.length
}

/** Cancels `queued` and `held` deliveries. A `sending` delivery is not queued again. Returns the changes. */
export function cancelDispatch(dispatch: DispatchRow, transitions: Transitions): DeliveryChange[] {
  const changes: DeliveryChange[] = []
  for (const row of dispatch.deliveries) {
    const cancelled = transitions.cancel(row, dispatch)
    if (cancelled) changes.push(changeOf(cancelled))
  }
  return changes
}

/**
 * Continues a dispatch with the route `first` after the bounce of a delivery. Fallbacks that were not needed wait again, and the first one
 * whose limits are not spent is queued. Once: nothing changes if a later delivery has been tried or may be. Returns the changes. The bounce
 * of an attempt that is under way is kept for its settlement.
 */
export function fallBackDispatch(
  dispatch: DispatchRow,
  deliveryId: string,
  now: number,
  transitions: Transitions,
): DeliveryChange[] {
  const { head, deliveries } = dispatch
  const at = deliveries.findIndex((row) => row.deliveryId === deliveryId)
  const bounced = deliveries[at]
  if (!bounced || head.route !== 'first') return []
  const following = deliveries.slice(at + 1)
  if (bounced.status === 'sending' && following.some(({ status }) => status === 'held')) {
    bounced.bouncedAttempt = bounced.attempts
    return []
  }
  if (bounced.status !== 'sent' || following.some(({ status }) => status !== 'skipped')) return []
  const waiting = following.filter(
    (row) => row.reason === 'fallback_unneeded' && isSendable(row) && row.expiresAt > now,
  )
  for (const row of waiting) transitions.hold(row)
  transitions.promote(dispatch, now, now)
  return waiting.map(changeOf)
}

const SENT_OR_OPEN: readonly DeliveryStatus[] = ['sent', 'queued', 'sending', 'held']

function isFirstRouteServed({ head, deliveries }: DispatchRow): boolean {
  return head.route === 'first' && deliveries.some(({ status }) => SENT_OR_OPEN.includes(status))
}

/** Queues failed and expired deliveries again and drops their cancellation requests. Counts only limits that are not counted yet. */
export function requeueDispatch(
  dispatch: DispatchRow,
  options: RetryRequest,
  now: number,
  transitions: Transitions,
): DeliveryChange[] {
  if (isFirstRouteServed(dispatch)) return []
  const retried = retryDeliveries(dispatch, options, now, transitions)
  if (dispatch.head.route === 'first') transitions.promote(dispatch, now, now)
  return retried.map(changeOf)
}

function retryDeliveries(
  { head, deliveries }: DispatchRow,
  { channel, expiresInMs }: RetryRequest,
  now: number,
  transitions: Transitions,
): readonly DeliveryRow[] {
  const retried = deliveries.filter((row) => isRetriable(row) && (channel === undefined || row.channel === channel))
  for (const row of retried) {
    row.attemptsBefore = row.attempts
    row.expiresAt = now + expiresInMs
    row.cancelledBy = undefined
    if (head.route === 'first') transitions.hold(row)
    else transitions.admit(row, now, now)
  }
  return retried
}

function isRetriable(row: DeliveryRow): boolean {
  return (row.status === 'failed' || row.status === 'expired') && isSendable(row)
}

function isSendable({ address, content, digest }: DeliveryRow): boolean {
  return address !== undefined && (content !== undefined || digest !== undefined)
}

/** New deliveries that replace those that failed in host code. */
export interface Replan extends RetryRequest {
  /** Version of the plan that was read. */
  readonly version: number
  readonly deliveries: readonly NewDelivery[]
}

/** A copy of a dispatch's plan for the host; `undefined` if nothing can be planned again. */
export function readReplannable(dispatch: DispatchRow, now: number): Replannable | undefined {
  const { head, plan } = dispatch
  const failed = hostCodeFailures(dispatch).map(({ deliveryId, channel }) => ({ deliveryId, channel }))
  if (!plan || failed.length === 0) return undefined
  const { source, version } = plan
  return { dispatch: { ...head }, failed, source: copyJson(source), version, waitedMs: now - head.createdAt }
}

/**
 * Replaces deliveries that failed in host code by planned ones and retries the others. Returns the changes. Returns `undefined` and
 * changes nothing if the plan has another version or a planned delivery replaces none.
 */
export function replanDispatch(
  dispatch: DispatchRow,
  { version, deliveries, ...options }: Replan,
  now: number,
  index: DeliveryIndex,
  transitions: Transitions,
): DeliveryChange[] | undefined {
  const { plan, head } = dispatch
  const replaced = replacedRows(dispatch, deliveries)
  if (plan?.version !== version || !replaced) return undefined
  if (isFirstRouteServed(dispatch)) return []
  const retried = retryDeliveries(dispatch, options, now, transitions)
  const rows = deliveryRows(deliveries, dispatch, options.expiresInMs, now)
  const planned = rows.map((row, at) => replaceRow(replaced[at] ?? row, row))
  const changed = new Set([...planned, ...retried].map((row) => dispatch.deliveries.indexOf(row)))
  if (head.route === 'first') {
    const next = dispatch.deliveries.find(({ status }) => status === 'held')
    // A planned delivery keeps its planned time; a retried one is due now.
    transitions.promote(dispatch, next && planned.includes(next) ? next.wakeAt : now, now)
  } else {
    const queued = planned.filter((_, at) => deliveries[at]?.status === 'queued')
    admitDeliveries(dispatch, queued, now, index, transitions)
  }
  const isReplannable = hostCodeFailures(dispatch).length > 0
  dispatch.plan = isReplannable ? { source: plan.source, version: version + 1 } : undefined
  return dispatch.deliveries.filter((_, at) => changed.has(at)).map(changeOf)
}

/** Deliveries that failed in host code before they had content. */
function hostCodeFailures({ deliveries }: DispatchRow): DeliveryRow[] {
  return deliveries.filter(({ status, reason, content, digest }) => {
    return status === 'failed' && isHostCodeReason(reason) && content === undefined && digest === undefined
  })
}

/** Rows that new deliveries replace, in the same order; `undefined` if one replaces none. */
function replacedRows(dispatch: DispatchRow, deliveries: readonly NewDelivery[]): readonly DeliveryRow[] | undefined {
  const failed = hostCodeFailures(dispatch)
  const rows = deliveries.flatMap(({ deliveryId, channel }) => {
    return failed.find((row) => row.deliveryId === deliveryId && row.channel === channel) ?? []
  })
  return new Set(rows).size === deliveries.length ? rows : undefined
}

/**
 * Writes a planned row over the failed one and keeps the object. A planned `queued` row is held until it is admitted, so that it does not
 * join its own digest. With the route `first` it may wait for other channels: `deferred` makes the policy decide again when it is sent.
 */
function replaceRow(row: DeliveryRow, planned: DeliveryRow): DeliveryRow {
  const isWaiting = planned.status === 'queued' || planned.status === 'held'
  const mayWaitLonger = isWaiting && planned.dispatch.head.route === 'first'
  return Object.assign(row, planned, isWaiting && { status: 'held' }, mayWaitLonger && { deferred: true })
}

/** Whether a delivery of the dispatch may still be sent. */
export function isOpenDispatch({ deliveries }: DispatchRow): boolean {
  return deliveries.some(({ status }) => isOpenDelivery(status))
}

/** Removes the events of an ended dispatch from digests that it shares with other dispatches. */
export function leaveDigests(dispatch: DispatchRow): void {
  for (const row of dispatch.deliveries) {
    if (row.digest) leaveDigest(row, row.digest, dispatch)
  }
}
