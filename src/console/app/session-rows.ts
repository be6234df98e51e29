import type { Run } from '../../model/run.ts'

export interface TreeRow {
  readonly run: Run
  readonly depth: number
  /** Its parent is on another page, or not recorded. */
  readonly isParentElsewhere: boolean
}

/** Runs of one page as a tree, parents before children. Siblings keep their order; runs that are their own ancestors stand at the root. */
export function treeRows(runs: readonly Run[]): readonly TreeRow[] {
  const children = new Map<string, Run[]>()
  for (const run of runs) {
    if (run.parentRunId === undefined) continue
    const siblings = children.get(run.parentRunId) ?? []
    children.set(run.parentRunId, [...siblings, run])
  }
  const ids = new Set(runs.map(({ runId }) => runId))
  const rows = new Map<Run, TreeRow>()
  const add = (run: Run, depth: number): void => {
    if (rows.has(run)) return
    const { runId, parentRunId } = run
    rows.set(run, { run, depth, isParentElsewhere: parentRunId !== undefined && !ids.has(parentRunId) })
    for (const child of children.get(runId) ?? []) add(child, depth + 1)
  }
  for (const run of runs) if (run.parentRunId === undefined || !ids.has(run.parentRunId)) add(run, 0)
  // Only circles of parents are left.
  for (const run of runs) add(run, 0)
  return [...rows.values()]
}
