import type { Dispatch, DispatchAnswer } from '../../model/dispatch.ts'
import type { Acceptance, LeaseToken, NewDelivery, NewDigest, NewDispatch } from '../../ports/dispatch-store.ts'

const SECOND = 1_000
export const MINUTE: number = 60 * SECOND
export const HOUR: number = 60 * MINUTE

/** What is not to have happened yet is looked for so long before it may: the time of a store may go on by itself meanwhile. */
export const MARGIN: number = 10 * SECOND

/** How long a lease lasts where nothing else is said. */
export const LEASE: number = 10 * MINUTE

/** Whose everything is where nothing else is said. */
export const TENANT = 't1'

export const ADDRESS = 'jane@example.com'

/** What may be said of a dispatch that is to be accepted, beside its id. */
export type GivenDispatch = Partial<NewDispatch> &
  Partial<Pick<Acceptance, 'expiresInMs' | 'answer' | 'idempotency' | 'quota'>>

export const REJECTED = { outcome: 'rejected', code: 'no' } as const
export const RETRY = { outcome: 'retry', code: 'busy' } as const
export const SENT = { outcome: 'sent' } as const

export function delivery(deliveryId: string, rest: Partial<NewDelivery> = {}): NewDelivery {
  return { deliveryId, channel: 'a', status: 'queued', address: ADDRESS, content: { text: 'x' }, ...rest }
}

/** A delivery that has its end already. */
export function skipped(deliveryId: string): NewDelivery {
  return { deliveryId, channel: 'a', status: 'skipped', reason: 'condition_false' }
}

/** A delivery that failed in the host's own code, before there was anything to send. */
export function broken(deliveryId: string, rest: Partial<NewDelivery> = {}): NewDelivery {
  return { deliveryId, channel: 'a', status: 'failed', reason: 'template_error', ...rest }
}

/** A delivery of a digest, which is due in an hour: it has no content of its own. */
export function digested(
  deliveryId: string,
  digest: Partial<NewDigest> = {},
  rest: Partial<NewDelivery> = {},
): NewDelivery {
  const opened = { key: 'k', max: 3, recipient: { id: ADDRESS }, eventData: { of: deliveryId }, ...digest }
  const base = { deliveryId, channel: 'a', status: 'queued', address: ADDRESS, deferred: true } as const
  return { ...base, delayMs: HOUR, digest: opened, ...rest }
}

/** One of every kind, with all that a delivery can bring along. */
export function everyKind(): NewDelivery[] {
  return [
    delivery('x', {
      content: { subject: 'Hello', data: { list: [{ a: 1 }] } },
      concurrencyKey: 'receiver',
      deferred: true,
      limits: [{ key: 'l', max: 1, windowMs: HOUR }],
      trace: [{ rule: '==', path: 'data.total', expected: ['a'], actual: null, result: true }],
    }),
    { deliveryId: 'y', channel: 'b', status: 'skipped', reason: 'no_address' },
    delivery('z', { channel: 'c', status: 'held' }),
    digested(
      'd',
      { recipient: { id: ADDRESS, attributes: { tags: ['a'] } }, eventData: { list: [1] } },
      { channel: 'd' },
    ),
  ]
}

export function acceptance(dispatchId: string, given: GivenDispatch = {}): Acceptance {
  const { expiresInMs = 72 * HOUR, answer = answerOf, idempotency, quota, ...rest } = given
  const dispatch: NewDispatch = {
    dispatchId,
    tenant: TENANT,
    eventType: 'e',
    recipient: ADDRESS,
    route: 'all',
    deliveries: [delivery(`${dispatchId}-a`)],
    ...rest,
  }
  return { dispatch, expiresInMs, answer, ...(idempotency && { idempotency }), ...(quota && { quota }) }
}

/** What a caller is told, with the state of each delivery as it was. */
export function answerOf({ dispatchId, eventType, recipient, createdAt, deliveries }: Dispatch): DispatchAnswer {
  return {
    dispatchId,
    eventType,
    recipient,
    status: 'queued',
    createdAt: new Date(createdAt).toISOString(),
    duplicate: false,
    warnings: [],
    deliveries: deliveries.map(({ deliveryId, channel, status, reason, attempts }) => {
      return { deliveryId, channel, status, ...(reason !== undefined && { reason }), attempts }
    }),
  }
}

export function keyed(key = 'k', fingerprint = 'f1', ttlMs: number = 24 * HOUR): Pick<GivenDispatch, 'idempotency'> {
  return { idempotency: { key, fingerprint, ttlMs } }
}

export function proof({ deliveryId, fence }: LeaseToken): LeaseToken {
  return { deliveryId, fence }
}

/** Changes everything in a value that can be changed. */
export function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  for (const [key, member] of Object.entries(value)) {
    spoil(member)
    Reflect.set(value, key, 'spoilt')
  }
  if (Array.isArray(value)) value.splice(0)
  Reflect.set(value, 'added', 'spoilt')
}
