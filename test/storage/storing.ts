import type { Delivery, Dispatch, DispatchAnswer } from '../../src/model/dispatch.ts'
import type {
  Acceptance,
  ClaimedDelivery,
  ClaimRequest,
  Claims,
  DispatchStore,
  LeaseToken,
  NewDelivery,
  NewDigest,
  NewDispatch,
} from '../../src/ports/dispatch-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'

export const HOUR = 3_600_000

export function storeOn(clock: FakeClock = fakeClock()): { clock: FakeClock; store: DispatchStore } {
  return { clock, store: memoryStore({ clock }) }
}

export function delivery(deliveryId: string, rest: Partial<NewDelivery> = {}): NewDelivery {
  return { deliveryId, channel: 'a', status: 'queued', address: 'jane@example.com', content: { text: 'x' }, ...rest }
}

/** A digest delivery. It has no content. */
export function digested(
  deliveryId: string,
  digest: Partial<NewDigest> = {},
  rest: Partial<NewDelivery> = {},
): NewDelivery {
  return {
    deliveryId,
    channel: 'a',
    status: 'queued',
    address: 'jane@example.com',
    deferred: true,
    delayMs: 1_000,
    digest: { key: 'k', max: 3, recipient: { id: 'jane@example.com' }, eventData: { of: deliveryId }, ...digest },
    ...rest,
  }
}

export function acceptance(
  dispatchId: string,
  rest: Partial<NewDispatch> = {},
  more: Partial<Acceptance> = {},
): Acceptance {
  const dispatch: NewDispatch = {
    dispatchId,
    tenant: 'default',
    by: 'app_1',
    eventType: 'e',
    recipient: 'jane@example.com',
    route: 'all',
    deliveries: [delivery(`${dispatchId}-a`)],
    ...rest,
  }
  return { dispatch, expiresInMs: 72 * HOUR, answer: answerOf, ...more }
}

/** An answer that shares objects with the dispatch that it is built from: a store must copy them. */
function answerOf(dispatch: Dispatch): DispatchAnswer {
  const { dispatchId, eventType, recipient, deliveries } = dispatch
  const createdAt = '2026-11-21T08:00:00.000Z'
  const shown = {
    dispatchId,
    eventType,
    recipient,
    createdAt,
    status: 'queued',
    duplicate: false,
    warnings: [],
  } as const
  return { ...shown, deliveries: deliveries.map(({ attemptLog: _, ...rest }) => rest) }
}

export const keyed = (id: string, key = 'k', fingerprint = 'f', ttlMs: number = HOUR): Acceptance =>
  acceptance(id, {}, { idempotency: { key, fingerprint, ttlMs } })

export function claim(
  store: DispatchStore,
  limits: ClaimRequest['limits'] = { a: 100 },
  leaseMs = 30_000,
): Promise<Claims> {
  return store.claim({ limits, leaseMs, busy: [] })
}

/** Claims the next delivery. Fails where there is none. */
export async function claimOne(store: DispatchStore, channel = 'a', leaseMs = 30_000): Promise<ClaimedDelivery> {
  const [claimed] = (await claim(store, { [channel]: 1 }, leaseMs)).deliveries
  if (!claimed) throw new Error(`nothing of ${channel} is due`)
  return claimed
}

export const ids = (claimed: readonly { readonly deliveryId: string }[]): string[] =>
  claimed.map(({ deliveryId }) => deliveryId)

export const lease = ({ deliveryId, fence }: ClaimedDelivery): LeaseToken => ({ deliveryId, fence })

/** The stored deliveries of a dispatch. */
export async function deliveriesOf(store: DispatchStore, dispatchId: string): Promise<readonly Delivery[]> {
  return (await store.findDispatch('default', dispatchId))?.deliveries ?? []
}
