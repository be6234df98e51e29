import { MOST, viewAmounts, viewMoney } from '../../../model/amounts.ts'
import { writeInstant } from '../../../model/instants.ts'
import { copyJson } from '../../../model/json.ts'
import type { RunCounts, RunStatus } from '../../../model/run.ts'
import type { SessionShare, SessionSummary, SessionTime, SessionTotals } from '../../../model/session.ts'
import { addModel, isEmpty, type ModelTotals, noModel, noSpend, type Totals } from '../../../model/totals.ts'
import { moneyAboveZero, wholeSpend, wholeTotals } from '../../../model/whole-totals.ts'
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
  byAgent,
  error,
}: StoredSession['failures'][number]): NonNullable<SessionSummary['lastError']> {
  return {
    runId,
    at: writeInstant(at),
    ...(byAgent && { byAgent }),
    ...(error && { error: copyJson(error) as typeof error & object }),
  }
}

function viewTotals(totals: Totals): SessionTotals {
  const { spend, byStatus, counts, models, time, durations, firstTokens } = wholeTotals(totals)
  const duration = percentilesOf(durations)
  const timeToFirstToken = percentilesOf(firstTokens)
  const sums = {
    runs: {
      total: whole(spend.runs),
      byStatus: aboveZero(byStatus as Record<RunStatus, number>),
    },
    counts: viewCounts(counts),
    ...viewAmounts(wholeSpend(spend)),
    byAgent: viewAmounts(wholeSpend(totals.agent?.spend ?? noSpend())),
    unpriced: { runs: whole(spend.unpricedRuns), tokens: whole(spend.unpricedTokens) },
    models: viewModels(models),
    providers: viewProviders(models),
    time: aboveZero(time) as SessionTime,
  }
  return {
    ...sums,
    ...(duration && { duration }),
    ...(timeToFirstToken && { timeToFirstToken }),
    ...(hasStopped(sums) && { inexact: true }),
  }
}

/** Clamps a sum: huge counts exceed 2^53 - 1, and subtracting a removed run can give a negative number. */
function whole(sum: number): number {
  return Math.min(Math.max(sum, 0), MOST)
}

/** True if a number in the view stopped at 2^53 - 1. */
function hasStopped(view: unknown): boolean {
  return view === MOST || (typeof view === 'object' && view !== null && Object.values(view).some(hasStopped))
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
  const cost = viewMoney(moneyAboveZero(share.cost))
  if (runs === 0 && isEmpty(counts) && cost.length === 0) return []
  return [{ ...(provider !== '' && { provider }), ...(model !== '' && { model }), runs, counts, cost }]
}

function byName<T>(of: Readonly<Record<string, T>>): readonly (readonly [string, T])[] {
  return Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1))
}
