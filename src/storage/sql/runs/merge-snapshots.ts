import type { RunKey } from '../../../ports/run-store.ts'
import type { Database } from '../connection/database.ts'
import { functionName } from '../schema/functions.ts'
import { SNAPSHOT_COLUMNS, snapshotText } from './merge-snapshot-query.ts'
import { readTotals, storedRun, storedSession } from './run-records.ts'
import { type RunUnitOfWork, runUnitOfWork } from './run-unit-of-work.ts'

type Row = Readonly<Record<string, unknown>>

/** Reads what merges are to see: in one statement for all of them, so that it is of one moment. */
export function snapshotReader(db: Database): (keys: readonly RunKey[]) => Promise<RunUnitOfWork> {
  const { dialect, nameOf, prefix } = db
  const parameter = dialect.parameter(1)
  const text = dialect.hasFunctions
    ? `select ${SNAPSHOT_COLUMNS.join(', ')} from ${functionName('snapshots', dialect, prefix)}(${parameter})`
    : snapshotText(parameter, dialect, nameOf)
  return async (keys) => {
    const wanted = keys.map(({ tenant, sessionId, runId, parentRunId = null }) => ({
      tenant,
      session_id: sessionId,
      run_id: runId,
      parent_run_id: parentRunId,
    }))
    const harness = runUnitOfWork()
    for (const row of await db.query<Row>(text, [JSON.stringify(wanted)])) put(row, harness)
    harness.begin(keys)
    return harness
  }
}

function put(row: Row, harness: RunUnitOfWork): void {
  const { kind, tenant, session_id, run_id, state, derived } = row
  const version = Number(row.version)
  if (kind === 'run') harness.putRun(storedRun(row), String(session_id), version)
  else if (kind === 'sum')
    harness.putSum(String(tenant), String(session_id), String(run_id), readTotals(state), version)
  else harness.putSession(storedSession({ ...row, totals: state, failures: derived }), version)
}
