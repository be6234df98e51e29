import type { RunCounts } from '../../src/model/run.ts'
import type { EndedRun } from '../../src/ports/run-exporter.ts'
import { fc } from '../support/properties.ts'

export const CREATED = '2026-11-21T08:00:00.000Z'
export const LAST_SEEN = '2026-11-21T08:00:30.000Z'

/** An ended run with the fewest fields, and `more`. */
export function ended(more: Partial<EndedRun> = {}): EndedRun {
  return {
    tenant: 'acme',
    runId: 'r1',
    sessionId: 's1',
    status: 'completed',
    createdAt: CREATED,
    updatedAt: LAST_SEEN,
    lastSeenAt: LAST_SEEN,
    revision: 2,
    ...more,
  }
}

/** An ended run with all fields. */
export const FULL: EndedRun = ended({
  provider: 'bedrock',
  model: 'claude-x',
  responseModel: 'claude-x-1',
  seq: 3,
  parentRunId: 'r0',
  resumedFromRunId: 'r-1',
  attempt: 2,
  agent: { id: 'a1', name: 'support', version: '3' },
  timings: {
    queuedAt: '2026-11-21T07:59:00.000Z',
    startedAt: '2026-11-21T08:00:01.001Z',
    firstTokenAt: '2026-11-21T08:00:09.000Z',
    endedAt: '2026-11-21T08:00:21.250Z',
    durationMs: 20_249,
    activeMs: 12_000,
    modelMs: 9_000,
    toolMs: 3_500,
    timeToFirstTokenMs: 740,
  },
  counts: {
    inputTokens: 1000,
    cacheReadTokens: 600,
    cacheWriteTokens: 100,
    outputTokens: 300,
    reasoningTokens: 120,
    totalTokens: 1300,
    modelCalls: 4,
    toolCalls: 3,
    toolErrors: 1,
    steps: 5,
    retries: 2,
    messages: 9,
    ownCounter: 7,
  },
  countsScope: 'self',
  cost: { amount: '0.0125', currency: 'USD', source: 'local', pricingVersion: 'v1' },
  finishReason: 'stop',
  error: { type: 'rate_limit', message: 'Jane said: slower', code: '429', retryable: true },
  trace: { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' },
  userId: 'jane',
  environment: 'live',
  tags: ['vip'],
  metadata: { plan: 'gold' },
})

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('__proto__', 'constructor', 'toString', '', '.', '..chat', 'OpenAI.chat'),
)
const instant = fc.oneof(
  fc
    .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
    .map((at) => at.toISOString()),
  fc.constantFrom(CREATED, LAST_SEEN, '2026-11-21T08:00:00.123456789+01:00', '2016-12-31T23:59:60Z', 'no instant'),
)
const whole = fc.oneof(fc.nat(), fc.constantFrom(0, Number.MAX_SAFE_INTEGER))
const hex = (digits: number) =>
  fc.oneof(fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`)), fc.constant('0'.repeat(digits)), text)

const counts: fc.Arbitrary<RunCounts> = fc.oneof(
  fc.dictionary(text, whole),
  fc.record(Object.fromEntries(Object.keys(FULL.counts ?? {}).map((name) => [name, whole])), { requiredKeys: [] }),
)
const cost = fc.record({
  amount: fc.oneof(fc.constantFrom('0', '12.5', `0.${'0'.repeat(38)}1`), text),
  currency: text,
  source: fc.constantFrom('provider' as const, 'local' as const, 'client' as const),
})

/** Any run with any fields, also values that no store returns. */
export const anyRun: fc.Arbitrary<EndedRun> = fc.record(
  {
    tenant: text,
    runId: text,
    sessionId: text,
    status: fc.constantFrom(
      'completed' as const,
      'incomplete' as const,
      'failed' as const,
      'cancelled' as const,
      'expired' as const,
      'running' as const,
    ),
    createdAt: instant,
    updatedAt: instant,
    lastSeenAt: instant,
    revision: whole,
    provider: text,
    model: text,
    responseModel: text,
    seq: whole,
    parentRunId: text,
    resumedFromRunId: text,
    attempt: whole,
    agent: fc.record({ id: text, name: text, version: text }, { requiredKeys: [] }),
    timings: fc.record(
      {
        queuedAt: instant,
        startedAt: instant,
        firstTokenAt: instant,
        endedAt: instant,
        durationMs: whole,
        activeMs: whole,
        modelMs: whole,
        toolMs: whole,
        timeToFirstTokenMs: whole,
      },
      { requiredKeys: [] },
    ),
    counts,
    countsScope: fc.constantFrom('self' as const, 'tree' as const),
    usageByModel: fc.array(fc.record({ provider: text, model: text, counts }), { maxLength: 3 }),
    cost,
    finishReason: text,
    error: fc.record({ type: text, message: text, code: text, retryable: fc.boolean() }, { requiredKeys: ['type'] }),
    trace: fc.record({ traceId: hex(32), spanId: hex(16) }),
    userId: text,
    environment: text,
    tags: fc.array(text),
    metadata: fc.dictionary(text, fc.oneof(text, whole, fc.boolean())),
  },
  { requiredKeys: ['tenant', 'runId', 'sessionId', 'status', 'createdAt', 'updatedAt', 'lastSeenAt', 'revision'] },
)
