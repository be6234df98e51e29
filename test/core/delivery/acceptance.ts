import type { Dispatch, DispatchAnswer } from '../../../src/model/dispatch.ts'
import type { Acceptance, LeaseToken, NewDelivery, Settlement } from '../../../src/ports/dispatch-store.ts'
import type { ModelDelivery, ModelDispatch } from './delivery-model.ts'
import { type Accept, CHANNELS, type Ending, type Replan, type Wanted } from './operations.ts'

/** The acceptance that a planner passes to the store. */
export function acceptanceOf(accept: Accept, dispatchId: string): Acceptance {
  const { tenant, route, wanted, recipient, sessionId, expiresInMs, key } = accept
  const places = wanted.map((_, at) => {
    const channel = CHANNELS[at] ?? 'a'
    return { deliveryId: `${dispatchId}${channel}`, channel }
  })
  const deliveries = plannedFor(places, wanted, accept, dispatchId)
  const hasFailed = wanted.some(({ status }) => status === 'failed')
  const base = { dispatchId, tenant, by: 'app_1', recipient, route, eventType: 'e', deliveries }
  const source = hasFailed && { source: { eventData: { dispatchId } } }
  return {
    dispatch: { ...base, ...source, ...(sessionId !== undefined && { sessionId }) },
    expiresInMs,
    answer: answerOf,
    ...(key && { idempotency: key }),
  }
}

/** The deliveries that a planner puts in the places of failed ones. */
export function replacementOf(
  replan: Replan,
  dispatch: ModelDispatch,
  failed: readonly ModelDelivery[],
): NewDelivery[] {
  const wanted = replan.wanted.slice(0, failed.length)
  const places = failed.slice(0, wanted.length).map(({ deliveryId, channel }) => ({ deliveryId, channel }))
  const { route, recipient, dispatchId } = dispatch
  return plannedFor(places, wanted, { ...replan, route, recipient }, dispatchId)
}

type Planned = Pick<Accept, 'route' | 'recipient' | 'digestMax' | 'delayMs'>

export function plannedFor(
  places: readonly Pick<NewDelivery, 'deliveryId' | 'channel'>[],
  wanted: readonly Wanted[],
  planned: Planned,
  dispatchId: string,
): NewDelivery[] {
  const { route, delayMs } = planned
  const first = wanted.findIndex(({ status }) => status === 'queued')
  return wanted.map((one, at): NewDelivery => {
    const own = places[at] ?? { deliveryId: '', channel: '' }
    if (one.status === 'skipped') return { ...own, status: 'skipped', reason: 'condition_false' }
    if (one.status === 'failed') return { ...own, status: 'failed', reason: 'template_error' }
    const message = messageOf(one, planned, dispatchId)
    if (route === 'first' && at > first) return { ...own, ...message, status: 'held' }
    return { ...own, ...message, delayMs, status: 'queued' }
  })
}

function messageOf({ limits, receiver }: Wanted, planned: Planned, dispatchId: string): Partial<NewDelivery> {
  const { route, recipient, digestMax: max } = planned
  return {
    address: recipient,
    ...(limits.length > 0 && { limits }),
    ...(receiver !== undefined && { concurrencyKey: receiver }),
    ...(max === undefined || route === 'first'
      ? { content: { text: 'x' } }
      : { digest: { key: 'k', max, recipient: { id: recipient }, eventData: { dispatchId } } }),
  }
}

function answerOf({ dispatchId, eventType, recipient }: Dispatch): DispatchAnswer {
  const nothing = { createdAt: '', deliveries: [], duplicate: false, warnings: [] }
  return { dispatchId, eventType, recipient, status: 'queued', ...nothing }
}

/** @param isRendered The content of the digest is stored already; it is stored once only. */
export function settlementOf({ deliveryId, fence }: LeaseToken, ending: Ending, isRendered: boolean): Settlement {
  const proof = { deliveryId, fence }
  if (ending.to !== 'queued') return { ...proof, ...ending }
  const { rendered, ...queued } = ending
  return { ...proof, ...queued, ...(rendered && !isRendered && { content: { text: 'rendered' } }) }
}
