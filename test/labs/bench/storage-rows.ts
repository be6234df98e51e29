import type { Acceptance, Content, Dispatch, DispatchAnswer } from 'sallyport'
import { htmlOf, order, subjectOf } from './mail.ts'

const HOUR = 3_600_000
const CONTENTS: readonly Content[] = [
  { subject: subjectOf(order), html: htmlOf(order) },
  { text: 'Your order A-1001 is on its way.' },
]

/** Prefix of all ids, so that they sort by age like the library's. */
const TIME = '01kb3x5q2r'
let made = 0

/** An id that sorts after all earlier ones. */
export function nextId(prefix: string): string {
  return `${prefix}_${TIME}${String(++made).padStart(8, '0')}`
}

/** A dispatch with a mail of 1 KB, a short message and an idempotency key. */
export function acceptance(): Acceptance {
  const deliveries = ['email', 'sms'].map((channel, at) => ({
    deliveryId: nextId('dlv'),
    channel,
    status: 'queued' as const,
    address: channel === 'email' ? 'ada@example.com' : '+441632960001',
    content: CONTENTS[at] ?? {},
  }))
  const dispatchId = nextId('dsp')
  const head = {
    dispatchId,
    tenant: 'default',
    by: 'app_1',
    eventType: 'order.shipped',
    recipient: 'user-1',
    route: 'all' as const,
  }
  return {
    dispatch: { ...head, deliveries },
    expiresInMs: 72 * HOUR,
    answer,
    idempotency: { key: dispatchId, fingerprint: '4bf92f3577b34da6'.repeat(4), ttlMs: 24 * HOUR },
  }
}

/** The stored content of a delivery. */
export function contentText(channel: string): string {
  return JSON.stringify(CONTENTS[channel === 'email' ? 0 : 1])
}

export function answer({ dispatchId, eventType, recipient, deliveries }: Dispatch): DispatchAnswer {
  return {
    dispatchId,
    status: 'queued',
    eventType,
    recipient: String(recipient),
    createdAt: '2026-11-21T08:00:00.000Z',
    deliveries: deliveries.map(({ deliveryId, channel, status, attempts }) => ({
      deliveryId,
      channel,
      status,
      attempts,
    })),
    duplicate: false,
    warnings: [],
  }
}

/** The answer to an acceptance, without a store. */
export function answerTo({ dispatch }: Acceptance): DispatchAnswer {
  const deliveries = dispatch.deliveries.map((delivery) => ({ ...delivery, attempts: 0 }))
  return answer({ ...dispatch, deliveries } as unknown as Dispatch)
}

/** A row of each table that an acceptance writes, in the order of {@link INSERTS}. */
export function bareRows(accepted: Acceptance): readonly (readonly unknown[])[] {
  const { dispatch, idempotency } = accepted
  const { dispatchId, tenant, eventType, recipient, route } = dispatch
  const now = Date.now()
  const expires = now + 72 * HOUR
  const deliveries = dispatch.deliveries.flatMap(({ deliveryId, channel, address, content }, place) => [
    ...[deliveryId, dispatchId, tenant, now, place, channel, 'queued', 0, 0, '', now, expires, now, 1, address],
    ...[JSON.stringify(content), 1],
  ])
  return [
    [dispatchId, tenant, eventType, recipient, recipient, route, 'app', now, 'queued', 2, 0, 0, 0, 1],
    deliveries,
    [tenant, idempotency?.key, idempotency?.fingerprint, JSON.stringify(answerTo(accepted)), now + 24 * HOUR, 1],
  ]
}

const DISPATCH =
  'dispatch_id tenant event_type recipient recipient_key route made_by created_at status open_count sent_count lost_count cancelled_count version'
const DELIVERY =
  'delivery_id dispatch_id tenant created_at place channel status attempts attempts_before attempt_log accepted_at expires_at wake_at alone address content version'
const KEY = 'tenant name fingerprint answer expires_at version'

/** Hand-written inserts into the tables of a store: one dispatch, two deliveries, one key. */
export function bareInserts(prefix: string, parameter: (number: number) => string): readonly string[] {
  return [
    insert(`${prefix}dispatches`, DISPATCH, 1, parameter),
    insert(`${prefix}deliveries`, DELIVERY, 2, parameter),
    insert(`${prefix}idempotency_keys`, KEY, 1, parameter),
  ]
}

function insert(table: string, columns: string, rows: number, parameter: (number: number) => string): string {
  const names = columns.split(' ')
  let number = 0
  const values = Array.from({ length: rows }, () => `(${names.map(() => parameter(++number)).join(', ')})`)
  return `insert into ${table} (${names.join(', ')}) values ${values.join(', ')}`
}
