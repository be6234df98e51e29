import { MAX_ANCESTORS } from '../../../model/run-tree-limit.ts'
import { shownReport } from '../../../model/shown-run.ts'
import { decoded } from '../../engine/json-values.ts'
import type { RecordOf } from '../../engine/kinds.ts'
import type { Found, Prefix, Wanted } from '../../engine/records.ts'
import { nextTieBreaker, tagText } from '../../engine/runs/run-records.ts'
import type { Database } from '../connection/database.ts'
import { type Dialect, lookUp, type NameTable } from '../connection/dialects.ts'
import { SNAPSHOT_COLUMNS } from '../runs/merge-snapshot-query.ts'
import { functionName } from '../schema/functions.ts'
import { TABLES } from '../schema/tables.ts'
import { columnsOf, type KindColumn, type Row, readValue } from './record-columns.ts'

const RUN_NAMES = [
  'tenant',
  'session_id',
  'run_id',
  'state',
  'derived',
  'created_at',
  'updated_at',
  'last_seen_at',
].concat('revision', 'version', 'tie_breaker', 'tags')
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
      if (row.kind === 'run') found.runs.push(runOf(row))
      else if (row.kind === 'sum') found.run_sums.push(recordOf(SUMS, row))
      else found.sessions.push(recordOf(SESSIONS, row))
    }
    return found as unknown as Found
  }
}

/**
 * The database function lacks two columns. The tags are those of the state. The tie breaker never changes in the run; new tags of a stored
 * run get another one, as they always did.
 */
function runOf(row: Row): Row {
  const run = recordOf(RUNS, row)
  if (row.tie_breaker !== undefined) return run
  const state = decoded((run as RecordOf<'runs'>).state)
  return { ...run, tie_breaker: nextTieBreaker(), tags: state ? tagText(shownReport(state).tags) : null }
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

/** @param parameter The keys of the runs, as a JSON array. */
function snapshotText(parameter: string, dialect: Dialect, tables: NameTable): string {
  const { tenant, session_id, run_id } = TABLES.runs.columns
  const keys = dialect.rows(parameter, { tenant, session_id, run_id }, 'x')
  const run = (key: string): string => {
    const on = `r.run_id = ${key}.run_id and r.session_id = ${key}.session_id and r.tenant = ${key}.tenant`
    return lookUp({ table: 'runs', alias: 'r', on }, dialect, tables)
  }
  const ofRun = 's.tenant = n.tenant and s.session_id = n.session_id and s.run_id = n.run_id'
  const sums = lookUp({ table: 'run_sums', alias: 's', on: ofRun }, dialect, tables)
  const ofSession = 's.tenant = d.tenant and s.session_id = d.session_id'
  const sessions = lookUp({ table: 'sessions', alias: 's', on: ofSession }, dialect, tables)
  return `with recursive k as (select x.tenant, x.session_id, x.run_id from ${keys}),
    c (tenant, session_id, run_id, depth) as (
      select k.tenant, k.session_id, k.run_id, 0 from k
      union all
      select c.tenant, c.session_id, r.parent_run_id, c.depth + 1 from c ${run('c')}
      where r.top is null and r.parent_run_id is not null and c.depth < ${MAX_ANCESTORS}
    ),
    n as (select distinct tenant, session_id, run_id from c)
    select 'run' as kind, r.tenant, r.session_id, r.run_id, r.state, r.derived, r.created_at, r.updated_at, r.last_seen_at,
      r.revision, r.version, r.tie_breaker, r.tags
    from n ${run('n')}
    union all
    select 'sum', s.tenant, s.session_id, s.run_id, s.totals, '', 0, 0, 0, 0, s.version, 0, null from n ${sums}
    union all
    select 'session', s.tenant, s.session_id, '', s.totals, s.failures, s.created_at, s.updated_at, 0, 0, s.version, 0, null
    from (select distinct tenant, session_id from k) d ${sessions}`
}
