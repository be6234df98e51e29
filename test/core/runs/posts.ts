import * as v from 'valibot'
import { normaliseRun } from '../../../src/core/runs/normalise-run.ts'
import { sessionRunSchema } from '../../../src/core/runs/session-run-schema.ts'
import type { RunUpdate } from '../../../src/model/run.ts'
import { fc } from '../../support/properties.ts'

const START = Date.parse('2026-11-21T08:00:00.000Z')

const STATUSES = [
  ...['queued', 'running', 'waiting', 'completed', 'incomplete', 'failed', 'cancelled'],
  ...['pending', 'in_progress', 'requires_action', 'success', 'error', 'canceled', 'timeout', 'TIMED-OUT'],
]

const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof({ weight: 3, arbitrary: of }, { weight: 2, arbitrary: fc.constantFrom(null, undefined) })

const instant = fc
  .tuple(fc.nat(20), fc.boolean())
  .map(([step, text]) => (text ? new Date(START + step * 1000).toISOString() : START + step * 1000))
const count = fc.constantFrom(0, 1, 2, 10, 9)
const word = fc.constantFrom('a', 'b', 'c')

/** Posts about one run as callers write them: few values, so that they collide; ids that agree. */
const post: fc.Arbitrary<object> = fc.record(
  {
    status: maybe(fc.constantFrom(...STATUSES)),
    seq: maybe(fc.nat(3)),
    parentRunId: maybe(fc.constant('parent')),
    attempt: maybe(fc.constant(2)),
    model: maybe(word),
    agent: maybe(fc.record({ name: maybe(word), version: maybe(word) })),
    timings: maybe(
      fc.record({
        queuedAt: maybe(instant),
        startedAt: maybe(instant),
        endedAt: maybe(instant),
        durationMs: maybe(count),
        toolMs: maybe(count),
      }),
    ),
    counts: maybe(fc.record({ inputTokens: maybe(count), steps: maybe(count), valueOf: maybe(count) })),
    usage: maybe(
      fc.record({ prompt_tokens: maybe(count), completion_tokens: maybe(count), brand_new_tokens: maybe(count) }),
    ),
    cost: maybe(
      fc.record({ amount: fc.constantFrom('1', 2, 0.5), currency: fc.constant('EUR'), source: fc.constant('client') }),
    ),
    finishReason: maybe(word),
    waitingFor: maybe(fc.constantFrom('input', 'approval')),
    error: maybe(fc.record({ type: word, retryable: maybe(fc.boolean()) })),
    tags: maybe(fc.array(word, { maxLength: 3 })),
    metadata: maybe(
      fc.record({ k: maybe(fc.oneof(word, count, fc.boolean())), toString: maybe(count) }, { requiredKeys: [] }),
    ),
  },
  { requiredKeys: [] },
)

/** One normalised post, or one with `expired`, which only the sweep makes. */
export const update: fc.Arbitrary<RunUpdate> = fc.tuple(post, fc.nat(19)).map(([run, sweep]) => {
  const body = v.parse(sessionRunSchema, { sessionId: 's1', run: { ...run, runId: 'r1' } })
  const normalised = normaliseRun(body).update
  return sweep === 0 ? { ...normalised, status: 'expired', timings: { endedAt: START } } : normalised
})

export const updates: fc.Arbitrary<RunUpdate[]> = fc.array(update, { minLength: 1, maxLength: 6 })

/** Posts, and the same posts in another order, some repeated. */
export const shuffled: fc.Arbitrary<[RunUpdate[], RunUpdate[]]> = updates.chain((posts) =>
  fc
    .tuple(
      fc.shuffledSubarray(posts, { minLength: posts.length }),
      fc.array(fc.constantFrom(...posts), { maxLength: 3 }),
    )
    .chain(([order, again]) => fc.tuple(fc.constant(posts), insertAnywhere(order, again))),
)

function insertAnywhere(order: RunUpdate[], again: RunUpdate[]): fc.Arbitrary<RunUpdate[]> {
  return fc.tuple(...again.map(() => fc.nat(order.length))).map((places) => {
    const all = [...order]
    for (const [index, place] of places.entries()) all.splice(place, 0, ...again.slice(index, index + 1))
    return all
  })
}
