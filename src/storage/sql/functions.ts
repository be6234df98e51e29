import type { ChangeKind } from './changes.ts'
import type { Dialect } from './dialects.ts'
import { SIGHT_COLUMNS, sightText } from './merge-sight-text.ts'
import { columnsOf } from './read-records.ts'
import type { TableName } from './records.ts'
import { changeText, type NameTable } from './statements.ts'
import { TABLES, type Table } from './tables.ts'

/**
 * Functions of a PostgreSQL database: what is done most often takes one round trip, and its plan is kept with the connection,
 * whatever driver there is and whatever pooler is in between.
 */
export function functions(dialect: Dialect, nameOf: NameTable, prefix: string): readonly string[] {
  return [
    ...KINDS.map((kind) => changeFunction(kind, dialect, nameOf, prefix)),
    claimFunction(dialect, nameOf, prefix),
    sightsFunction(dialect, nameOf, prefix),
  ]
}

/** What a function does. */
export type FunctionName = ChangeKind | 'claim' | 'sights'

/**
 * A function that has to become another one gets another name: hosts of two releases share a database while one replaces the
 * other.
 */
const VERSION = 1

/** The name of a function, as a statement has it. */
export function functionName(name: FunctionName, dialect: Dialect, prefix: string): string {
  return dialect.quote(`${prefix}${name}_${VERSION}`)
}

/**
 * Few rows are looked for in great tables, always by an index: whatever the planner believes of tables that were empty when it
 * was asked, or of lists whose length it cannot know.
 */
const ALONG_INDEXES = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort']
  .map((way) => `set enable_${way} = off`)
  .concat('set jit = off', 'set plan_cache_mode = force_generic_plan')
  .join(' ')

const KINDS: readonly ChangeKind[] = ['insert', 'update', 'remove']

/**
 * Changes rows of a table. Where one that is to be updated or removed is gone, or of another version, it fails as a serialization
 * failure: what was read has changed.
 */
function changeFunction(kind: ChangeKind, dialect: Dialect, nameOf: NameTable, prefix: string): string {
  const tables = Object.keys(TABLES).map((table) => {
    const change = { kind, table: table as TableName, rows: [] }
    return `when '${table}' then ${changeText(change, dialect, nameOf, 'given')};`
  })
  const settings = kind === 'insert' ? '' : ALONG_INDEXES
  return `create or replace function ${functionName(kind, dialect, prefix)}(of_table text, given json, amount bigint) returns void language plpgsql ${settings} as $body$
  #variable_conflict use_column
  declare changed bigint;
  begin
    case of_table
      ${tables.join('\n      ')}
    end case;
    get diagnostics changed = row_count;
    if changed <> amount then raise exception 'not as it was read' using errcode = '40001'; end if;
  end $body$`
}

/**
 * Leases what is due: a row for each, as it was before, and a last one of when it was, when the next is due, and whether
 * something has expired.
 */
function claimFunction(dialect: Dialect, nameOf: NameTable, prefix: string): string {
  const columns = [
    'claimed_at bigint',
    'next_at bigint',
    'is_expired boolean',
    ...outputs('deliveries', '', dialect),
    ...outputs('dispatches', 'h_', dialect),
  ]
  const deliveries = nameOf('deliveries')
  // It names nothing of what is around it: it is looked up in a hash, however many are busy.
  const free = `(d.concurrency_key is null or (d.channel, d.concurrency_key) not in (
          select b.channel, b.concurrency_key from json_to_recordset(busy) as b(channel text, concurrency_key text)
        ))`
  return `create or replace function ${functionName('claim', dialect, prefix)}(channels json, busy json, lease_ms bigint, mark text, at bigint) returns table (${columns.join(', ')}) language plpgsql ${ALONG_INDEXES} as $body$
  #variable_conflict use_column
  begin
    return query with asked as materialized (
      select x.channel, x.amount from json_to_recordset(channels) as x(channel text, amount bigint)
    ), due as materialized (
      select found.* from asked a cross join lateral (
        select d.* from ${deliveries} d
        where d.channel = a.channel and d.wake_at <= at and d.expires_at > at and ${free}
        order by d.wake_at limit a.amount for update skip locked
      ) found
    ), leased as (
      update ${deliveries} as d set status = 'sending', reason = null, wake_at = at + lease_ms, fence = mark,
        attempt_log = d.attempt_log || '{"attempt":' || (d.attempts + 1) || ',"startedAt":' || at || '},',
        open_key = null, version = d.version + 1, attempts = d.attempts + 1
      from due x where d.delivery_id = x.delivery_id returning 1
    )
    select null::bigint, null::bigint, null::boolean,
      ${columnsOf('deliveries', 'due', dialect)}, ${columnsOf('dispatches', 'h', dialect, 'h_')}
    from due join ${nameOf('dispatches')} h on h.dispatch_id = due.dispatch_id;

    claimed_at := at;
    next_at := (
      select min(next.wake_at) from json_to_recordset(channels) as a(channel text) cross join lateral (
        select d.wake_at from ${deliveries} d
        where d.channel = a.channel and d.wake_at is not null and (d.wake_at > at or d.expires_at > at) and ${free}
        order by d.wake_at limit 1
      ) next
    );
    is_expired := exists (select 1 from ${deliveries} d where d.expires_at <= at and d.wake_at <= at);
    return next;
  end $body$`
}

/** Reads what merges see. */
function sightsFunction(dialect: Dialect, nameOf: NameTable, prefix: string): string {
  const columns = SIGHT_COLUMNS.map((column, at) => `${column} ${at < 6 ? 'text' : 'bigint'}`)
  return `create or replace function ${functionName('sights', dialect, prefix)}(keys json) returns table (${columns.join(', ')}) language plpgsql stable ${ALONG_INDEXES} as $body$
  #variable_conflict use_column
  begin
    return query ${sightText('keys', dialect, nameOf)};
  end $body$`
}

/** The columns of a table as a function gives them. */
function outputs(table: TableName, prefix: string, dialect: Dialect): readonly string[] {
  const { columns }: Table = TABLES[table]
  return Object.entries(columns).map(([column, { kind, length = 0 }]) => {
    const [type] = dialect.types[kind](length).split(' ')
    return `${dialect.quote(prefix + column)} ${type}`
  })
}
