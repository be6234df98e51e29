import type { Dispatch, DispatchAnswer } from '../../src/model/dispatch.ts'
import type { Acceptance, LeaseProof, NewDelivery, Settlement } from '../../src/ports/dispatch-store.ts'
import { type Accept, CHANNELS, type Ending, type Wanted } from './operations.ts'

/** What a planner would give to the store. */
export function acceptanceOf(accept: Accept, dispatchId: string, now: number): Acceptance {
  const { tenant, route, wanted, recipient, sessionId, expiresInMs, key } = accept
  const first = wanted.findIndex(({ status }) => status === 'queued')
  const deliveries = wanted.map((one, at): NewDelivery => {
    const channel = CHANNELS[at] ?? 'a'
    const own = { deliveryId: `${dispatchId}${channel}`, channel }
    if (one.status === 'skipped') return { ...own, status: 'skipped', reason: 'condition_false' }
    if (one.status === 'failed') return { ...own, status: 'failed', reason: 'template_error' }
    const place = route === 'first' && at > first ? 'held' : 'queued'
    return {
      ...own,
      ...messageOf(one, accept, dispatchId),
      ...(place === 'queued' && { delayMs: accept.delayMs }),
      status: place,
    }
  })
  const base = { dispatchId, tenant, recipient, route, eventType: 'e', createdAt: now, deliveries }
  return {
    dispatch: { ...base, ...(sessionId !== undefined && { sessionId }) },
    expiresInMs,
    answer: answerOf,
    ...(key && { idempotency: key }),
  }
}

function messageOf({ limits, receiver }: Wanted, accept: Accept, dispatchId: string): Partial<NewDelivery> {
  const { route, recipient, digestMax: max } = accept
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

/** `isRendered`: what a digest says was put down before, and is so once. */
export function settlementOf({ deliveryId, fence }: LeaseProof, ending: Ending, isRendered: boolean): Settlement {
  const proof = { deliveryId, fence }
  if (ending.to !== 'queued') return { ...proof, ...ending }
  const { rendered, ...queued } = ending
  return { ...proof, ...queued, ...(rendered && !isRendered && { content: { text: 'rendered' } }) }
}
