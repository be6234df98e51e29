import { type ChangeKind, changeText } from '../connection/changes.ts'
import { columnsOf, type Dialect, type NameTable } from '../connection/dialects.ts'
import { leaseSets } from '../dispatches/claim-texts.ts'
import { SNAPSHOT_COLUMNS, snapshotText } from '../runs/merge-snapshot-query.ts'
import type { TableName } from './records.ts'
import { TABLES, type Table } from './tables.ts'

/** The names of the functions. */
export type FunctionName = ChangeKind | 'claim' | 'snapshots' | 'scan'

/** Part of each name. A changed function gets a new name: during a deployment two releases share a database. */
const VERSION = 1

/** The name of a function, as a statement has it. */
export function functionName(name: FunctionName, dialect: Dialect, prefix: string): string {
  return dialect.quote(`${prefix}${name}_${VERSION}`)
}

/**
 * Settings that leave the planner only indexes: each statement finds few rows in large tables, whatever the statistics say of tables
 * that were empty, or of lists whose length is unknown.
 */
const ALONG_INDEXES = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort']
  .map((way) => `set enable_${way} = off`)
  .concat('set jit = off', 'set plan_cache_mode = force_generic_plan')
  .join(' ')

const ALL_TABLES = Object.keys(TABLES) as readonly TableName[]

/** The tables that each kind of change is made to. */
const KINDS: Readonly<Record<ChangeKind, readonly TableName[]>> = {
  insert: ALL_TABLES,
  update: ALL_TABLES,
  remove: ALL_TABLES,
  count: ['dispatches'],
}

/**
 * Definitions of the functions of a PostgreSQL database. The most frequent calls take one round trip, and each connection keeps
 * their plans, with any driver and any pooler.
 */
export function functions(dialect: Dialect, nameOf: NameTable, prefix: string): readonly string[] {
  const nameFor = (name: FunctionName): string => functionName(name, dialect, prefix)
  const changes = Object.entries(KINDS) as [ChangeKind, readonly TableName[]][]
  return [
    ...changes.map(([kind, tables]) => changeFunction(nameFor(kind), kind, tables, dialect, nameOf)),
    claimFunction(nameFor('claim'), dialect, nameOf),
    snapshotsFunction(nameFor('snapshots'), dialect, nameOf),
    scanFunction(nameFor('scan')),
  ]
}

/** Changes rows of a table. If a row is gone or has another version, it fails with the code of a serialization failure. */
function changeFunction(
  name: string,
  kind: ChangeKind,
  tables: readonly TableName[],
  dialect: Dialect,
  nameOf: NameTable,
): string {
  const cases = tables.map((table) => {
    const change = { kind, table, rows: [] }
    return `when '${table}' then ${changeText(change, dialect, nameOf, 'given')};`
  })
  const settings = kind === 'insert' ? '' : ALONG_INDEXES
  return `create or replace function ${name}(of_table text, given json, amount bigint) returns void language plpgsql ${settings} as $body$
  #variable_conflict use_column
  declare changed bigint;
  begin
    case of_table
      ${cases.join('\n      ')}
    end case;
    get diagnostics changed = row_count;
    if changed <> amount then raise exception 'not as it was read' using errcode = '40001'; end if;
  end $body$`
}

/** Reads merge snapshots. */
function snapshotsFunction(name: string, dialect: Dialect, nameOf: NameTable): string {
  const columns = SNAPSHOT_COLUMNS.map((column, at) => `${column} ${at < 6 ? 'text' : 'bigint'}`)
  return `create or replace function ${name}(keys json) returns table (${columns.join(', ')}) language plpgsql stable ${ALONG_INDEXES} as $body$
  #variable_conflict use_column
  begin
    return query ${snapshotText('keys', dialect, nameOf)};
  end $body$`
}

/** Runs a statement along indexes and returns its rows as JSON. It is volatile, since the statement may lock rows. */
function scanFunction(name: string): string {
  return `create or replace function ${name}(statement text, given json) returns table (found json) language plpgsql ${ALONG_INDEXES} as $body$
  begin
    return query execute 'select to_json(q) from (' || statement || ') q' using given;
  end $body$`
}

/** A statement for the `scan` function, which takes all parameters as one JSON array. */
export function scanStatement(text: string, parameters: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, number: string) => {
    const at = Number(number) - 1
    return `($1->>${at})${typeof parameters[at] === 'number' ? '::bigint' : ''}`
  })
}

/** Later than any instant. */
const NEVER = Number.MAX_SAFE_INTEGER

/**
 * Leases what is due. It returns a row for each delivery as it was before, and a last row with the summary of the claim. It may be
 * planned for empty tables, so only one index serves each part: by the order that the part needs, or by what was read before it.
 */
function claimFunction(name: string, dialect: Dialect, nameOf: NameTable): string {
  const columns = ['summary text', ...outputs('deliveries', '', dialect), ...outputs('dispatches', 'h_', dialect)]
  const deliveries = nameOf('deliveries')
  // It depends on nothing around it, so it is one hash lookup for any number of busy receivers.
  const free = `(d.concurrency_key is null or (d.channel, d.concurrency_key) not in (
          select b.channel, b.concurrency_key from json_to_recordset(busy) as b(channel text, concurrency_key text)
        ))`
  const asked = `json_to_recordset(channels) as a(channel text, amount bigint, queued_from bigint, leased_from bigint, is_whole boolean)`
  const first = (status: string, from: string, to: string, condition = ''): string => `left join lateral (
        select d.wake_at from ${deliveries} d
        where d.channel = a.channel and d.status = '${status}' and d.wake_at >= ${from} and d.wake_at <= ${to} ${condition}
        order by d.wake_at limit 1
      )`
  const wanted = `and (d.wake_at > at or d.expires_at > at) and ${free}`
  const expiring = (status: string, condition: string): string => `select d.expires_at from ${deliveries} d
        where d.status = '${status}' and d.wake_at is not null and d.expires_at >= expiring_from and d.expires_at <= at ${condition}
        order by d.expires_at limit 1`
  const over = 'and d.wake_at <= at'
  const leasesUntil = `case when a.is_whole then ${NEVER} else at end`
  return `create or replace function ${name}(channels json, busy json, expiring_from bigint, lease_ms bigint, mark text, at bigint) returns table (${columns.join(', ')}) language plpgsql ${ALONG_INDEXES} as $body$
  #variable_conflict use_column
  begin
    return query with due as materialized (
      select found.* from ${asked} cross join lateral (
        select own.* from (values ('queued', a.queued_from), ('sending', a.leased_from)) w(status, since) cross join lateral (
          select d.* from ${deliveries} d
          where d.channel = a.channel and d.status = w.status and d.wake_at >= w.since and d.wake_at <= at
            and d.expires_at > at and ${free}
          order by d.wake_at limit a.amount for update skip locked
        ) own
        order by own.wake_at limit a.amount
      ) found
    ), leased as (
      update ${deliveries} as d set ${leaseSets(dialect, 'at', 'lease_ms', 'mark')}
      where d.delivery_id = any (array(select x.delivery_id from due x)) returning 1
    )
    select null::text,
      ${columnsOf('deliveries', 'due', dialect)}, ${columnsOf('dispatches', 'h', dialect, 'h_')}
    from due cross join lateral (
      select * from ${nameOf('dispatches')} h where h.dispatch_id = due.dispatch_id offset 0
    ) h;

    summary := json_build_object(
      'now', at,
      'channels', (
        select json_agg(json_build_object('channel', a.channel, 'queued', queued.wake_at, 'leased', leased.wake_at,
          'next', least(next_queued.wake_at, next_leased.wake_at)))
        from ${asked}
        ${first('queued', 'a.queued_from', String(NEVER))} queued on true
        ${first('sending', 'a.leased_from', leasesUntil)} leased on true
        ${first('queued', 'queued.wake_at', String(NEVER), wanted)} next_queued on true
        ${first('sending', 'leased.wake_at', leasesUntil, wanted)} next_leased on true
      ),
      'expiring', least((${expiring('queued', '')}), (${expiring('sending', '')})),
      'expired', least((${expiring('queued', over)}), (${expiring('sending', over)}))
    );
    return next;
  end $body$`
}

/** The columns of a table in the result of a function. */
function outputs(table: TableName, prefix: string, dialect: Dialect): readonly string[] {
  const { columns }: Table = TABLES[table]
  return Object.entries(columns).map(([column, { kind, length = 0 }]) => {
    const [type] = dialect.types[kind](length).split(' ')
    return `${dialect.quote(prefix + column)} ${type}`
  })
}
