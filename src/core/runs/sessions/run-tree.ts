import type { Run } from '../../../model/run.ts'
import type { RunNode } from '../../../model/session.ts'

type Draft = Omit<RunNode, 'children'> & { readonly children: Draft[] }

/** Builds the tree of runs. Siblings keep their order. In a cycle of parents, one run moves to the top, so that none is lost. */
export function runTree(runs: readonly Run[]): readonly RunNode[] {
  const parents = parentsOf(runs)
  const nodes = new Map(runs.map((run) => [run, nodeOf(run, parents.has(run))]))
  const top: Draft[] = []
  for (const [run, node] of nodes) {
    const parent = parents.get(run)
    const siblings = parent === undefined ? top : nodes.get(parent)?.children
    siblings?.push(node)
  }
  return top
}

/** Omits parents that would close a cycle. */
function parentsOf(runs: readonly Run[]): Map<Run, Run> {
  const byId = new Map(runs.map((run) => [run.runId, run]))
  const parents = new Map<Run, Run>()
  for (const run of runs) {
    const parent = run.parentRunId === undefined ? undefined : byId.get(run.parentRunId)
    if (parent !== undefined) parents.set(run, parent)
  }
  const climbedFrom = new Map<Run, Run>()
  for (const run of runs) {
    let at: Run | undefined = run
    for (; at !== undefined && !climbedFrom.has(at); at = parents.get(at)) climbedFrom.set(at, run)
    if (at !== undefined && climbedFrom.get(at) === run) parents.delete(at)
  }
  return parents
}

function nodeOf(run: Run, isBelow: boolean): Draft {
  const { runId, status, agent, model, timings, parentRunId } = run
  const { startedAt, durationMs } = timings ?? {}
  return {
    runId,
    status,
    ...(agent && { agent }),
    ...(model !== undefined && { model }),
    ...(startedAt !== undefined && { startedAt }),
    ...(durationMs !== undefined && { durationMs }),
    ...(!isBelow && parentRunId !== undefined && { parentRunId }),
    children: [],
  }
}
