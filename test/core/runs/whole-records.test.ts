import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { joinReports } from '../../../src/core/runs/merge/join-runs.ts'
import { toRunReport } from '../../../src/core/runs/merge/merge-run.ts'
import { normaliseRun } from '../../../src/core/runs/normalise-run.ts'
import { redactRun } from '../../../src/core/runs/redact-run.ts'
import { type CheckedSessionRun, sessionRunSchema } from '../../../src/core/runs/session-run-schema.ts'
import { holes } from '../../support/holes.ts'
import { answerOf, NOW, recorder } from './recorder.ts'

const FULL = {
  status: 'failed',
  provider: 'p',
  model: 'm',
  responseModel: 'm-1',
  seq: 3,
  parentRunId: 'p1',
  resumedFromRunId: 'p2',
  attempt: 2,
  agent: { id: 'a', name: 'n', version: 'v' },
  timings: {
    queuedAt: NOW - 4_000,
    startedAt: NOW - 3_000,
    firstTokenAt: NOW - 2_000,
    endedAt: NOW - 1_000,
    durationMs: 9,
    activeMs: 8,
    modelMs: 7,
    toolMs: 6,
    timeToFirstTokenMs: 5,
  },
  counts: { inputTokens: 1, outputTokens: 2 },
  countsScope: 'self',
  usageByModel: [{ provider: 'p', model: 'm', counts: { inputTokens: 1, outputTokens: 2 } }],
  cost: { amount: '1', currency: 'USD', source: 'client', pricingVersion: 'v1' },
  finishReason: 'stop',
  error: { type: 't', message: 'm', code: 'c', retryable: true },
  trace: { traceId: '1'.repeat(32), spanId: '2'.repeat(16) },
  userId: 'u',
  environment: 'test',
  tags: ['x'],
  metadata: { k: 'v' },
} as const

const NOTHING = { runId: 'r1' }
const WHOLE: object = { runId: 'r1', ...FULL }

/** Every post with one field alone, and with all fields but one. */
const POSTS: readonly object[] = [
  NOTHING,
  WHOLE,
  ...Object.entries(FULL).flatMap(([field, value]) => {
    const { [field as keyof typeof FULL]: _, ...others } = FULL
    return [
      { runId: 'r1', [field]: value },
      { runId: 'r1', ...others },
    ]
  }),
  ...Object.entries(FULL.timings).map(([name, value]) => ({
    runId: 'r1',
    status: 'failed',
    timings: { [name]: value },
  })),
]

const checked = (run: object): CheckedSessionRun => v.parse(sessionRunSchema, { sessionId: 's1', run })

describe('stored states', () => {
  it('A state has no undefined member, whatever was posted', async () => {
    const redactor = { redact: (text: string) => text }
    for (const run of POSTS) {
      const { sessionId, run: valid } = checked(run)
      const { update } = normaliseRun({ sessionId, run: valid })
      const state = toRunReport(update)
      const whole = toRunReport(normaliseRun(checked(WHOLE)).update)
      const redacted = await redactRun({ sessionId, run: { ...valid, error: { type: 't' } } }, redactor)
      const joined = [
        joinReports(state, whole),
        joinReports(whole, state),
        joinReports(state, toRunReport({ ...NOTHING, sessionId: 's1' })),
      ]
      expect([update, state, redacted, ...joined].flatMap((each) => holes(each))).toEqual([])
    }
  })

  it('Answers and stored runs have no undefined member', async () => {
    for (const run of POSTS) {
      const { post, deps } = recorder()
      const answers = [answerOf(await post(run)), answerOf(await post({ runId: 'r1', seq: 9, tags: ['y'] }))]
      const { state, derived } = (await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' })) ?? {}
      expect([...answers, state, derived].flatMap((each) => holes(each))).toEqual([])
    }
  })

  it('A state holds all posted values and nothing else', async () => {
    const { post } = recorder()
    const { status, ...reported } = FULL
    const { run } = answerOf(await post({ runId: 'r1', ...FULL }))
    const at = (ms: number): string => new Date(ms).toISOString()
    expect(run).toMatchObject({
      ...reported,
      status,
      timings: {
        ...FULL.timings,
        queuedAt: at(NOW - 4_000),
        startedAt: at(NOW - 3_000),
        firstTokenAt: at(NOW - 2_000),
        endedAt: at(NOW - 1_000),
      },
    })
    const merged = answerOf(await post({ runId: 'r1', tags: ['x'] }))
    expect(merged).toMatchObject({ changed: false, run })
  })
})
