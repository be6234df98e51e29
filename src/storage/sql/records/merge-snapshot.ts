import { MAX_ANCESTORS } from '../../../model/run-tree-limit.ts'
import type { Found, Prefix, Wanted } from '../../engine/records.ts'
import type { Database } from '../connection/database.ts'
import { functionName } from '../connection/database-functions.ts'
import type { Dialect } from '../dialects/dialects.ts'
import { type LookUp, lookUp, type NameTable } from '../dialects/statements.ts'
import { columnsOf, type KindColumn, type Row, readValue } from '../tables/record-columns.ts'
import { TABLES } from '../tables/tables.ts'

export const SNAPSHOT_COLUMNS: readonly string[] = [
  ...['kind', 'tenant', 'session_id', 'run_id', 'state', 'derived'],
  ...['created_at', 'updated_at', 'last_seen_at', 'revision', 'version'],
]

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

/**
 * Reads consistent merge snapshots in one statement: the runs and their ancestors, the totals of descendants of all these, and the
 * sessions. All rows have the same columns: totals are in `state`, and the failures of a session in `derived`.
 * A key may name a parent too: the stored function of PostgreSQL takes it. Here, that parent is a key of its own.
 * @param parameter The keys, as a JSON array.
 */
export function snapshotText(parameter: string, dialect: Dialect, nameOf: NameTable): string {
  const { tenant, session_id, run_id, parent_run_id } = TABLES.runs.columns
  const keys = dialect.rows(parameter, { tenant, session_id, run_id, parent_run_id }, 'x')
  const join = (look: LookUp): string => lookUp(look, dialect, nameOf)
  const run = (on: string, isLeft: boolean): string => join({ table: 'runs', alias: 'r', on, isLeft })
  const ofRun = (key: string, id: string): string =>
    dialect.sameRow(['r.run_id', 'r.session_id', 'r.tenant'], [`${key}.${id}`, `${key}.session_id`, `${key}.tenant`])
  const ofSum = 's.tenant = n.tenant and s.session_id = n.session_id and s.run_id = n.run_id'
  const ofSession = 's.tenant = d.tenant and s.session_id = d.session_id'
  // `coalesce` gives the ids of both parts of the recursion the collation of the column.
  return `with recursive k as (select x.tenant, x.session_id, x.run_id, x.parent_run_id from ${keys}),
    c (tenant, session_id, run_id, next_id, depth) as (
      select k.tenant, k.session_id, coalesce(r.run_id, k.run_id),
        case when r.top is null then coalesce(r.parent_run_id, k.parent_run_id) else k.parent_run_id end, 0
      from k ${run(ofRun('k', 'run_id'), true)}
      union all
      select r.tenant, r.session_id, r.run_id, coalesce(k.parent_run_id, r.parent_run_id), 0
      from k ${run(ofRun('k', 'run_id'), false)}
      where r.top is null and r.parent_run_id <> k.parent_run_id
      union all
      select c.tenant, c.session_id, c.next_id, case when r.top is null then r.parent_run_id end, c.depth + 1
      from c ${run(ofRun('c', 'next_id'), true)}
      where c.next_id is not null and c.depth < ${MAX_ANCESTORS}
    ),
    n as (select distinct tenant, session_id, run_id from c)
    select 'run' as kind, r.tenant, r.session_id, r.run_id, r.state, r.derived, r.created_at, r.updated_at, r.last_seen_at,
      r.revision, r.version
    from n ${run(ofRun('n', 'run_id'), false)}
    union all
    select 'sum', s.tenant, s.session_id, s.run_id, s.totals, '', 0, 0, 0, 0, s.version
    from n ${join({ table: 'run_sums', alias: 's', on: ofSum })}
    union all
    select 'session', s.tenant, s.session_id, '', s.totals, s.failures, s.created_at, s.updated_at, 0, 0, s.version
    from (select distinct tenant, session_id from k) d ${join({ table: 'sessions', alias: 's', on: ofSession })}`
}
