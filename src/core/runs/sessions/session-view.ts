import { writeInstant } from '../../../model/instants.ts'
import { copyJson } from '../../../model/json.ts'
import type { RunCounts, RunStatus } from '../../../model/run.ts'
import type { Money, SessionShare, SessionSummary, SessionTime, SessionTotals } from '../../../model/session.ts'
import { addModel, isEmpty, type ModelTotals, noModel, type Totals } from '../../../model/totals.ts'
import { wholeTotals } from '../../../model/whole-totals.ts'
import type { StoredSession } from '../../../ports/run-store.ts'
import { percentilesOf } from './percentiles.ts'

/** Converts a stored session to its public view, without the lists of its runs. Shares nothing with it. */
export function viewSession(session: StoredSession): SessionSummary {
  const { sessionId, createdAt, updatedAt, totals, failures } = session
  const [last] = failures
  return {
    sessionId,
    createdAt: writeInstant(createdAt),
    updatedAt: writeInstant(updatedAt),
    ...viewTotals(totals),
    ...(last && { lastError: viewFailure(last) }),
  }
}

function viewFailure({
  runId,
  at,
  error,
}: StoredSession['failures'][number]): NonNullable<SessionSummary['lastError']> {
  return { runId, at: writeInstant(at), ...(error && { error: copyJson(error) as typeof error & object }) }
}

function viewTotals(totals: Totals): SessionTotals {
  const { spend, byStatus, counts, models, time, durations, firstTokens } = wholeTotals(totals)
  const duration = percentilesOf(durations)
  const timeToFirstToken = percentilesOf(firstTokens)
  return {
    runs: {
      total: whole(spend.runs),
      byStatus: aboveZero(byStatus as Record<RunStatus, number>),
    },
    counts: viewCounts(counts),
    tokens: whole(spend.tokens),
    cost: viewMoney(spend.cost),
    unpriced: { runs: whole(spend.unpricedRuns), tokens: whole(spend.unpricedTokens) },
    models: viewModels(models),
    providers: viewProviders(models),
    ...(duration && { duration }),
    ...(timeToFirstToken && { timeToFirstToken }),
    time: aboveZero(time) as SessionTime,
  }
}

/** Clamps a sum: huge counts exceed 2^53 - 1, and subtracting a removed run can give a negative number. */
function whole(sum: number): number {
  return Math.min(Math.max(sum, 0), Number.MAX_SAFE_INTEGER)
}

function viewCounts(sums: Totals['counts']): RunCounts {
  const counts: Record<string, number> = {}
  for (const name in sums) counts[name] = whole(sums[name] ?? 0)
  return counts
}

/** Drops sums of 0: they look the same as sums that never existed. */
function aboveZero(sums: Totals['counts']): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name in sums) if (whole(sums[name] ?? 0) > 0) counts[name] = whole(sums[name] ?? 0)
  return counts
}

function viewMoney(cost: ModelTotals['cost']): readonly Money[] {
  return Object.keys(cost)
    .sort()
    .map((currency) => ({ currency, amount: cost[currency] ?? '0' }))
    .filter(({ amount }) => amount !== '0' && !amount.startsWith('-'))
}

function viewModels(models: Totals['models']): readonly SessionShare[] {
  return byName(models).flatMap(([provider, ofProvider]) =>
    byName(ofProvider).flatMap(([model, share]) => viewShare(share, provider, model)),
  )
}

function viewProviders(models: Totals['models']): readonly SessionShare[] {
  return byName(models).flatMap(([provider, ofProvider]) => {
    const sum = noModel()
    for (const share of Object.values(ofProvider)) addModel(sum, share)
    return viewShare(sum, provider, '')
  })
}

/** Empty when everything was subtracted again. */
function viewShare(share: ModelTotals, provider: string, model: string): readonly SessionShare[] {
  const runs = whole(share.runs)
  const counts = aboveZero(share.counts)
  const cost = viewMoney(share.cost)
  if (runs === 0 && isEmpty(counts) && cost.length === 0) return []
  return [{ ...(provider !== '' && { provider }), ...(model !== '' && { model }), runs, counts, cost }]
}

function byName<T>(of: Readonly<Record<string, T>>): readonly (readonly [string, T])[] {
  return Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1))
}
