import { describe, expect, it } from 'vitest'
import { isRefused } from '../../src/core/answers/result.ts'
import { dispatchSchema } from '../../src/core/dispatch/dispatch-schema.ts'
import { readBatch } from '../../src/core/runs/handle-session-run-batch.ts'
import { validateSessionRun } from '../../src/core/runs/session-run-schema.ts'
import { validate } from '../../src/core/validate.ts'
import { misfits } from './lint.ts'

const NOW = Date.UTC(2026, 10, 21, 8)
const BIG = 2 ** 53

/** Replacements for every field, valid for some and invalid for others. */
const VALUES: readonly unknown[] = [
  ...[
    '',
    'a',
    'A1',
    'a b',
    'ä',
    '1.50',
    '.5',
    '-1',
    '0',
    '1e3',
    'self',
    'client',
    'approval',
    'running',
    'success',
    'XYZ',
    'r1',
    'USD',
    'US',
  ],
  ...['2026-11-21T07:00:00Z', '2026-11-21', '2026-02-30T00:00:00Z', '4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(16)],
  ...['00f067aa0ba902b7', '9'.repeat(40), '9'.repeat(43)],
  ...[64, 65, 100, 101, 128, 129, 200, 201, 256, 257, 512, 513, 2000, 2001, 2048, 2049].map((length) =>
    'a'.repeat(length),
  ),
  ...[-1, -0.5, 0, 0.5, 1, 1e11 - 1, 1e11, NOW, BIG - 1, BIG, -BIG, 1e300, true, false, null],
  ...[[], ['a'], [1], [''], Array(20).fill('a'), Array(21).fill('a'), ['a'.repeat(64)], ['a'.repeat(65)]],
  ...[
    {},
    { a: 1 },
    { a: 'b' },
    { a: true },
    { a: null },
    { a: {} },
    { a: -1 },
    { a: 0.5 },
    { a: BIG },
    { A: 1 },
    { 'a-b': 1 },
  ],
  ...[
    { type: 't' },
    { id: 'i' },
    { id: 1 },
    { a: 'x'.repeat(512) },
    { a: 'x'.repeat(513) },
    { '': 1 },
    { ['k'.repeat(65)]: 1 },
  ],
  ...[32, 33].map((size) => Object.fromEntries(Array.from({ length: size }, (_, index) => [`k${index}`, 'v']))),
]

const counts = { inputTokens: 1, own: 2 }
const cost = { amount: '1.5', currency: 'USD', source: 'client', pricingVersion: 'v1' }
const RUN = {
  sessionId: 's1',
  run: {
    runId: 'r1',
    status: 'failed',
    provider: 'p',
    model: 'm',
    responseModel: 'm',
    seq: 1,
    parentRunId: 'r0',
    resumedFromRunId: 'r2',
    attempt: 1,
    agent: { id: 'a', name: 'n', version: '1' },
    timings: {
      ...{ queuedAt: NOW, startedAt: NOW, firstTokenAt: NOW, endedAt: '2026-11-21T07:00:00Z', durationMs: 1 },
      ...{ activeMs: 1, modelMs: 1, toolMs: 1, timeToFirstTokenMs: 1 },
    },
    counts,
    countsScope: 'self',
    usage: {},
    usageByModel: [{ provider: 'p', model: 'm', counts, cost }],
    cost,
    finishReason: 'stop',
    waitingFor: 'input',
    error: { type: 't', message: 'm', code: 'c', retryable: true },
    trace: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' },
    userId: 'u',
    environment: 'e',
    tags: ['x'],
    metadata: { ticket: 1 },
  },
}
const DISPATCH = { eventType: 'a', recipient: 'b', eventData: {}, channel: 'c', sessionId: 's' }

interface Variant {
  readonly place: string
  readonly put: unknown
  readonly body: unknown
}

/** Bodies with one field replaced or removed, for every field and every value. */
function variants(body: object, prefix = ''): Variant[] {
  return Object.entries(body).flatMap(([key, member]) => {
    const place = `${prefix}/${key}`
    const { [key as never]: _, ...without } = body
    const changed = VALUES.map((put) => ({ place, put, body: { ...body, [key]: put } }))
    const deeper =
      typeof member === 'object'
        ? variants(member, place).map((inner) => ({
            ...inner,
            body: Array.isArray(body) ? [inner.body] : { ...body, [key]: inner.body },
          }))
        : []
    const itself = Array.isArray(body) ? [] : [...changed, { place, put: undefined, body: without }]
    return [...itself, ...deeper]
  })
}

/** Known differences between the handlers and the document. */
const BEYOND: Readonly<Record<string, (variant: Variant) => boolean>> = {
  'null counts as a missing field': ({ put }) => put === null || Object(put).a === null,
  'integers over 2^53 are refused in every field': ({ put }) => Object(put).a === BIG,
  'instants ahead of the clock are refused': ({ place, put }) => place.startsWith('/run/timings/') && put === BIG - 1,
  'unknown currencies are refused': ({ place, put }) => place.endsWith('/currency') && put === 'XYZ',
  'statuses of other systems are accepted': ({ place, put }) => place === '/run/status' && put === 'success',
  'a run does not refer to itself': ({ place, put }) => place.endsWith('RunId') && put === RUN.run.runId,
}

describe.each([
  ['DispatchRequest', DISPATCH, (body: unknown) => validate(dispatchSchema, body)],
  ['SessionRunRequest', RUN, (body: unknown) => validateSessionRun(body, NOW)],
] as const)('the schema %s', (name, base, read) => {
  const all = [{ place: '', put: base, body: base as unknown }, ...variants(base)]
  const schema = { $ref: `#/components/schemas/${name}` }

  it(`The schema ${name} accepts the same ${all.length} bodies as its handler`, async () => {
    const fits = all.map(({ body }) => ({ schema, value: body }))
    const misfit = await misfits(fits, 'any')
    expect(misfit.has(0)).toBe(false)
    const differing = all.filter(({ body }, index) => misfit.has(index) !== isRefused(read(body)))
    const unexplained = differing.filter((variant) => !Object.values(BEYOND).some((explains) => explains(variant)))
    expect(unexplained).toEqual([])
    if (name === 'DispatchRequest') return
    const needless = Object.keys(BEYOND).filter((reason) => !differing.some((variant) => BEYOND[reason]?.(variant)))
    expect(needless).toEqual([])
  })
})

describe('the schema SessionRunBatchRequest', () => {
  it('The batch schema and its handler accept 1 to 100 posts', async () => {
    const schema = { $ref: '#/components/schemas/SessionRunBatchRequest' }
    const bodies = [0, 1, 100, 101].map((length) => ({ runs: Array(length).fill(RUN) }))
    const fits = [...bodies, {}, { runs: RUN }].map((value) => ({ schema, value }))
    const misfit = await misfits(fits, 'any')
    expect([...misfit.keys()]).toEqual([0, 3, 4, 5])
    expect(fits.map(({ value }) => isRefused(readBatch(value)))).toEqual([true, false, false, true, true, true])
  })
})
