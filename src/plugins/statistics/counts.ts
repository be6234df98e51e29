import { MOST, viewAmounts } from '../../model/amounts.ts'
import { addDecimals } from '../../model/decimal.ts'
import { bucketOf, quantilesOf } from '../../model/histogram.ts'
import { writeInstant } from '../../model/instants.ts'
import type { AddedAmounts, Measurement } from '../../model/measurement.ts'
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
  readonly byApplication: SummedAmounts
  readonly byAgent: SummedAmounts
}

type SummedAmounts = {
  tokens: number
  readonly cost: Record<string, string>
}

const SOURCES = ['byApplication', 'byAgent'] as const

export function noCounts(): Counts {
  return {
    ...{ accepted: 0, sent: 0, retried: 0, runs: 0 },
    ...{ failed: {}, skipped: {}, latencies: {}, ended: {} },
    byApplication: { tokens: 0, cost: {} },
    byAgent: { tokens: 0, cost: {} },
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
      const { isNew, ended } = measurement
      if (isNew) counts.runs++
      if (ended !== undefined) addTo(counts.ended, ended, 1)
      for (const source of SOURCES) addAmounts(counts[source], measurement[source])
    }
  }
}

/** @param add Members that it lacks count as 0: an older version may have stored it. */
export function addCounts(sum: Counts, add: Partial<Counts>): void {
  sum.accepted += add.accepted ?? 0
  sum.sent += add.sent ?? 0
  sum.retried += add.retried ?? 0
  sum.runs += add.runs ?? 0
  for (const part of ['failed', 'skipped', 'latencies', 'ended'] as const)
    for (const [name, count] of Object.entries(add[part] ?? {})) addTo(sum[part], name, count)
  for (const source of SOURCES) addAmounts(sum[source], add[source])
}

export function viewCounts(startsAt: number, counts: Counts): StatisticsBucket {
  const { latencies, byApplication, byAgent, ...rest } = counts
  const latency = quantilesOf(latencies)
  return {
    startsAt: writeInstant(startsAt),
    ...rest,
    ...(latency && { latencyMs: { p50: latency.at(50), p95: latency.at(95), p99: latency.at(99) } }),
    byApplication: viewAmounts(byApplication),
    byAgent: viewAmounts(byAgent),
  }
}

function addTo(counts: Record<string, number>, name: string, count: number): void {
  counts[name] = (counts[name] ?? 0) + count
}

function addAmounts(sum: SummedAmounts, { tokens = 0, cost = {} }: Partial<AddedAmounts> = {}): void {
  sum.tokens = plus(sum.tokens, tokens)
  for (const [currency, amount] of Object.entries(cost))
    sum.cost[currency] = addDecimals(sum.cost[currency] ?? '0', amount)
}

/** A sum that reached 2^53 - 1, or its negative, stays there, whatever is added: what it would be is not known. */
function plus(one: number, other: number): number {
  const stopped = [one, other, one + other].find((sum) => Math.abs(sum) >= MOST)
  return stopped === undefined ? one + other : Math.sign(stopped) * MOST
}
