import type { Dispatch, DispatchAnswer } from '../../model/dispatch.ts'
import type { Acceptance, LeaseToken, NewDelivery, NewDigest, NewDispatch } from '../../ports/dispatch-store.ts'

const SECOND = 1_000
export const MINUTE: number = 60 * SECOND
export const HOUR: number = 60 * MINUTE

/** Cases check this long before a moment that nothing has happened yet, because the store's time may run. */
export const MARGIN: number = 10 * SECOND

export const LEASE: number = 10 * MINUTE

export const TENANT = 't1'

export const ADDRESS = 'jane@example.com'

/** Members of an acceptance that differ from the defaults. */
export type GivenDispatch = Partial<NewDispatch> &
  Partial<Pick<Acceptance, 'expiresInMs' | 'answer' | 'idempotency' | 'quotas'>>

export const REJECTED = { outcome: 'rejected', code: 'no' } as const
export const RETRY = { outcome: 'retry', code: 'busy' } as const
export const SENT = { outcome: 'sent' } as const

export function delivery(deliveryId: string, rest: Partial<NewDelivery> = {}): NewDelivery {
  return { deliveryId, channel: 'a', status: 'queued', address: ADDRESS, content: { text: 'x' }, ...rest }
}

export function skipped(deliveryId: string): NewDelivery {
  return { deliveryId, channel: 'a', status: 'skipped', reason: 'condition_false' }
}

/** A delivery that failed in host code before it had content. */
export function broken(deliveryId: string, rest: Partial<NewDelivery> = {}): NewDelivery {
  return { deliveryId, channel: 'a', status: 'failed', reason: 'template_error', ...rest }
}

/** A digest delivery without content, due in an hour. */
export function digested(
  deliveryId: string,
  digest: Partial<NewDigest> = {},
  rest: Partial<NewDelivery> = {},
): NewDelivery {
  const opened = { key: 'k', max: 3, recipient: { id: ADDRESS }, eventData: { of: deliveryId }, ...digest }
  const base = { deliveryId, channel: 'a', status: 'queued', address: ADDRESS, deferred: true } as const
  return { ...base, delayMs: HOUR, digest: opened, ...rest }
}

/** One delivery of every kind, with every member that a delivery can have. */
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
  const { expiresInMs = 72 * HOUR, answer = answerOf, idempotency, quotas, ...rest } = given
  const dispatch: NewDispatch = {
    dispatchId,
    tenant: TENANT,
    by: 'app_1',
    eventType: 'e',
    recipient: ADDRESS,
    route: 'all',
    deliveries: [delivery(`${dispatchId}-a`)],
    ...rest,
  }
  return { dispatch, expiresInMs, answer, ...(idempotency && { idempotency }), ...(quotas && { quotas }) }
}

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

export function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  for (const [key, member] of Object.entries(value)) {
    spoil(member)
    Reflect.set(value, key, 'spoilt')
  }
  if (Array.isArray(value)) value.splice(0)
  Reflect.set(value, 'added', 'spoilt')
}
