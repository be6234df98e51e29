import type { JsonObject } from '../model/json.ts'
import type { Exchange } from './exchange.ts'

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
  seq: 2,
  timings: { startedAt: '2026-11-21T07:59:50.000Z', endedAt: '2026-11-21T07:59:59.000Z', durationMs: 9000 },
  counts: { inputTokens: 310, outputTokens: 42, totalTokens: 352, toolCalls: 2 },
  cost: { amount: '0.00081', currency: 'USD', source: 'client' },
  tags: ['support'],
  metadata: { ticket: 4711 },
}

export const RUN_EXCHANGES: readonly Exchange[] = [
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
]
