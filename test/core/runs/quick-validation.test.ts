import { describe, expect, it } from 'vitest'
import { isRefused } from '../../../src/core/answers/result.ts'
import { checkJsonSafety } from '../../../src/core/json/safety-check.ts'
import { readQuickly } from '../../../src/core/json/schema-readers.ts'
import { sessionRunSchema, validateSessionRun } from '../../../src/core/runs/session-run-schema.ts'
import { validate } from '../../../src/core/validate.ts'
import { fc, runs } from '../../support/properties.ts'
import { NOW } from './recorder.ts'

/** A body with every field. */
function fullBody(): Record<string, unknown> {
  const counts = { inputTokens: 10, own: 3 }
  const cost = { amount: '1.5', currency: 'USD', source: 'client', pricingVersion: 'v1' }
  return {
    sessionId: 's1',
    run: {
      runId: 'r1',
      status: 'failed',
      provider: 'p',
      model: 'm',
      responseModel: 'rm',
      seq: 1,
      parentRunId: 'r0',
      resumedFromRunId: 'r2',
      attempt: 1,
      agent: { id: 'a', name: 'n', version: '1' },
      timings: { queuedAt: NOW - 3, startedAt: new Date(NOW - 2).toISOString(), endedAt: NOW, durationMs: 2 },
      counts,
      countsScope: 'self',
      usage: { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 1 } },
      usageByModel: [{ provider: 'p', model: 'm', counts, cost }],
      cost,
      finishReason: 'stop',
      waitingFor: 'input',
      error: { type: 't', message: 'm', code: 'c', retryable: true },
      trace: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' },
      userId: 'u',
      environment: 'e',
      tags: ['x', 'y'],
      metadata: { k: 'v', n: 1, b: true, gone: null },
    },
  }
}

class NotPlain {
  readonly name = 'n'
}

const deep = (levels: number): unknown => (levels === 0 ? 1 : { deeper: deep(levels - 1) })

/** Harmful and harmless values. JSON has no `undefined`. */
const intruder: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    'a\0b',
    '\ud800',
    'x\udfff',
    '\ud83d\ude00',
    2 ** 60,
    -1,
    1.5,
    Number.NaN,
    Infinity,
    -0,
    '',
    null,
  ),
  fc.constantFrom<unknown>(true, new Date(0), new NotPlain(), new Map(), Object.create({ name: 'n' }), [], {}, 10n),
  fc.constantFrom<unknown>(
    Symbol('s'),
    () => 1,
    deep(40),
    JSON.parse('{"__proto__":{"name":"n"}}'),
    { 'a\0': 'b' },
    NOW + 1e9,
  ),
)

const strangeKey = fc.constantFrom('__proto__', 'a\0', '\ud800', 'constructor', 'toString', 'name', 'own2', '')

/** Puts a value at a random place: instead of the value there, or beside it. */
function intrude(body: unknown, picks: readonly number[], value: unknown, key: string, beside: boolean): unknown {
  let at = body as Record<string, unknown>
  for (const pick of picks) {
    const keys = Object.keys(at)
    const chosen = keys[pick % keys.length] ?? ''
    const next = at[chosen]
    if (typeof next === 'object' && next !== null && pick % 5 !== 0) at = next as Record<string, unknown>
    else {
      Object.defineProperty(at, beside && !Array.isArray(at) ? key : chosen, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      })
      return body
    }
  }
  return body
}

const bodies = fc
  .tuple(fc.array(fc.nat(60), { minLength: 5, maxLength: 5 }), intruder, strangeKey, fc.boolean())
  .map(([picks, value, key, beside]) => intrude(fullBody(), picks, value, key, beside))

describe('the quick reading of the schema', () => {
  it('A valid body is read quickly', () => {
    expect(readQuickly(sessionRunSchema, fullBody())).toBeDefined()
  })

  it('A body that is read quickly is safe, and gives the same value as the full check', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        if (readQuickly(sessionRunSchema, body) === undefined) return
        expect(checkJsonSafety(body)).toEqual([])
      }),
      { numRuns: runs(20_000) },
    )
  })

  it('Any body is accepted only if it is safe and fits the schema', () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const outcome = validateSessionRun(body, NOW)
        const guarded = validate(sessionRunSchema, body)
        if (isRefused(guarded)) expect(isRefused(outcome)).toBe(true)
        else if (!isRefused(outcome)) expect(outcome).toEqual(guarded)
      }),
      { numRuns: runs(5_000) },
    )
  })
})
