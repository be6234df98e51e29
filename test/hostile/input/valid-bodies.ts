import { CANARY } from './hostile-texts.ts'

/** Valid bodies with every member that a body can have. `id` makes the run ids unique. */
export const VALID_DISPATCHES: readonly ((id: string) => object)[] = [
  () => ({
    eventType: 'any',
    recipient: `${CANARY}@example.com`,
    eventData: { text: CANARY, list: [1, 2.5, { deep: [true, null, CANARY] }], 'a~/b': { c: CANARY } },
    channel: 'log',
    sessionId: CANARY,
  }),
  () => ({
    eventType: 'order.shipped',
    recipient: 'user_42',
    eventData: { orderId: CANARY, total: 120, items: [{ name: CANARY }] },
  }),
  () => ({
    eventType: 'order.zod',
    recipient: '+43123456789',
    eventData: { orderId: CANARY, lines: [{ sku: CANARY, count: 2 }] },
  }),
  () => ({ eventType: 'digested', recipient: 'https://example.com/hook', eventData: { post: 'p1', author: CANARY } }),
]

const AT = Date.parse('2026-01-01T08:00:00.000Z')

const run = (runId: string): object => ({
  runId,
  status: 'completed',
  provider: 'openai',
  model: `gpt-${CANARY}`,
  responseModel: CANARY,
  seq: 3,
  parentRunId: `${runId}-above`,
  resumedFromRunId: `${runId}-before`,
  attempt: 2,
  agent: { id: CANARY, name: CANARY, version: '1' },
  timings: {
    ...{
      queuedAt: AT,
      startedAt: '2026-01-01T09:00:01.5+01:00',
      firstTokenAt: AT + 2_000,
      endedAt: '2026-01-01T08:00:09Z',
    },
    ...{ durationMs: 8_000, activeMs: 7_000, modelMs: 6_000, toolMs: 500, timeToFirstTokenMs: 400 },
  },
  counts: { inputTokens: 310, outputTokens: 20, toolCalls: 2, own_counter: 7 },
  countsScope: 'self',
  usageByModel: [
    {
      provider: 'openai',
      model: CANARY,
      counts: { inputTokens: 310 },
      cost: { amount: '0.10', currency: 'USD', source: 'client' },
    },
  ],
  cost: { amount: '0.1250', currency: 'usd', source: 'client', pricingVersion: CANARY },
  finishReason: CANARY,
  error: { type: 'rate_limit', message: CANARY, code: CANARY, retryable: true },
  trace: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' },
  userId: CANARY,
  environment: 'test',
  tags: [CANARY, 'b', 'a'],
  metadata: { text: CANARY, number: 1.5, flag: false, gone: null },
})

const reported = (runId: string, usage: object): object => ({ runId, status: 'running', usage })

export const VALID_RUNS: readonly ((id: string) => object)[] = [
  (id) => ({ sessionId: CANARY, run: run(id) }),
  (id) => ({ sessionId: 's1', run: { runId: id } }),
  (id) => ({
    sessionId: 's1',
    run: reported(id, { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 1 } }),
  }),
  (id) => ({
    sessionId: 's1',
    run: reported(id, {
      input_tokens: 3,
      cache_read_input_tokens: 2,
      cache_creation: { ephemeral_5m_input_tokens: 1 },
    }),
  }),
  (id) => ({ sessionId: 's1', run: reported(id, { promptTokenCount: 3, thoughtsTokenCount: 2, totalTokenCount: 5 }) }),
  (id) => ({
    sessionId: 's1',
    run: reported(id, { inputTokens: { total: 3 }, inputTokensDetails: [{ cached_tokens: 1 }] }),
  }),
]

export const VALID_BATCHES: readonly ((id: string) => object)[] = [
  (id) => ({ runs: VALID_RUNS.slice(0, 3).map((post, index) => post(`${id}-${index}`)) }),
  (id) => ({
    runs: [{ sessionId: 's2', run: run('shared') }, { sessionId: 's2', run: run('shared') }, VALID_RUNS[1]?.(id)],
  }),
]
