import { isHostCodeReason } from '../../model/dispatch.ts'
import { copyJson } from '../../model/json.ts'
import type { DeliveryChange, NewDelivery, RetryRequest } from '../../ports/dispatch-store.ts'
import type { Replannable } from '../../ports/plan-source.ts'
import { admitDeliveries } from './accept-dispatch.ts'
import { hasItsOne, retryDeliveries } from './change-dispatch.ts'
import { changeOf } from './delivery-copies.ts'
import type { DeliveryPlaces, Transitions } from './delivery-transitions.ts'
import { type DeliveryRow, type DispatchRow, deliveryRows } from './dispatch-rows.ts'

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
