import { describe, expect, it } from 'vitest'
import type { Settlement } from '../../../src/ports/dispatch-store.ts'
import {
  type DeliveryIndex,
  deliveryTransitions,
  settleDelivery,
} from '../../../src/storage/rules/delivery-transitions.ts'
import { fallBackDispatch } from '../../../src/storage/rules/dispatch-changes.ts'
import { beginAttempt, dispatchRow } from '../../../src/storage/rules/dispatch-rows.ts'
import { acceptance, delivery } from '../storing.ts'

const INDEX: DeliveryIndex = { schedule() {}, unschedule() {}, update() {}, resize() {}, openDigest: () => undefined }

/** A dispatch with the route `first`, whose first delivery is being sent. */
function sending() {
  const deliveries = [delivery('x'), delivery('y', { channel: 'b', status: 'held' })]
  const dispatch = dispatchRow(acceptance('1', { route: 'first', deliveries }).dispatch, 1_000, 0)
  const transitions = deliveryTransitions(INDEX, { take: () => true })
  const [first] = dispatch.deliveries
  if (!first) throw new Error('there is no row')
  const begin = () => {
    transitions.lease(first, 'f', 500)
    beginAttempt(first, 100)
  }
  begin()
  return {
    begin,
    bounce: () => fallBackDispatch(dispatch, 'x', 150, transitions).map(({ deliveryId }) => deliveryId),
    settle: (end: object) =>
      settleDelivery(first, { deliveryId: 'x', fence: 'f', ...end } as Settlement, 200, transitions),
    states: () => dispatch.deliveries.map(({ status, reason }) => reason ?? status),
  }
}

const SENT = { to: 'sent', attempt: { outcome: 'sent' } }

describe('fallbacks of the route first', () => {
  it('A bounce that arrives while its attempt is under way queues the fallback at the settlement', () => {
    const { bounce, settle, states } = sending()
    expect([bounce(), states()]).toEqual([[], ['sending', 'held']])
    expect(settle(SENT)).toMatchObject({ live: true, others: [{ deliveryId: 'y', status: 'queued' }] })
    expect(states()).toEqual(['sent', 'queued'])
  })

  it('Without a bounce, the fallback of a sent delivery is unneeded', () => {
    const { settle, states } = sending()
    settle(SENT)
    expect(states()).toEqual(['sent', 'fallback_unneeded'])
  })

  it('A bounce of an earlier attempt does not queue the fallback', () => {
    const { begin, bounce, settle, states } = sending()
    bounce()
    settle({ to: 'queued', delayMs: 0, attempt: { outcome: 'retry' } })
    begin()
    settle(SENT)
    expect(states()).toEqual(['sent', 'fallback_unneeded'])
  })

  it('A bounce after the settlement queues the fallback at once', () => {
    const { bounce, settle, states } = sending()
    settle(SENT)
    expect([bounce(), states()]).toEqual([['y'], ['sent', 'queued']])
  })
})
