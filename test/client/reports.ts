import type { RecordedRun, RunFacts } from 'sallyport/client'
import { fc } from '../support/properties.ts'

/** One change to a run; later changes have a greater `step`. */
export type PendingEvent = (run: RecordedRun, step: number) => void

const word = fc.constantFrom('a', 'b', 'c')
const facts: fc.Arbitrary<RunFacts> = fc.record(
  {
    provider: word,
    model: word,
    responseModel: word,
    agent: fc.record({ id: word, name: word, version: word }, { requiredKeys: [] }),
    countsScope: fc.constantFrom('self', 'tree'),
    cost: fc.record({ amount: fc.nat(9), currency: fc.constant('EUR'), source: fc.constant('client') }),
    finishReason: word,
    trace: fc.constantFrom({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }),
    userId: word,
    environment: word,
    tags: fc.array(
      fc.nat(29).map((tag) => `t${tag}`),
      { maxLength: 20 },
    ),
    metadata: fc.dictionary(
      fc.nat(59).map((key) => `m${key}`),
      fc.constantFrom(null, 1, 'x'),
      { maxKeys: 32 },
    ),
    timings: fc.record({ modelMs: fc.nat(), toolMs: fc.nat(), timeToFirstTokenMs: fc.nat() }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)
const counts = fc.dictionary(
  fc.nat(25).map((name) => `c${name}`),
  fc.oneof({ weight: 9, arbitrary: fc.nat(9) }, fc.constantFrom(-1, Number.NaN)),
  { minKeys: 1, maxKeys: 20 },
)
const end = fc.oneof(
  facts.map(
    (reported): PendingEvent =>
      (run) =>
        run.complete(reported),
  ),
  facts.map(
    (reported): PendingEvent =>
      (run) =>
        run.incomplete({ ...reported, timings: { durationMs: 5 } }),
  ),
  fc.constantFrom('2026-11-21T07:00:00Z', '2026-11-21T08:00:00.500Z').map(
    (at): PendingEvent =>
      (run) =>
        run.complete({ timings: { queuedAt: at, startedAt: at, firstTokenAt: at } }),
  ),
  facts.map(
    (reported): PendingEvent =>
      (run) =>
        run.fail(new Error('no'), reported),
  ),
  facts.map(
    (reported): PendingEvent =>
      (run) =>
        run.cancel(reported),
  ),
)
/** Any change to a run. */
export const pendingEvent: fc.Arbitrary<PendingEvent> = fc.oneof(
  {
    weight: 6,
    arbitrary: facts.map(
      (reported): PendingEvent =>
        (run) =>
          run.update(reported),
    ),
  },
  {
    weight: 4,
    arbitrary: counts.map(
      (reported): PendingEvent =>
        (run) =>
          run.add(reported),
    ),
  },
  {
    weight: 2,
    // Its token count is a growing total.
    arbitrary: fc.constant<PendingEvent>((run, step) => {
      run.update({ usageByModel: [{ provider: 'a', model: 'a', counts: { inputTokens: step } }] })
    }),
  },
  { weight: 1, arbitrary: fc.constant<PendingEvent>((run) => run.firstToken()) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('input', 'tool').map(
      (what): PendingEvent =>
        (run) =>
          run.waitFor(what as 'tool'),
    ),
  },
  { weight: 1, arbitrary: fc.constant<PendingEvent>((run) => run.resume()) },
  { weight: 1, arbitrary: end },
)
