/**
 * The rules of deliveries as pure functions, for a store of your own.
 *
 * @module sallyport/storage/rules
 */
export { dayOf } from './model/day.ts'
export { statusOfDispatch } from './model/dispatch-status.ts'
export { MAX_RUNS_ABOVE } from './model/run-tree-limit.ts'
export { acceptDispatch } from './storage/deliveries/accept-dispatch.ts'
export { beginAttempt } from './storage/deliveries/attempt-log.ts'
export { cancelDispatch, retryDispatch } from './storage/deliveries/change-dispatch.ts'
export { claimedDelivery, readDispatch } from './storage/deliveries/delivery-copies.ts'
export { type Ended, type Places, type Transitions, transitions } from './storage/deliveries/delivery-transitions.ts'
export { digestKey, isOpenDigest } from './storage/deliveries/digest-key.ts'
export {
  type AttemptRow,
  type DeliveryRow,
  type DigestEvent,
  type DigestRow,
  type DispatchRow,
  dispatchRow,
  ownersOf,
  type PlanRow,
} from './storage/deliveries/dispatch-rows.ts'
export { type Expired, expireDelivery } from './storage/deliveries/expire-delivery.ts'
export { isOpenDispatch, leaveDigests } from './storage/deliveries/remove-dispatch.ts'
export { type Replan, readReplannable, replanDispatch } from './storage/deliveries/replan-dispatch.ts'
export { type Counter, type Counters, type SendLimits, sendLimits } from './storage/deliveries/send-limits.ts'
export { settleDelivery } from './storage/deliveries/settle-delivery.ts'
