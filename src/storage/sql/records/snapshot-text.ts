import { MAX_ANCESTORS } from '../../../model/run-tree-limit.ts'
import { type Dialect, type LookUp, lookUp, type NameTable } from '../dialects/dialects.ts'
import { TABLES } from '../tables/tables.ts'

export const SNAPSHOT_COLUMNS: readonly string[] = [
  ...['kind', 'tenant', 'session_id', 'run_id', 'state', 'derived'],
  ...['created_at', 'updated_at', 'last_seen_at', 'revision', 'version'],
]

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
