import { describe, expect, it } from 'vitest'
import { handleSessionRun } from '../../../src/core/runs/handle-session-run.ts'
import { fc, runs } from '../../support/properties.ts'
import { faultsOf, NOW, problemOf, recorder } from './recorder.ts'

const long = (length: number) => 'x'.repeat(length)
const many = (length: number) => Array.from({ length }, (_, index) => index)
const model = { provider: 'p', model: 'm', counts: {} }
const cost = { amount: '1', currency: 'USD', source: 'client' }

/** Fields beside the run id, and their one fault. */
const REFUSED: readonly (readonly [what: string, run: object, fault: string])[] = [
  ['no run id', { runId: undefined }, '/run/runId required'],
  ['an empty run id', { runId: '' }, '/run/runId too_short'],
  ['a long run id', { runId: long(201) }, '/run/runId too_long'],
  ['a run id with a space', { runId: 'a b' }, '/run/runId format'],
  ['a run id that is a number', { runId: 7 }, '/run/runId type'],
  ['an unknown status', { status: 'sleeping' }, '/run/status not_allowed'],
  ['an ambiguous status', { status: 'interrupted' }, '/run/status not_allowed'],
  ['a status that only the sweep sets', { status: 'expired' }, '/run/status not_allowed'],
  ['a status of an inherited name', { status: 'constructor' }, '/run/status not_allowed'],
  ['a status that is no string', { status: 3 }, '/run/status type'],
  ['a long provider', { provider: long(65) }, '/run/provider too_long'],
  ['a long model', { model: long(201) }, '/run/model too_long'],
  ['an empty model', { model: '' }, '/run/model too_short'],
  ['a negative seq', { seq: -1 }, '/run/seq out_of_range'],
  ['a fractional seq', { seq: 1.5 }, '/run/seq type'],
  ['a zeroth attempt', { attempt: 0 }, '/run/attempt out_of_range'],
  ['itself for its parent', { parentRunId: 'r1' }, '/run/parentRunId not_allowed'],
  ['itself for what it resumes', { resumedFromRunId: 'r1' }, '/run/resumedFromRunId not_allowed'],
  ['a parent that is no id', { parentRunId: 'a/b' }, '/run/parentRunId format'],
  ['an agent that is no object', { agent: 'me' }, '/run/agent type'],
  ['a long agent name', { agent: { name: long(129) } }, '/run/agent/name too_long'],
  ['epoch seconds', { timings: { startedAt: 1_795_248_000 } }, '/run/timings/startedAt out_of_range'],
  ['epoch seconds with a fraction', { timings: { endedAt: 1_795_248_000.5 } }, '/run/timings/endedAt type'],
  ['a negative instant', { timings: { queuedAt: -1 } }, '/run/timings/queuedAt out_of_range'],
  ['an instant that is no number', { timings: { startedAt: Number.NaN } }, '/run/timings/startedAt out_of_range'],
  ['an instant above 2^53', { timings: { startedAt: 2 ** 53 } }, '/run/timings/startedAt out_of_range'],
  ['an instant that is a boolean', { timings: { startedAt: true } }, '/run/timings/startedAt type'],
  ['a fractional instant', { timings: { startedAt: NOW + 0.5 } }, '/run/timings/startedAt type'],
  ['an instant without offset', { timings: { startedAt: '2026-11-21T08:00:00' } }, '/run/timings/startedAt format'],
  ['a day that is none', { timings: { endedAt: '2026-02-30T08:00:00Z' } }, '/run/timings/endedAt format'],
  ['an instant of a zero clock', { timings: { endedAt: '0001-01-01T00:00:00Z' } }, '/run/timings/endedAt out_of_range'],
  ['an instant that is a date object', { timings: { endedAt: {} } }, '/run/timings/endedAt type'],
  ['a start ahead', { timings: { startedAt: NOW + 300_001 } }, '/run/timings/startedAt out_of_range'],
  ['a first token ahead', { timings: { firstTokenAt: NOW + 300_001 } }, '/run/timings/firstTokenAt out_of_range'],
  ['an end ahead', { timings: { endedAt: '9999-12-31T23:59:59Z' } }, '/run/timings/endedAt out_of_range'],
  ['a text ahead', { timings: { queuedAt: '2026-11-21T10:05:01+02:00' } }, '/run/timings/queuedAt out_of_range'],
  ['a negative duration', { timings: { durationMs: -1 } }, '/run/timings/durationMs out_of_range'],
  ['a fractional duration', { timings: { toolMs: 1.5 } }, '/run/timings/toolMs type'],
  ['a negative count', { counts: { inputTokens: -1 } }, '/run/counts/inputTokens out_of_range'],
  ['a fractional count', { counts: { steps: 0.5 } }, '/run/counts/steps type'],
  ['a count above 2^53', { counts: { steps: 2 ** 53 } }, '/run/counts/steps out_of_range'],
  ['a count that is no number', { counts: { steps: Number.NaN } }, '/run/counts/steps out_of_range'],
  ['an infinite count', { counts: { steps: Number.POSITIVE_INFINITY } }, '/run/counts/steps out_of_range'],
  ['a count of a big integer', { counts: { steps: 1n } }, '/run/counts/steps type'],
  ['a count named NaN', { counts: { steps: 'NaN' } }, '/run/counts/steps type'],
  ['a counter of the caller that is negative', { counts: { searches: -1 } }, '/run/counts/searches out_of_range'],
  ['a count that is a text', { counts: { steps: '3' } }, '/run/counts/steps type'],
  ['a counter with a bad name', { counts: { 'My-Count': 1 } }, '/run/counts/My-Count format'],
  ['33 counters', { counts: Object.fromEntries(many(33).map((n) => [`c${n}`, n])) }, '/run/counts too_many'],
  ['counts that are a list', { counts: [1] }, '/run/counts type'],
  ['an unknown scope', { countsScope: 'all' }, '/run/countsScope not_allowed'],
  ['a usage that is a text', { usage: 'much' }, '/run/usage type'],
  ['a negative usage', { usage: { prompt_tokens: -1 } }, '/run/usage/prompt_tokens out_of_range'],
  ['a usage that is a list', { usage: [{ prompt_tokens: 1 }] }, '/run/usage type'],
  ['a usage of texts', { usage: { prompt_tokens: '12' } }, '/run/usage/prompt_tokens type'],
  [
    'a fractional usage',
    { usage: { input_tokens: 1, input_tokens_details: { cached_tokens: 0.5 } } },
    '/run/usage/input_tokens_details/cached_tokens type',
  ],
  ['17 models', { usageByModel: many(17).map(() => model) }, '/run/usageByModel too_many'],
  [
    'a model without its name',
    { usageByModel: [model, { ...model, model: undefined }] },
    '/run/usageByModel/1/model required',
  ],
  ['a model without counts', { usageByModel: [{ ...model, counts: null }] }, '/run/usageByModel/0/counts type'],
  ['an amount that is no decimal', { cost: { ...cost, amount: '1e3' } }, '/run/cost/amount format'],
  ['a negative amount', { cost: { ...cost, amount: -0.1 } }, '/run/cost/amount out_of_range'],
  ['an amount that is a boolean', { cost: { ...cost, amount: true } }, '/run/cost/amount type'],
  ['a currency that is none', { cost: { ...cost, currency: 'dollars' } }, '/run/cost/currency format'],
  ['a currency that there is not', { cost: { ...cost, currency: 'QQQ' } }, '/run/cost/currency not_allowed'],
  ['a currency that is no text', { cost: { ...cost, currency: { a: 1 } } }, '/run/cost/currency type'],
  [
    'a currency of a model that there is not',
    { usageByModel: [{ ...model, cost: { ...cost, currency: 'AAA' } }] },
    '/run/usageByModel/0/cost/currency not_allowed',
  ],
  ['a cost from nowhere', { cost: { amount: '1', currency: 'USD' } }, '/run/cost/source required'],
  ['an error without type', { status: 'failed', error: { message: 'x' } }, '/run/error/type required'],
  ['a long error type', { error: { type: long(101) } }, '/run/error/type too_long'],
  ['a long error message', { error: { type: 'x', message: long(2001) } }, '/run/error/message too_long'],
  ['an unknown wait', { waitingFor: 'godot' }, '/run/waitingFor not_allowed'],
  ['a trace id of zeros', { trace: { traceId: '0'.repeat(32), spanId: '1'.repeat(16) } }, '/run/trace/traceId format'],
  [
    'a span id that is long',
    { trace: { traceId: '1'.repeat(32), spanId: '1'.repeat(24) } },
    '/run/trace/spanId format',
  ],
  ['21 tags', { tags: many(21).map(String) }, '/run/tags too_many'],
  ['a long tag', { tags: ['a', long(65)] }, '/run/tags/1 too_long'],
  ['33 metadata keys', { metadata: Object.fromEntries(many(33).map((n) => [n, n])) }, '/run/metadata too_many'],
  ['a long metadata key', { metadata: { [long(65)]: 1 } }, `/run/metadata/${long(65)} too_long`],
  ['a long metadata value', { metadata: { k: long(513) } }, '/run/metadata/k too_long'],
  ['a metadata value that is an object', { metadata: { 'a/b': {} } }, '/run/metadata/a~1b type'],
  ['a metadata value that is a list', { metadata: { k: [1] } }, '/run/metadata/k type'],
  ['metadata that is a list', { metadata: [1] }, '/run/metadata type'],
  ['a NUL', { model: 'a\0b' }, '/run/model nul_character'],
]

/** Fields that refuse a space. */
const FIELDS = [
  'runId',
  'status',
  'seq',
  'agent',
  'timings',
  'counts',
  'usage',
  'cost',
  'error',
  'trace',
  'tags',
  'metadata',
]

/** The texts of a body that no answer may echo: all but the two statuses that a refusal explains. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return value.length < 4 || /^(?:interrupted|expired)$/.test(value) ? [] : [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

describe('refused bodies', () => {
  it.each(REFUSED)('A body is refused for %s', async (_, run, fault) => {
    const { post, deps } = recorder()
    const result = await post({ runId: 'r1', ...run })
    expect(result.status).toBe(422)
    expect(problemOf(result).code).toBe('validation_failed')
    expect(faultsOf(result)).toEqual([fault])
    expect(await recorder().post({ runId: 'r1', ...run })).toEqual(result)
    const reported = problemOf(result)
    const details = [reported.detail, ...(reported.errors ?? []).map(({ detail }) => detail)].join()
    for (const text of textsOf(run)) expect(details).not.toContain(text)
    expect((await deps.store.listRuns({ tenant: 'default', limit: 9 })).items).toEqual([])
  })

  it.each([
    ['', '/sessionId too_short'],
    [long(201), '/sessionId too_long'],
    ['with space', '/sessionId format'],
    ['naïve', '/sessionId format'],
  ])('The session id %j is refused', async (sessionId, fault) => {
    expect(faultsOf(await recorder().post({ runId: 'r1' }, { sessionId }))).toEqual([fault])
  })

  it.each([[null], ['text'], [7], [[]], [{}]])('The body %j is refused', async (body) => {
    const { deps } = recorder()
    const result = await handleSessionRun({ headers: { authorization: 'Bearer app' }, body }, deps)
    expect(result.status).toBe(422)
  })

  it('A refusal lists all faults of every kind at once', async () => {
    const result = await recorder().post(
      {
        runId: 'a b',
        status: 'interrupted',
        seq: -1,
        provider: 'nul\0',
        timings: { startedAt: 1_795_248_000, endedAt: NOW + 600_000 },
        counts: { inputTokens: -1, outputTokens: 1.5, steps: 2 ** 53, retries: Number.NaN },
        usage: { prompt_tokens: -1 },
        cost: { amount: 'x', currency: 'USD', source: 'client' },
        error: {},
        metadata: { k: {} },
      },
      { sessionId: '' },
    )
    expect(faultsOf(result).sort()).toEqual([
      '/run/cost/amount format',
      '/run/counts/inputTokens out_of_range',
      '/run/counts/outputTokens type',
      '/run/counts/retries out_of_range',
      '/run/counts/steps out_of_range',
      '/run/error/type required',
      '/run/metadata/k type',
      '/run/provider nul_character',
      '/run/runId format',
      '/run/seq out_of_range',
      '/run/status not_allowed',
      '/run/timings/endedAt out_of_range',
      '/run/timings/startedAt out_of_range',
      '/run/usage/prompt_tokens out_of_range',
      '/sessionId too_short',
    ])
  })

  it.each<[string, object, string]>([
    ['tags', { tags: many(4_000) }, '/run/tags too_many'],
    ['models', { usageByModel: many(4_000).map(() => ({})) }, '/run/usageByModel too_many'],
    ['models that are lists', { usageByModel: many(4_000).map(() => []) }, '/run/usageByModel too_many'],
    ['counters', { counts: Object.fromEntries(many(4_000).map((n) => [`c${n}`, -1])) }, '/run/counts too_many'],
    ['metadata', { metadata: Object.fromEntries(many(4_000).map((n) => [n, []])) }, '/run/metadata too_many'],
  ])('Far too many %s are refused along with the other faults', async (_, run, fault) => {
    const faults = faultsOf(await recorder().post({ runId: 'r1', seq: -1, ...run }))
    expect(faults).toContain(fault)
    expect(faults).toContain('/run/seq out_of_range')
  })

  it('A body with too many values is refused for that alone', async () => {
    const metadata = Object.fromEntries(many(10_000).map((n) => [n, 0]))
    expect(faultsOf(await recorder().post({ seq: -1, metadata }))).toEqual([' too_many'])
  })

  it('A run that is its own parent and resumes itself is refused for both, along with the other faults', async () => {
    const ids = { runId: 'r1', parentRunId: 'r1', resumedFromRunId: 'r1' }
    expect(faultsOf(await recorder().post({ ...ids, seq: -1, timings: { startedAt: NOW + 300_001 } }))).toEqual([
      '/run/seq out_of_range',
      '/run/timings/startedAt out_of_range',
      '/run/parentRunId not_allowed',
      '/run/resumedFromRunId not_allowed',
    ])
    const odd = { runId: 'a b', parentRunId: 'a b' }
    expect(faultsOf(await recorder().post(odd))).toEqual(['/run/runId format', '/run/parentRunId format'])
    expect(faultsOf(await recorder().post({ seq: -1 }))).toEqual(['/run/runId required', '/run/seq out_of_range'])
  })

  it('Harmful values and other faults are listed together, without pointers that no answer can carry', async () => {
    const run = JSON.parse(
      '{"runId":"","metadata":{"__proto__":{},"a\\u0000":{},"b\\ud800":{}},"counts":{"c\\u0000":-1}}',
    )
    expect(faultsOf(await recorder().post(run)).sort()).toEqual([
      '/run/counts nul_character',
      '/run/metadata lone_surrogate',
      '/run/metadata nul_character',
      '/run/metadata/__proto__ forbidden_key',
      '/run/runId too_short',
    ])
  })

  it('Any invalid body is refused the same way each time, without its values', async () => {
    const canary = fc.constantFrom<unknown>('c4n4ry', 'c4n4ry c4n4ry', -1, 0.5, 2 ** 53, null, [], {}, true)
    const anything = fc.oneof(
      canary,
      fc.array(canary, { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('k', 'type'), canary),
    )
    const members = fc.constantFrom(
      ...['type', 'id', 'startedAt', 'steps', 'amount', 'traceId', 'prompt_tokens', 'counts'],
    )
    const fields = Object.fromEntries(
      FIELDS.map((field) => [field, fc.oneof(canary, fc.dictionary(members, anything), fc.array(anything))]),
    )
    await fc.assert(
      fc.asyncProperty(fc.record(fields, { requiredKeys: [] }), async (run) => {
        const result = await recorder().post({ runId: 'r1', ...run })
        expect(await recorder().post({ runId: 'r1', ...run })).toEqual(result)
        if (!result.ok) expect(JSON.stringify(result)).not.toContain('c4n4ry')
      }),
      { numRuns: runs(500) },
    )
  })

  it('A refusal echoes no value', async () => {
    const canary = 'c4n4ry c4n4ry'
    const result = await recorder().post(Object.fromEntries(FIELDS.map((field) => [field, canary])))
    expect(faultsOf(result)).toHaveLength(FIELDS.length)
    expect(JSON.stringify(result)).not.toContain('c4n4ry')
  })

  it('A refusal explains interrupted and expired', async () => {
    const { post } = recorder()
    const detail = async (status: string) => problemOf(await post({ runId: 'r1', status })).errors?.[0]?.detail
    expect(await detail('interrupted')).toContain('ambiguous')
    expect(await detail('expired')).toContain('stale sweep')
  })

  it('Values at the limits are accepted', async () => {
    const { post } = recorder()
    const run = {
      runId: long(200),
      model: long(200),
      seq: Number.MAX_SAFE_INTEGER,
      timings: { startedAt: NOW + 300_000, queuedAt: 1e11 },
      counts: {
        ...Object.fromEntries(many(32).map((n) => [`c${n}`, n])),
        inputTokens: Number.MAX_SAFE_INTEGER,
        steps: 0,
      },
      usageByModel: many(16).map(() => model),
      tags: many(20).map((n) => `${n}`.padEnd(64, 'x')),
      metadata: Object.fromEntries(many(32).map((n) => [`${n}`.padEnd(64, 'x'), long(512)])),
      status: 'failed',
      error: { type: long(100), message: '' },
    }
    expect((await post(run, { sessionId: '!~'.repeat(100) })).status).toBe(201)
  })
})
