import type { DeliveryModel, ModelDelivery } from './delivery-model.ts'
import { hold } from './invariants.ts'
import { isSame, type Snapshot } from './snapshot.ts'

/** Compares a store with the model. */
export function checkModel(model: DeliveryModel, snapshot: Snapshot): void {
  const expected = new Map(model.dispatches.map((dispatch) => [dispatch.dispatchId, dispatch.deliveries]))
  hold('the store has every accepted dispatch', expected.size === snapshot.length, () => snapshot)
  for (const { dispatchId, deliveries } of snapshot) {
    const found = deliveries.map(({ deliveryId, channel, status, reason, attempts, attemptLog, dueAt, eventCount }) => {
      const log = attemptLog.map(({ outcome }) => outcome ?? null)
      return [deliveryId, channel, status, reason, attempts, log, dueAt, status === 'cancelled' || eventCount]
    })
    const modelled = expected.get(dispatchId)?.map(shown)
    hold('the store equals the model', isSame(found, modelled), () => ({ dispatchId, found, modelled }))
  }
}

function shown({ deliveryId, channel, status, reason, attempts, log, wakeAt, digest }: ModelDelivery): unknown {
  const dueAt = status === 'queued' ? wakeAt : undefined
  const outcomes = log.map((end) => end?.outcome ?? null)
  return [
    deliveryId,
    channel,
    status,
    reason,
    attempts,
    outcomes,
    dueAt,
    status === 'cancelled' || digest?.events.length,
  ]
}
