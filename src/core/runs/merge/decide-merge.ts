import type { RunUpdate } from '../../../model/run.ts'
import type { MergeDecision, MergeSnapshot } from '../../../ports/run-store.ts'
import { priceRun } from '../price-run.ts'
import { rollUp } from '../sessions/roll-up.ts'
import { derivedOf } from './derived-run-data.ts'
import type { MergeRules } from './merge-rules.ts'
import { mergeRun, type RunMerge } from './merge-run.ts'

/** What came of recording a post. */
export type Recording =
  | (Extract<RunMerge, { outcome: 'merged' }> & {
      /** Whether the run came to its first end by this. */
      readonly firstEnd: boolean
    })
  | Extract<RunMerge, { outcome: 'conflict' }>
  | { readonly outcome: 'session_missing' }

/** Decides what becomes of a run, and of all that is summed up over it, when a post comes in. Pure. */
export function decideMerge(snapshot: MergeSnapshot, update: RunUpdate, rules: MergeRules): MergeDecision<Recording> {
  const { run, session } = snapshot
  if (rules.sessions === 'must-exist' && session === undefined) return { result: { outcome: 'session_missing' } }
  const merge = mergeRun(run?.state, update)
  if (merge.outcome === 'conflict') return { result: merge }
  const { state, created, changed, ignored } = merge
  if (!changed)
    return { result: { outcome: 'merged', state, created, changed, ignored, firstEnd: false }, touched: true }
  const derived = derivedOf(run, state, priceRun(run, state, rules), rules.tells)
  const rolled = rollUp(snapshot, state, derived, rules.now)
  const firstEnd = derived.ended.length > 0 && (run === undefined || run.derived.ended.length === 0)
  return {
    result: { outcome: 'merged', state, created, changed, ignored, firstEnd },
    touched: true,
    state,
    derived: rolled.derived,
    totalsChanges: rolled.totalsChanges,
    failures: rolled.failures,
  }
}
