import { describe, expect, it } from 'vitest'
import { addCounts, countMeasurement, noCounts, viewCounts } from '../../../src/core/statistics/counts.ts'
import type { JsonObject } from '../../../src/model/json.ts'
import type { Measurement } from '../../../src/model/measurement.ts'
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
const run = fc.record({
  ...{ of: fc.constant('run' as const), tenant: fc.constant('t'), isNew: fc.boolean() },
  ended: fc.constantFrom('completed', 'failed', 'cancelled', undefined),
  tokens: fc.integer({ min: -1_000, max: 1_000_000 }),
  cost: fc.dictionary(fc.constantFrom('EUR', 'USD', 'JPY'), amount),
}) as fc.Arbitrary<Measurement>

const measurement: fc.Arbitrary<Measurement> = fc.oneof(accepted, delivery as fc.Arbitrary<Measurement>, run)

function counted(measurements: readonly Measurement[]) {
  const counts = noCounts()
  for (const one of measurements) countMeasurement(counts, one)
  return counts
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
      { of: 'run', tenant: 't', isNew: true, tokens: 10, cost: { EUR: '0.1' } },
      { of: 'run', tenant: 't', isNew: false, ended: 'completed', tokens: -3, cost: { EUR: '0.2', USD: '1' } },
    ])
    expect(counts).toEqual({
      ...{ accepted: 1, sent: 3, retried: 1, runs: 1, tokens: 7 },
      failed: { provider_rejected: 1, expired: 1 },
      skipped: { throttled: 1, unknown: 1 },
      latencies: { '20ms': 1, '0ms': 1 },
      ended: { completed: 1 },
      cost: { EUR: '0.3', USD: '1' },
    })
  })

  it('Members that stored counts lack count as nothing', () => {
    const sum = counted([{ of: 'accepted', tenant: 't', eventType: 'e' }])
    addCounts(sum, {})
    const ofLaterVersion = { accepted: 2, later: { unknown: 1 } }
    addCounts(sum, ofLaterVersion)
    expect(sum).toEqual({ ...noCounts(), accepted: 3 })
  })

  it('A bucket shows percentiles only of measured latencies, and no cost of zero', () => {
    const cost = (EUR: string): Measurement => ({ of: 'run', tenant: 't', isNew: false, tokens: 0, cost: { EUR } })
    const { latencyMs, cost: shown, startsAt } = viewCounts(0, counted([cost('1.5'), cost('-1.5')]))
    expect([startsAt, latencyMs, shown]).toEqual(['1970-01-01T00:00:00.000Z', undefined, []])
    const latencies = Array.from(
      { length: 100 },
      (_, at): Measurement => ({
        ...{ of: 'delivery', tenant: 't', eventType: 'e', channel: 'a', result: 'sent', latencyMs: at < 50 ? 10 : 60 },
      }),
    )
    expect(viewCounts(0, counted(latencies)).latencyMs).toEqual({ p50: 10, p95: 60, p99: 60 })
  })
})
