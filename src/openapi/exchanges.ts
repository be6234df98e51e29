import type { JsonObject } from '../model/json.ts'
import type { OpenApiMediaType } from './open-api-document.ts'

/** A request and its answer: an example of the document. A test compares it with a host's answer exactly. */
export interface Exchange {
  /** Name of the action. */
  readonly action: string
  readonly name: string
  readonly summary: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  readonly request: JsonObject
  readonly status: number
  readonly answer: JsonObject
}

const shipped: JsonObject = {
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

const begin: JsonObject = {
  sessionId: 's1',
  run: {
    runId: 'run_1',
    seq: 1,
    status: 'running',
    provider: 'openai',
    model: 'gpt-5',
    agent: { name: 'support' },
    timings: { startedAt: '2026-11-21T07:59:50Z' },
  },
}

const end: JsonObject = {
  sessionId: 's1',
  run: {
    runId: 'run_1',
    seq: 2,
    status: 'completed',
    timings: { endedAt: '2026-11-21T07:59:59Z' },
    usage: { prompt_tokens: 310, completion_tokens: 42, total_tokens: 352 },
    counts: { toolCalls: 2 },
    cost: { amount: '0.00081', currency: 'USD', source: 'client' },
    tags: ['support'],
    metadata: { ticket: 4711 },
  },
}

const begun: JsonObject = {
  runId: 'run_1',
  sessionId: 's1',
  status: 'running',
  createdAt: '2026-11-21T08:00:00.000Z',
  updatedAt: '2026-11-21T08:00:00.000Z',
  lastSeenAt: '2026-11-21T08:00:00.000Z',
  revision: 1,
  by: ['app'],
  seq: 1,
  provider: 'openai',
  model: 'gpt-5',
  agent: { name: 'support' },
  timings: { startedAt: '2026-11-21T07:59:50.000Z' },
}

const ended: JsonObject = {
  ...begun,
  status: 'completed',
  revision: 2,
  by: ['app'],
  seq: 2,
  timings: { startedAt: '2026-11-21T07:59:50.000Z', endedAt: '2026-11-21T07:59:59.000Z', durationMs: 9000 },
  counts: { inputTokens: 310, outputTokens: 42, totalTokens: 352, toolCalls: 2 },
  cost: { amount: '0.00081', currency: 'USD', source: 'client' },
  tags: ['support'],
  metadata: { ticket: 4711 },
}

/** All exchanges, in this order at one host. */
export const EXCHANGES: readonly Exchange[] = [
  {
    action: 'dispatch',
    name: 'order_shipped',
    summary: 'Two channels, one of them skipped',
    headers,
    request: shipped,
    status: 202,
    answer: accepted,
  },
  {
    action: 'dispatch',
    name: 'replayed',
    summary: 'The same again, with the same Idempotency-Key',
    headers,
    request: shipped,
    status: 202,
    answer: { ...accepted, duplicate: true },
  },
  {
    action: 'dispatch',
    name: 'dry_run',
    summary: 'What would become of it',
    query: 'dryRun=true',
    request: shipped,
    status: 200,
    answer: preview,
  },
  {
    action: 'session_run',
    name: 'begins',
    summary: 'The first post of a run',
    request: begin,
    status: 201,
    answer: { created: true, changed: true, ignored: [], warnings: [], run: begun },
  },
  {
    action: 'session_run',
    name: 'ends',
    summary: 'The last, with the usage object of the provider',
    request: end,
    status: 200,
    answer: { created: false, changed: true, ignored: [], warnings: [], run: ended },
  },
  {
    action: 'session_run',
    name: 'late',
    summary: 'The first again, with Prefer: return=minimal',
    headers: { prefer: 'return=minimal' },
    request: begin,
    status: 200,
    answer: {
      created: false,
      changed: false,
      ignored: [{ field: 'status', reason: 'terminal', kept: 'completed' }],
      warnings: [],
    },
  },
  {
    action: 'session_run_batch',
    name: 'two_posts',
    summary: 'One recorded, one refused',
    headers: { prefer: 'return=minimal' },
    request: {
      runs: [
        { sessionId: 's1', run: { runId: 'run_2', attempt: 1, status: 'completed' } },
        { sessionId: 's1', run: { runId: 'run_2', attempt: 2, status: 'running' } },
      ],
    },
    status: 200,
    answer: {
      results: [
        { status: 201, created: true, changed: true, ignored: [], warnings: [] },
        {
          status: 409,
          problem: {
            type: 'urn:sallyport:problem:run_identity_conflict',
            title: 'The run is another one',
            status: 409,
            detail: 'A run keeps its attempt. Nothing was recorded.',
            code: 'run_identity_conflict',
            requestId: 'req_01m7yhx3000000000000000001',
            errors: [
              {
                pointer: '/runs/1/run/attempt',
                code: 'conflict',
                detail: 'differs from what the run was recorded with',
              },
            ],
          },
        },
      ],
      warnings: [],
    },
  },
  {
    action: 'session_token',
    name: 'sub_agent',
    summary: 'A token for the one run of a sub-agent, for a minute',
    headers: { authorization: 'Bearer granted' },
    request: {
      grants: {
        dispatch: {
          events: ['order.shipped'],
          channels: ['email'],
          recipients: ['jane@example.com'],
          maxDispatches: 1,
        },
      },
      expiresInMs: 60_000,
      runId: 'run_3',
    },
    status: 201,
    answer: { token: 'eyJhbGciOiJIUzI1NiJ9.eyJzaWQiOiJzMSJ9.c2lnbmF0dXJl', expiresAt: '2026-11-21T08:01:00.000Z' },
  },
]

type Examples = Pick<OpenApiMediaType, 'examples'>

/** Request examples of an endpoint, each body once. */
export function requestExamples(action: string, exchanges: readonly Exchange[]): Examples {
  const sent = new Set<string>()
  return examples(
    exchanges.filter((exchange) => {
      const body = JSON.stringify(exchange.request)
      const isNew = exchange.action === action && !sent.has(body)
      sent.add(body)
      return isNew
    }),
    'request',
  )
}

export function answerExamples(action: string, status: number, exchanges: readonly Exchange[]): Examples {
  return examples(
    exchanges.filter((exchange) => exchange.action === action && exchange.status === status),
    'answer',
  )
}

function examples(exchanges: readonly Exchange[], side: 'request' | 'answer'): Examples {
  if (exchanges.length === 0) return {}
  return {
    examples: Object.fromEntries(exchanges.map((one) => [one.name, { summary: one.summary, value: one[side] }])),
  }
}
