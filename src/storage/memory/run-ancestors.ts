import { MAX_RUNS_ABOVE } from '../../model/run-tree-limit.ts'
import type { Totals } from '../../model/totals.ts'
import type { MergeSnapshot, RunAncestor, RunKey, StoredRun } from '../../ports/run-store.ts'
import type { SessionEntry, TenantIndexes } from './run-indexes.ts'

const NONE: MergeSnapshot['ancestors'] = []

/** The runs above one, as {@link MergeSight.above} has them; none, where the run's own account says `top`. */
export function runAncestors(
  key: RunKey,
  run: StoredRun | undefined,
  tenantIndexes: TenantIndexes | undefined,
  room: SessionEntry | undefined,
): MergeSnapshot['ancestors'] {
  let runId = run?.state.parentRunId ?? key.parentRunId
  if (runId === undefined || run?.derived.top) return NONE
  const ancestors: RunAncestor[] = []
  const met = new Set<string>()
  while (runId !== undefined && ancestors.length < MAX_RUNS_ABOVE && !met.has(runId)) {
    met.add(runId)
    const next: StoredRun | undefined = runIn(room, runId, tenantIndexes)
    ancestors.push(ancestorsOf(runId, next, room?.descendants.get(runId)))
    runId = next?.derived.top ? undefined : next?.state.parentRunId
  }
  return ancestors
}

/** The run, if it is in that session. */
function runIn(
  room: SessionEntry | undefined,
  runId: string,
  tenantIndexes: TenantIndexes | undefined,
): StoredRun | undefined {
  const row = tenantIndexes?.byId.get(runId)
  return row !== undefined && row.room === room ? row.run : undefined
}

function ancestorsOf(runId: string, run: StoredRun | undefined, descendants: Totals | undefined): RunAncestor {
  return { runId, ...(run && { run }), ...(descendants && { descendants }) }
}
