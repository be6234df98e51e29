import type { Run } from '../../model/run.ts'
import type { Redacted } from './redacted.ts'

type RunShown = Redacted<Run>

export interface TreeRow {
  readonly run: RunShown
  readonly depth: number
  /** Its parent is on another page, or not recorded. */
  readonly isParentElsewhere: boolean
}

/** Runs of one page as a tree, parents before children. Siblings keep their order; runs that are their own ancestors stand at the root. */
export function treeRows(runs: readonly RunShown[]): readonly TreeRow[] {
  const ids = new Set(runs.map(({ runId }) => runId))
  const rowOf = (run: RunShown, depth: number): TreeRow => {
    const { parentRunId } = run
    return { run, depth, isParentElsewhere: parentRunId !== undefined && !ids.has(parentRunId) }
  }
  // Ids that were replaced by one value name no parent.
  if (ids.size < runs.length) return runs.map((run) => rowOf(run, 0))
  const children = new Map<unknown, RunShown[]>()
  for (const run of runs) {
    if (run.parentRunId === undefined) continue
    const siblings = children.get(run.parentRunId) ?? []
    children.set(run.parentRunId, [...siblings, run])
  }
  const rows = new Map<RunShown, TreeRow>()
  const add = (run: RunShown, depth: number): void => {
    if (rows.has(run)) return
    rows.set(run, rowOf(run, depth))
    for (const child of children.get(run.runId) ?? []) add(child, depth + 1)
  }
  for (const run of runs) if (run.parentRunId === undefined || !ids.has(run.parentRunId)) add(run, 0)
  // Only circles of parents are left.
  for (const run of runs) add(run, 0)
  return [...rows.values()]
}
