import { viewRun } from '../../../../src/core/runs/merge/selectors.ts'
import { histogramOf } from '../../../../src/core/runs/sessions/percentiles.ts'
import type { Run } from '../../../../src/model/run.ts'
import type { Spend, Totals } from '../../../../src/model/totals.ts'
import type { StoredRun } from '../../../../src/ports/run-store.ts'

/** Sums by path, such as `models/openai/gpt/counts/steps`. Money is in billionths. */
export type Flat = Record<string, bigint>

const BILLION = 1_000_000_000n

/** The totals of a session and the spend of each user, calculated from the runs alone, tree by tree. */
export function expectedSums(runs: readonly StoredRun[]): { session: Flat; users: Flat } {
  const shown = runs.map((run) => ({ run: viewRun(run), isTop: run.derived.top === true }))
  const ids = new Set(shown.map(({ run }) => run.runId))
  const isTop = ({ run, isTop }: (typeof shown)[number]) =>
    isTop || run.parentRunId === undefined || !ids.has(run.parentRunId)
  const descendants = (run: Run) => shown.filter((each) => !isTop(each) && each.run.parentRunId === run.runId)
  const whole = (run: Run): { sums: Flat; users: Flat } => {
    const parts = descendants(run).map((child) => whole(child.run))
    const sums = total(parts.map((part) => part.sums))
    const left = run.countsScope === 'tree' ? without(sums, run) : sums
    const all = total([left, ownSums(run)])
    if (run.userId === undefined) return { sums: all, users: total(parts.map((part) => part.users)) }
    const spent = Object.entries(all).filter(([path]) => path.startsWith('spend/'))
    return { sums: all, users: Object.fromEntries(spent.map(([path, sum]) => [`${run.userId}/${path}`, sum])) }
  }
  const tops = shown.filter(isTop).map(({ run }) => whole(run))
  return { session: total(tops.map(({ sums }) => sums)), users: total(tops.map(({ users }) => users)) }
}

export function ownSums(run: Run): Flat {
  const sums: Flat = {}
  const add = (path: string, by: number | bigint | undefined) => {
    if (by !== undefined) sums[path] = (sums[path] ?? 0n) + BigInt(by)
  }
  const { counts = {}, cost, timings = {} } = run
  const tokens = tokensOf(run)
  add('spend/runs', 1)
  add('spend/tokens', tokens)
  if (cost) add(`spend/cost/${cost.currency}`, billionths(cost.amount))
  else if (tokens) {
    add('spend/unpricedRuns', 1)
    add('spend/unpricedTokens', tokens)
  }
  add(`byStatus/${run.status}`, 1)
  for (const [name, count] of Object.entries(counts)) add(`counts/${name}`, count)
  const row = `models/${run.provider ?? ''}/${run.model ?? ''}`
  add(`${row}/runs`, 1)
  const own = { provider: run.provider ?? '', model: run.model ?? '', counts, cost }
  const shares = run.usageByModel?.length ? run.usageByModel : [own]
  for (const share of shares) {
    const path = `models/${share.provider}/${share.model}`
    for (const [name, count] of Object.entries(share.counts)) add(`${path}/counts/${name}`, count)
    if (share.cost) add(`${path}/cost/${share.cost.currency}`, billionths(share.cost.amount))
  }
  const { durationMs, activeMs, modelMs, toolMs, startedAt, firstTokenAt } = timings
  add('time/durationMs', durationMs)
  add('time/activeMs', activeMs)
  if (durationMs !== undefined && activeMs !== undefined && durationMs >= activeMs)
    add('time/waitingMs', durationMs - activeMs)
  add('time/modelMs', modelMs)
  add('time/toolMs', toolMs)
  if (durationMs !== undefined) add(`durations/${Object.keys(histogramOf(durationMs))}`, 1)
  const span = startedAt && firstTokenAt ? Date.parse(firstTokenAt) - Date.parse(startedAt) : -1
  const firstToken = timings.timeToFirstTokenMs ?? (span < 0 ? undefined : span)
  if (firstToken !== undefined) add(`firstTokens/${Object.keys(histogramOf(firstToken))}`, 1)
  return sums
}

function tokensOf({ counts = {} }: Run): number | undefined {
  const { inputTokens, outputTokens, totalTokens } = counts
  return inputTokens === undefined && outputTokens === undefined
    ? totalTokens
    : (inputTokens ?? 0) + (outputTokens ?? 0)
}

/** The part of the descendants' totals that a run does not cover. */
export function without(sums: Flat, run: Run): Flat {
  const counts = Object.keys(run.counts ?? {})
  const ofModels = [...counts, ...(run.usageByModel ?? []).flatMap((share) => Object.keys(share.counts))]
  const ofModelsCost = run.cost || run.usageByModel?.some(({ cost }) => cost)
  const isReported = (path: string) => {
    const parts = path.split('/')
    if (parts[0] === 'counts') return counts.includes(parts[1] ?? '')
    if (parts[0] === 'models')
      return parts[3] === 'counts' ? ofModels.includes(parts[4] ?? '') : parts[3] === 'cost' && ofModelsCost
    if (path.startsWith('spend/cost') || path === 'spend/unpricedRuns') return run.cost !== undefined
    if (path === 'spend/unpricedTokens') return run.cost !== undefined
    return path === 'spend/tokens' && tokensOf(run) !== undefined
  }
  const left = Object.fromEntries(Object.entries(sums).filter(([path]) => !isReported(path)))
  // Tokens of the run that are priced below it have a price.
  if (run.cost === undefined && tokensOf(run) !== undefined)
    left['spend/unpricedTokens'] = (sums['spend/unpricedTokens'] ?? 0n) - (sums['spend/tokens'] ?? 0n)
  return left
}

export function total(all: readonly Flat[]): Flat {
  const sum: Flat = {}
  for (const flat of all) for (const [path, by] of Object.entries(flat)) sum[path] = (sum[path] ?? 0n) + by
  return sum
}

/** Totals in the oracle's form: without zeros, except in counts, which are reported or not. */
export function flatSums(of: Totals | Spend): Flat {
  const flat: Flat = {}
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) visit(inner, path === '' ? name : `${path}/${name}`)
    else flat[path] = typeof value === 'string' ? billionths(value) : BigInt(value as number)
  }
  visit(of, '')
  return flat
}

/** Without zeros, except in reported counts. */
export function withoutZeros(flat: Flat): Flat {
  return Object.fromEntries(Object.entries(flat).filter(([path, sum]) => sum !== 0n || path.startsWith('counts/')))
}

function billionths(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  return (amount.startsWith('-') ? -1n : 1n) * (BigInt(whole) * BILLION + BigInt(fraction.padEnd(9, '0')))
}
