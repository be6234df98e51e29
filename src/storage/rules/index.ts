/**
 * Rules of deliveries and arithmetic of sums as pure functions, for a store of your own.
 * @module sallyport/storage/rules
 */
export { dayOf } from '../../model/day.ts'
export { statusOfDispatch } from '../../model/dispatch.ts'
export { MAX_ANCESTORS } from '../../model/run-tree-limit.ts'
export { addSpend, addTotals, noSpend, noTotals } from '../../model/totals.ts'
export { CLAIM_PRIORITIES, type ClaimPriority, type ClaimQueue, claimPriority, queueKey } from './claim-priority.ts'
export {
  type Counter,
  type Counters,
  type DeliveryIndex,
  deliveryTransitions,
  type EndedDelivery,
  type Expired,
  expireDelivery,
  type SendLimits,
  sendLimits,
  settleDelivery,
  type Transitions,
} from './delivery-transitions.ts'
export { digestKey, isOpenDigest, openedBefore } from './digests.ts'
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
  claimedDelivery,
  type DeliveryRow,
  type DigestEvent,
  type DigestRow,
  type DispatchRow,
  dispatchRow,
  ownersOf,
  type PlanRow,
  readDispatch,
} from './dispatch-rows.ts'
export { countedParent, isOfUser, parentsOf, removeUser } from './run-rules.ts'
