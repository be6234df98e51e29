/**
 * The rules of deliveries as pure functions, for a store of your own.
 *
 * @module sallyport/storage/rules
 */
export { dayOf } from '../../model/day.ts'
export { statusOfDispatch } from '../../model/dispatch.ts'
export { MAX_RUNS_ABOVE } from '../../model/run-tree-limit.ts'
export { acceptDispatch } from './accept-dispatch.ts'
export { beginAttempt } from './attempt-log.ts'
export { cancelDispatch, requeueDispatch } from './change-dispatch.ts'
export { claimedDelivery, readDispatch } from './delivery-copies.ts'
export { type DeliveryPlaces, type EndedDelivery, type Transitions, transitions } from './delivery-transitions.ts'
export { digestKey, isOpenDigest } from './digest-key.ts'
export {
  type AttemptRow,
  type DeliveryRow,
  type DigestEvent,
  type DigestRow,
  type DispatchRow,
  dispatchRow,
  ownersOf,
  type PlanRow,
} from './dispatch-rows.ts'
export { type Expired, expireDelivery } from './expire-delivery.ts'
export { isOpenDispatch, leaveDigests } from './remove-dispatch.ts'
export { type Replan, readReplannable, replanDispatch } from './replan-dispatch.ts'
export { type Counter, type Counters, type SendLimits, sendLimits } from './send-limits.ts'
export { settleDelivery } from './settle-delivery.ts'
