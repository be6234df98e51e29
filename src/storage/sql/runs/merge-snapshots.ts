import type { RunKey } from '../../../ports/run-store.ts'
import type { Database } from '../connection/database.ts'
import { functionName } from '../schema/functions.ts'
import { SIGHT_COLUMNS, sightText } from './merge-snapshot-query.ts'
import { readTally, storedRun, storedSession } from './run-records.ts'
import { type MergeDesk, mergeDesk } from './run-unit-of-work.ts'

type Row = Readonly<Record<string, unknown>>

/** Reads what merges are to see: in one statement for all of them, so that it is of one moment. */
export function sightReader(db: Database): (keys: readonly RunKey[]) => Promise<MergeDesk> {
  const { dialect, nameOf, prefix } = db
  const parameter = dialect.parameter(1)
  const text = dialect.hasFunctions
    ? `select ${SIGHT_COLUMNS.join(', ')} from ${functionName('sights', dialect, prefix)}(${parameter})`
    : sightText(parameter, dialect, nameOf)
  return async (keys) => {
    const wanted = keys.map(({ tenant, sessionId, runId, parentRunId = null }) => ({
      tenant,
      session_id: sessionId,
      run_id: runId,
      parent_run_id: parentRunId,
    }))
    const desk = mergeDesk()
    for (const row of await db.query<Row>(text, [JSON.stringify(wanted)])) put(row, desk)
    desk.begin(keys)
    return desk
  }
}

function put(row: Row, desk: MergeDesk): void {
  const { kind, tenant, session_id, run_id, state, account } = row
  const version = Number(row.version)
  if (kind === 'run') desk.putRun(storedRun(row), String(session_id), version)
  else if (kind === 'sum') desk.putSum(String(tenant), String(session_id), String(run_id), readTally(state), version)
  else desk.putSession(storedSession({ ...row, tally: state, failures: account }), version)
}
