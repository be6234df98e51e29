import { addDecimals } from '../../model/decimal.ts'
import { bucketOf, quantilesOf } from '../../model/histogram.ts'
import { writeInstant } from '../../model/instants.ts'
import type { Measurement } from '../../model/measurement.ts'
import type { StatisticsBucket } from '../../model/statistics.ts'

/** Counts of one bucket. Plain JSON; only added. */
export interface Counts {
  accepted: number
  sent: number
  retried: number
  readonly failed: Record<string, number>
  readonly skipped: Record<string, number>
  readonly latencies: Record<string, number>
  runs: number
  readonly ended: Record<string, number>
  tokens: number
  readonly cost: Record<string, string>
}

export function noCounts(): Counts {
  return {
    ...{ accepted: 0, sent: 0, retried: 0, runs: 0, tokens: 0 },
    ...{ failed: {}, skipped: {}, latencies: {}, ended: {}, cost: {} },
  }
}

/** Names are reasons, statuses and buckets of this library, and checked currencies: none is a name of `Object.prototype`. */
export function countMeasurement(counts: Counts, measurement: Measurement): void {
  switch (measurement.of) {
    case 'accepted':
      counts.accepted++
      return
    case 'delivery': {
      const { result, reason, latencyMs } = measurement
      if (result === 'sent') counts.sent++
      else if (result === 'retried') counts.retried++
      else if (result === 'skipped') addTo(counts.skipped, reason ?? 'unknown', 1)
      else addTo(counts.failed, result === 'expired' ? 'expired' : (reason ?? 'unknown'), 1)
      if (latencyMs !== undefined) addTo(counts.latencies, bucketOf(Math.max(0, Math.round(latencyMs))), 1)
      return
    }
    case 'run': {
      const { isNew, ended, tokens, cost } = measurement
      if (isNew) counts.runs++
      if (ended !== undefined) addTo(counts.ended, ended, 1)
      counts.tokens += tokens
      addCost(counts.cost, cost)
    }
  }
}

/** @param add Members that it lacks count as 0: an older version may have stored it. */
export function addCounts(sum: Counts, add: Partial<Counts>): void {
  sum.accepted += add.accepted ?? 0
  sum.sent += add.sent ?? 0
  sum.retried += add.retried ?? 0
  sum.runs += add.runs ?? 0
  sum.tokens += add.tokens ?? 0
  for (const part of ['failed', 'skipped', 'latencies', 'ended'] as const)
    for (const [name, count] of Object.entries(add[part] ?? {})) addTo(sum[part], name, count)
  addCost(sum.cost, add.cost ?? {})
}

export function viewCounts(startsAt: number, counts: Counts): StatisticsBucket {
  const { latencies, cost, ...rest } = counts
  const latency = quantilesOf(latencies)
  return {
    startsAt: writeInstant(startsAt),
    ...rest,
    ...(latency && { latencyMs: { p50: latency.at(50), p95: latency.at(95), p99: latency.at(99) } }),
    cost: Object.entries(cost)
      .filter(([, amount]) => amount !== '0')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([currency, amount]) => ({ amount, currency })),
  }
}

function addTo(counts: Record<string, number>, name: string, count: number): void {
  counts[name] = (counts[name] ?? 0) + count
}

function addCost(sum: Record<string, string>, cost: Readonly<Record<string, string>>): void {
  for (const [currency, amount] of Object.entries(cost)) sum[currency] = addDecimals(sum[currency] ?? '0', amount)
}
