import { MAX_ANCESTORS } from '../../../model/run-tree-limit.ts'
import type { MergeKey } from '../../../ports/run-store.ts'
import type { Follow, Prefix, Records, Wanted } from '../records.ts'
import { RUN_COLUMNS } from './run-records.ts'
import { RunUnitOfWork } from './run-unit-of-work.ts'

const FOLLOW: Follow = { column: 'parent_run_id', unless: 'top', depth: MAX_ANCESTORS, also: ['run_sums'] }
const COLUMNS: readonly string[] = [...RUN_COLUMNS, 'version']

/** Reads the runs of merges, their ancestors, the sums of all these and the sessions, as they were at one moment. */
export async function readSnapshots(keys: readonly MergeKey[], records: Records): Promise<RunUnitOfWork> {
  const work = new RunUnitOfWork()
  const found = await records.read(wantedBy(keys, work))
  for (const record of found.sessions ?? []) work.putSession(record)
  for (const record of found.runs ?? []) work.putRun(record)
  for (const record of found.run_sums ?? []) work.putSum(record)
  // Records that were not named show that the backend follows ancestors: those that it did not find do not exist.
  if (work.hasOthers) work.declareAncestorsRead(keys)
  return work
}

function wantedBy(keys: readonly MergeKey[], work: RunUnitOfWork): readonly Wanted[] {
  const sessions: Prefix[] = []
  const runs: Prefix[] = []
  const sums: Prefix[] = []
  for (const { tenant, sessionId, runId, parentRunId } of keys) {
    const session = work.session(tenant, sessionId)
    if (session.isEmpty) sessions.push([tenant, sessionId])
    for (const id of parentRunId === undefined ? [runId] : [runId, parentRunId]) {
      if (!session.expect(id)) continue
      runs.push([id, sessionId, tenant])
      sums.push([tenant, sessionId, id])
    }
  }
  return [
    { kind: 'sessions', with: sessions },
    { kind: 'runs', with: runs, columns: COLUMNS, follow: FOLLOW },
    { kind: 'run_sums', with: sums },
  ]
}
