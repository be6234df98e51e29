import type { RecordedRun, RunFacts } from '../client/recorded-run.ts'
import type { RunCounts } from '../model/run.ts'
import { meter } from './model-call.ts'
import { type Members, untypedMembers } from './untyped.ts'

/** Sums what the results of a query report, by model. */
export interface ClaudeUsage {
  /** Adds a result. Returns the counts that it adds. */
  add(result: Members): RunCounts
  /** The cost, and the usage of each of several models. */
  facts(provider: string): RunFacts
}

const MAX_MODELS = 16

/**
 * `modelUsage` is a running total, which continues that of a resumed session. `model_usage_since_last_result`, of newer versions, excludes
 * earlier queries.
 */
export function claudeUsage(run: RecordedRun): ClaudeUsage {
  const byModel = new Map<string, { readonly counts: Record<string, number>; cost: number }>()
  const before = new Map<string, Members>()

  const addModel = (model: string, usage: Members): RunCounts => {
    const { counts, cost } = byModel.get(model) ?? { counts: {}, cost: 0 }
    const { counts: added } = meter(run, usage)
    for (const [name, count = 0] of Object.entries(added)) counts[name] = (counts[name] ?? 0) + count
    byModel.set(model, { counts, cost: cost + (Number(usage.costUSD) || 0) })
    return added
  }

  return {
    add({ model_usage_since_last_result: since, modelUsage }) {
      const sum: Record<string, number> = {}
      for (const [model, reported] of Object.entries(untypedMembers(since ?? modelUsage))) {
        const usage = untypedMembers(reported)
        const added = addModel(model, since ? usage : difference(usage, before.get(model)))
        before.set(model, usage)
        for (const [name, count = 0] of Object.entries(added)) sum[name] = (sum[name] ?? 0) + count
      }
      return sum
    },
    facts(provider) {
      const models = [...byModel].slice(0, MAX_MODELS)
      const amount = models.reduce((total, [, { cost }]) => total + cost, 0)
      return {
        ...(amount > 0 && { cost: { amount: amount.toFixed(9), currency: 'USD', source: 'client' } }),
        ...(models.length > 1 && { usageByModel: models.map(([model, { counts }]) => ({ provider, model, counts })) }),
      }
    },
  }
}

/** A smaller value follows a reset. */
function difference(usage: Members, before: Members = {}): Members {
  const since = (value: unknown, earlier: unknown): unknown =>
    typeof value === 'number' && Number(earlier) <= value ? value - Number(earlier) : value
  return Object.fromEntries(Object.entries(usage).map(([name, value]) => [name, since(value, before[name])]))
}
