import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/model/json.ts'
import type { AddedAmounts, Measurement, RunMeasurement } from '../../../src/model/measurement.ts'
import { addCounts, countMeasurement, noCounts, viewCounts } from '../../../src/plugins/statistics/counts.ts'
import { fc, runs } from '../../support/properties.ts'

const RESULTS = ['sent', 'retried', 'failed', 'skipped', 'expired'] as const
const REASONS = ['attempts_exhausted', 'condition_false', 'throttled', undefined] as const

const head = { tenant: fc.constant('t'), eventType: fc.constant('e') }
const accepted = fc.record({ of: fc.constant('accepted' as const), ...head })
const delivery = fc.record({
  ...{ of: fc.constant('delivery' as const), ...head, channel: fc.constant('a') },
  result: fc.constantFrom(...RESULTS),
  reason: fc.constantFrom(...REASONS),
  latencyMs: fc.option(fc.integer({ min: -5, max: 10 ** 9 }), { nil: undefined }),
})
const amount = fc
  .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 1, max: 99 }))
  .map(([whole, part]) => `${whole === 0n ? 1n : whole}.${String(part).padStart(2, '0')}`.replace(/0$/, ''))
const amountsWith = (tokens: fc.Arbitrary<number>): fc.Arbitrary<AddedAmounts> =>
  fc.record({ tokens, cost: fc.dictionary(fc.constantFrom('EUR', 'USD', 'JPY'), amount) })
const amounts = amountsWith(fc.integer({ min: -1_000, max: 1_000_000 }))
const run = fc.record({
  ...{ of: fc.constant('run' as const), tenant: fc.constant('t'), isNew: fc.boolean() },
  ended: fc.constantFrom('completed', 'failed', 'cancelled', undefined),
  ...{ byApplication: amounts, byAgent: amounts },
}) as fc.Arbitrary<Measurement>

const measurement: fc.Arbitrary<Measurement> = fc.oneof(accepted, delivery as fc.Arbitrary<Measurement>, run)

function counted(measurements: readonly Measurement[]) {
  const counts = noCounts()
  for (const one of measurements) countMeasurement(counts, one)
  return counts
}

const NONE: AddedAmounts = { tokens: 0, cost: {} }

/** A measurement of a run that adds nothing else. */
function spent(more: Partial<RunMeasurement>): RunMeasurement {
  return { of: 'run', tenant: 't', isNew: false, byApplication: NONE, byAgent: NONE, ...more }
}

const stored = (measurements: readonly Measurement[]): JsonObject => JSON.parse(JSON.stringify(counted(measurements)))

describe('counts', () => {
  it('The sum of the stored counts of any parts is the count of all measurements', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(measurement, fc.nat(4)), { maxLength: 60 }), (all) => {
        const sum = noCounts()
        for (const part of [4, 2, 0, 1, 3])
          addCounts(sum, stored(all.filter(([, own]) => own === part).map(([one]) => one)))
        const whole = counted(all.map(([one]) => one))
        expect(viewCounts(0, sum)).toEqual(viewCounts(0, whole))
        expect(sum).toEqual(whole)
      }),
      { numRuns: runs(300) },
    )
  })

  it('Each measurement is counted by its kind', () => {
    const base = { of: 'delivery', tenant: 't', eventType: 'e', channel: 'a' } as const
    const counts = counted([
      { of: 'accepted', tenant: 't', eventType: 'e' },
      { ...base, result: 'sent', latencyMs: 20 },
      { ...base, result: 'sent', latencyMs: -3 },
      { ...base, result: 'sent' },
      { ...base, result: 'retried' },
      { ...base, result: 'failed', reason: 'provider_rejected' },
      { ...base, result: 'expired' },
      { ...base, result: 'skipped', reason: 'throttled' },
      { ...base, result: 'skipped' },
      spent({ isNew: true, byApplication: { tokens: 10, cost: { EUR: '0.1' } } }),
      spent({ ended: 'completed', byApplication: { tokens: -3, cost: { EUR: '0.2', USD: '1' } } }),
      spent({ byApplication: { tokens: 0, cost: {} }, byAgent: { tokens: 5, cost: { EUR: '7' } } }),
    ])
    expect(counts).toEqual({
      ...{ accepted: 1, sent: 3, retried: 1, runs: 1 },
      failed: { provider_rejected: 1, expired: 1 },
      skipped: { throttled: 1, unknown: 1 },
      latencies: { '20ms': 1, '0ms': 1 },
      ended: { completed: 1 },
      byApplication: { tokens: 7, cost: { EUR: '0.3', USD: '1' } },
      byAgent: { tokens: 5, cost: { EUR: '7' } },
    })
  })

  it('Members that stored counts lack count as nothing', () => {
    const sum = counted([{ of: 'accepted', tenant: 't', eventType: 'e' }])
    addCounts(sum, {})
    const ofOtherVersions = { accepted: 2, later: { unknown: 1 }, tokens: 5, cost: { EUR: '1' }, byAgent: {} }
    addCounts(sum, ofOtherVersions as object)
    expect(sum).toEqual({ ...noCounts(), accepted: 3 })
  })

  it('A bucket shows percentiles only of measured latencies, and no cost of zero', () => {
    const cost = (EUR: string): Measurement => spent({ byAgent: { tokens: 0, cost: { EUR } } })
    const { latencyMs, byAgent, startsAt } = viewCounts(0, counted([cost('1.5'), cost('-1.5')]))
    expect([startsAt, latencyMs, byAgent]).toEqual(['1970-01-01T00:00:00.000Z', undefined, { tokens: 0, cost: [] }])
    const latencies = Array.from(
      { length: 100 },
      (_, at): Measurement => ({
        ...{ of: 'delivery', tenant: 't', eventType: 'e', channel: 'a', result: 'sent', latencyMs: at < 50 ? 10 : 60 },
      }),
    )
    expect(viewCounts(0, counted(latencies)).latencyMs).toEqual({ p50: 10, p95: 60, p99: 60 })
  })
})

const MOST = Number.MAX_SAFE_INTEGER

describe('sums of tokens', () => {
  const tokens = fc.oneof(
    fc.constantFrom(MOST, -MOST, MOST - 1, 1 - MOST, 2 ** 52),
    fc.integer({ min: -5, max: 5 }),
    fc.maxSafeInteger(),
  )

  it('A sum of any size, stored in any parts, is exact or says that it is not', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(tokens, fc.nat(2)), { maxLength: 12 }), (all) => {
        const sum = noCounts()
        for (const part of [2, 0, 1]) {
          const own = all.filter(([, each]) => each === part)
          addCounts(sum, stored(own.map(([each]) => spent({ byAgent: { tokens: each, cost: {} } }))))
        }
        const { byAgent, byApplication } = viewCounts(0, sum)
        expect(byApplication).toEqual({ tokens: 0, cost: [] })
        const exact = all.reduce((whole, [each]) => whole + BigInt(each), 0n)
        expect(Number.isSafeInteger(byAgent.tokens)).toBe(true)
        expect(byAgent.inexact ?? BigInt(byAgent.tokens) === exact).toBe(true)
      }),
      { numRuns: runs(3_000) },
    )
  })

  it.each([
    [[MOST - 1], { tokens: MOST - 1 }],
    [[MOST, 1], { tokens: MOST, inexact: true }],
    [[-MOST, -MOST], { tokens: -MOST, inexact: true }],
    [[MOST, MOST, -MOST, -MOST], { tokens: MOST, inexact: true }],
  ])('%j is %j, and does not change the sum of the other source', (all, expected) => {
    const measured = all.map((each) => spent({ byAgent: { tokens: each, cost: {} } }))
    const { byAgent, byApplication } = viewCounts(
      0,
      counted([...measured, spent({ byApplication: { ...NONE, tokens: 3 } })]),
    )
    expect([byAgent, byApplication]).toEqual([
      { ...expected, cost: [] },
      { tokens: 3, cost: [] },
    ])
  })
})
