import { MAX_ANCESTORS } from '../../../model/run-tree-limit.ts'
import type { Found, Prefix, Wanted } from '../../engine/records.ts'
import type { Database } from '../connection/database.ts'
import { functionName } from '../connection/database-functions.ts'
import { columnsOf, type KindColumn, type Row, readValue } from '../tables/record-columns.ts'
import { SNAPSHOT_COLUMNS, snapshotText } from './snapshot-text.ts'

const RUN_NAMES = SNAPSHOT_COLUMNS.filter((name) => name !== 'kind')
const RUNS = columnsOf('runs', RUN_NAMES)
const SUMS = columnsOf('run_sums')
const SESSIONS = columnsOf('sessions')
/** Columns of all rows: totals are in `state`, and the failures of a session in `derived`. */
const OTHER_NAMES: Readonly<Record<string, string>> = { totals: 'state', failures: 'derived' }

/**
 * Reads consistent merge snapshots in one statement: runs and their ancestors, the totals of descendants of all these, and the sessions.
 * Resolves to `undefined` for other reads.
 */
export function snapshotReader(db: Database): (wanted: readonly Wanted[]) => Promise<Found | undefined> {
  const { dialect, nameOf, prefix } = db
  const parameter = dialect.parameter(1)
  const text = dialect.hasFunctions
    ? `select ${SNAPSHOT_COLUMNS.join(', ')} from ${functionName('snapshots', dialect, prefix)}(${parameter})`
    : snapshotText(parameter, dialect, nameOf)

  return async (wanted) => {
    const runs = followedRuns(wanted)
    if (!runs) return undefined
    const keys = runs.map(([run_id, session_id, tenant]) => ({ tenant, session_id, run_id }))
    const found = { runs: [] as Row[], run_sums: [] as Row[], sessions: [] as Row[] }
    for (const row of await db.query<Row>(text, [JSON.stringify(keys)])) {
      if (row.kind === 'run') found.runs.push(recordOf(RUNS, row))
      else if (row.kind === 'sum') found.run_sums.push(recordOf(SUMS, row))
      else found.sessions.push(recordOf(SESSIONS, row))
    }
    return found as unknown as Found
  }
}

function recordOf(columns: readonly KindColumn[], row: Row): Row {
  const record: Record<string, unknown> = {}
  for (const column of columns)
    record[column.name] = readValue(column, row[column.name] ?? row[OTHER_NAMES[column.name] ?? column.name])
  return record
}

/** Keys of runs with ancestors, if sums and sessions are wanted of these alone. */
function followedRuns(wanted: readonly Wanted[]): readonly Prefix[] | undefined {
  const runs = wanted.find(({ follow }) => follow)
  if (runs?.kind !== 'runs' || runs.index !== undefined || wanted.length > 3) return undefined
  const { follow, columns, with: keys } = runs
  const isAncestors = follow?.column === 'parent_run_id' && follow.unless === 'top' && follow.depth === MAX_ANCESTORS
  if (!isAncestors || follow.also.some((kind) => kind !== 'run_sums')) return undefined
  if (!columns?.every((name) => RUN_NAMES.includes(name)) || keys.some(({ length }) => length !== 3)) return undefined
  const ofRuns = new Set(
    keys.flatMap(([run, session, tenant]) => [nameOf([tenant, session, run]), nameOf([tenant, session])]),
  )
  const isOfRuns = ({ kind, with: prefixes, index }: Wanted): boolean => {
    const length = { sessions: 2, run_sums: 3 }[kind as string]
    return index === undefined && prefixes.every((prefix) => prefix.length === length && ofRuns.has(nameOf(prefix)))
  }
  return wanted.every((one) => one === runs || isOfRuns(one)) ? keys : undefined
}

function nameOf(values: readonly unknown[]): string {
  return JSON.stringify(values)
}
