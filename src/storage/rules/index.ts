/**
 * The rules of deliveries as pure functions, for a store of your own.
 *
 * @module sallyport/storage/rules
 */
export { dayOf } from '../../model/day.ts'
export { statusOfDispatch } from '../../model/dispatch.ts'
export { MAX_RUNS_ABOVE } from '../../model/run-tree-limit.ts'
export { claimedDelivery, readDispatch } from './delivery-copies.ts'
export {
  type DeliveryPlaces,
  type EndedDelivery,
  type Expired,
  expireDelivery,
  settleDelivery,
  type Transitions,
  transitions,
} from './delivery-transitions.ts'
export {
  acceptDispatch,
  cancelDispatch,
  isOpenDispatch,
  leaveDigests,
  type Replan,
  readReplannable,
  replanDispatch,
  requeueDispatch,
} from './dispatch-changes.ts'
export {
  type AttemptRow,
  beginAttempt,
  type DeliveryRow,
  type DigestEvent,
  type DigestRow,
  type DispatchRow,
  digestKey,
  dispatchRow,
  isOpenDigest,
  ownersOf,
  type PlanRow,
} from './dispatch-rows.ts'
export { type Counter, type Counters, type SendLimits, sendLimits } from './send-limits.ts'
