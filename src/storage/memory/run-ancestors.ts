import { MAX_RUNS_ABOVE } from '../../model/run-tree-limit.ts'
import type { Tally } from '../../model/tally.ts'
import type { MergeSight, RunAbove, RunKey, StoredRun } from '../../ports/run-store.ts'
import type { Room, Shelf } from './run-indexes.ts'

const NONE: MergeSight['above'] = []

/** The runs above one, as {@link MergeSight.above} has them; none, where the run's own account says `top`. */
export function runsAbove(
  key: RunKey,
  run: StoredRun | undefined,
  shelf: Shelf | undefined,
  room: Room | undefined,
): MergeSight['above'] {
  let runId = run?.state.parentRunId ?? key.parentRunId
  if (runId === undefined || run?.account.top) return NONE
  const above: RunAbove[] = []
  const met = new Set<string>()
  while (runId !== undefined && above.length < MAX_RUNS_ABOVE && !met.has(runId)) {
    met.add(runId)
    const next: StoredRun | undefined = runIn(room, runId, shelf)
    above.push(aboveOf(runId, next, room?.below.get(runId)))
    runId = next?.account.top ? undefined : next?.state.parentRunId
  }
  return above
}

/** The run, if it is in that session. */
function runIn(room: Room | undefined, runId: string, shelf: Shelf | undefined): StoredRun | undefined {
  const row = shelf?.byId.get(runId)
  return row !== undefined && row.room === room ? row.run : undefined
}

function aboveOf(runId: string, run: StoredRun | undefined, below: Tally | undefined): RunAbove {
  return { runId, ...(run && { run }), ...(below && { below }) }
}
