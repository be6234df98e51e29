import type { JsonObject } from '../model/json.ts'
import type { Exchange } from './exchange.ts'

const request: JsonObject = {
  eventType: 'order.shipped',
  recipient: 'user_42',
  eventData: { orderId: 'A-1', total: 20 },
  sessionId: 's1',
}
const headers = { 'idempotency-key': 'order-A-1-shipped' }

const trace = [{ rule: '>=', expected: 100, path: 'data.total', actual: 20, result: false }]

const accepted: JsonObject = {
  duplicate: false,
  warnings: [],
  dispatchId: 'dsp_01m7yhx3000000000000000001',
  status: 'queued',
  eventType: 'order.shipped',
  recipient: 'user_42',
  sessionId: 's1',
  createdAt: '2026-11-21T08:00:00.000Z',
  deliveries: [
    { deliveryId: 'dlv_01m7yhx3000000000000000001', channel: 'email', status: 'queued', attempts: 0 },
    {
      deliveryId: 'dlv_01m7yhx3000000000000000002',
      channel: 'sms',
      status: 'skipped',
      reason: 'condition_false',
      attempts: 0,
      trace,
    },
  ],
}

const preview: JsonObject = {
  dryRun: true,
  status: 'queued',
  eventType: 'order.shipped',
  sessionId: 's1',
  warnings: [],
  deliveries: [
    {
      channel: 'email',
      status: 'queued',
      address: 'a…@example.com',
      content: { subject: 'Order A-1 shipped', text: 'It is on its way.' },
    },
    { channel: 'sms', status: 'skipped', reason: 'condition_false', trace },
  ],
}

export const DISPATCH_EXCHANGES: readonly Exchange[] = [
  {
    action: 'dispatch',
    name: 'order_shipped',
    summary: 'Two channels, one of them skipped',
    headers,
    request,
    status: 202,
    answer: accepted,
  },
  {
    action: 'dispatch',
    name: 'replayed',
    summary: 'The same again, with the same Idempotency-Key',
    headers,
    request,
    status: 202,
    answer: { ...accepted, duplicate: true },
  },
  {
    action: 'dispatch',
    name: 'dry_run',
    summary: 'What would become of it',
    query: 'dryRun=true',
    request,
    status: 200,
    answer: preview,
  },
]
