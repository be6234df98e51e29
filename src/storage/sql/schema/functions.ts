import { MAX_TENANTS_VISITED } from '../../../model/tenant-turns.ts'
import { isNumber } from '../../engine/columns.ts'
import { KIND_NAMES, type Kind } from '../../engine/kinds.ts'
import type { Change } from '../../engine/records.ts'
import { NORMAL, URGENT } from '../../rules/claim-priority.ts'
import { CLAIMED, claimedColumns, leaseSets } from '../claim/claim-texts.ts'
import { ofTenant, RANGE_COLUMNS, turnTexts } from '../claim/turn-texts.ts'
import { type FunctionName, functionName } from '../connection/database-functions.ts'
import type { Dialect, NameTable } from '../dialects/dialects.ts'
import { changeText } from '../records/change-texts.ts'
import { findText, RECORD_COLUMNS } from '../records/plugin-record-texts.ts'
import { SNAPSHOT_COLUMNS, snapshotText } from '../records/snapshot-text.ts'
import { type ColumnType, TABLES } from '../tables/tables.ts'

/** Otherwise an insert of an unknown number of rows is planned each time. */
const KEEPS_PLAN = 'set plan_cache_mode = force_generic_plan'

/** Restricts the planner to indexes: each statement finds few rows in large tables, whatever the statistics are. */
const ALONG_INDEXES = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort']
  .map((way) => `set enable_${way} = off`)
  .concat('set jit = off', KEEPS_PLAN)
  .join(' ')

const CHANGES: readonly Change['do'][] = ['insert', 'update', 'remove', 'compare']

/** The most frequent calls take one round trip, and each connection keeps their plans, with any driver and pooler. */
export function functions(dialect: Dialect, nameOf: NameTable, prefix: string): readonly string[] {
  const nameFor = (name: FunctionName): string => functionName(name, dialect, prefix)
  return [
    ...CHANGES.map((what) => changeFunction(nameFor(what), what, dialect, nameOf)),
    claimFunction(nameFor('claim'), dialect, nameOf),
    snapshotsFunction(nameFor('snapshots'), dialect, nameOf),
    recordsFunction(nameFor('records'), dialect, nameOf),
    scanFunction(nameFor('scan')),
  ]
}

/** Fails with the code of a serialization failure if a row is gone or has another version. */
function changeFunction(name: string, what: Change['do'], dialect: Dialect, nameOf: NameTable): string {
  const cases = KIND_NAMES.map((kind) => {
    const change = { do: what, kind, rows: [] }
    return `when '${kind}' then ${changeText(change, dialect, nameOf, (columns) => arrayRows(columns, dialect))};`
  })
  const settings = what === 'insert' ? KEEPS_PLAN : ALONG_INDEXES
  return `create or replace function ${name}(of_table text, list text[], amount bigint) returns void language plpgsql ${settings} as $body$
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

/** Rows from an array with all values, row by row. */
function arrayRows(columns: Readonly<Record<string, ColumnType>>, { quote }: Dialect): string {
  const all = Object.entries(columns)
  const values = all.map(([name, column], at) => {
    const value = `list[i * ${all.length} + ${at + 1}]`
    return `${isNumber(column) ? `${value}::bigint` : value} as ${quote(name)}`
  })
  return `(select ${values.join(', ')} from generate_series(0, amount::int - 1) as i) as x`
}

function snapshotsFunction(name: string, dialect: Dialect, nameOf: NameTable): string {
  const columns = SNAPSHOT_COLUMNS.map((column, at) => `${column} ${at < 6 ? 'text' : 'bigint'}`)
  return `create or replace function ${name}(keys json) returns table (${columns.join(', ')}) language plpgsql stable ${ALONG_INDEXES} as $body$
  #variable_conflict use_column
  begin
    return query ${snapshotText('keys', dialect, nameOf)};
  end $body$`
}

function recordsFunction(name: string, dialect: Dialect, nameOf: NameTable): string {
  const cases = RECORD_COLUMNS.map(
    (column) => `when '${column}' then return query ${findText(column, 'of_kind', 'given', dialect, nameOf)};`,
  )
  return `create or replace function ${name}(of_kind text, of_column text, given json) returns table (${outputs('plugin_records', '', dialect).join(', ')}) language plpgsql stable ${ALONG_INDEXES} as $body$
  begin
    case of_column
      ${cases.join('\n      ')}
    end case;
  end $body$`
}

/** Runs a statement by index and returns its rows as JSON. Volatile, because the statement may lock rows. */
function scanFunction(name: string): string {
  return `create or replace function ${name}(statement text, given json) returns table (found json) language plpgsql ${ALONG_INDEXES} as $body$
  begin
    return query execute 'select to_json(q) from (' || statement || ') q' using given;
  end $body$`
}

/**
 * Leases due deliveries. Returns a row for each job in its state before, with its dispatch, state and content, and a last row with the
 * summary. It may be planned for empty tables, so only one index fits each part: by its order, or by the rows read before.
 */
function claimFunction(name: string, dialect: Dialect, nameOf: NameTable): string {
  const columns = ['summary text', ...CLAIMED.flatMap(({ table, prefix }) => outputs(table, prefix, dialect))]
  const jobs = nameOf('jobs')
  const names = (alias: string): string =>
    Object.keys(TABLES.jobs.columns)
      .map((column) => `${alias}.${dialect.quote(column)}`)
      .join(', ')
  // Uncorrelated: one hash lookup for any number of busy receivers.
  const taken = 'json_to_recordset(busy) as b(channel text, concurrency_key text, tenant text)'
  const free = `(d.concurrency_key is null or (
          (d.channel, d.concurrency_key) not in (select b.channel, b.concurrency_key from ${taken} where b.tenant is null)
          and (d.channel, d.tenant, d.concurrency_key) not in (
            select b.channel, b.tenant, b.concurrency_key from ${taken} where b.tenant is not null
          )
        ))`
  const asked =
    'json_to_recordset(channels) as a(channel text, amount bigint, urgent_since bigint, since bigint, is_shared boolean)'
  const queues = `(values (${URGENT}, a.urgent_since), (${NORMAL}, a.since)) as q(priority, since)`
  const { firstBetween, firstOfKnown, table } = turnTexts(dialect, nameOf)
  const mine = ofTenant(dialect, {
    priority: () => 's.priority',
    tenant: () => 's.tenant',
    since: () => 's.first_at',
    until: () => 'at',
  })
  const ofRange = (column: string): string => `s.${column}`
  const instants = Object.entries(RANGE_COLUMNS).map(
    ([name, { kind }]) => `${name} ${kind === 'key' ? 'text' : 'bigint'}`,
  )
  const first = (from: string, condition = ''): string => `left join lateral (
        select d.wake_at from ${jobs} d
        where d.channel = a.channel and d.priority = q.priority and d.wake_at >= ${from} ${condition}
        order by d.wake_at limit 1
      )`
  return `create or replace function ${name}(channels json, busy json, ranges json, full_ json, lease_ms bigint, mark text, at bigint) returns table (${columns.join(', ')}) language plpgsql ${ALONG_INDEXES} as $body$
  #variable_conflict use_column
  begin
    return query with asked as materialized (
      select * from ${asked}
    ), oldest as materialized (
      select found.* from asked a cross join lateral (
        select j.* from ${queues} cross join lateral (
          select d.* from ${jobs} d
          where d.channel = a.channel and d.priority = q.priority and d.wake_at >= q.since and d.wake_at <= at and ${free}
          order by d.wake_at limit a.amount for update skip locked
        ) j
        limit a.amount
      ) found
      where not a.is_shared
    ), seen as materialized (
      select s.channel, s.priority, s.number, f.known, f.tenant, f.first_at, a.is_shared,
        a.amount - case when s.priority = ${URGENT} then 0 else a.urgent end as amount
      from (
        select a.*, (select count(*) from oldest o where o.channel = a.channel) as jobs,
          (select count(*) from oldest o where o.channel = a.channel and o.priority = ${URGENT}) as urgent
        from asked a
      ) a cross join lateral (
        select * from json_to_recordset(ranges) as s(${instants.join(', ')})
        where s.channel = a.channel
          and (a.is_shared or s.priority = case when a.urgent < a.amount then ${NORMAL} else ${URGENT} end)
      ) s cross join lateral (
        select 0 as known, between_.tenant, between_.wake_at as first_at from (${firstBetween(ofRange)}) between_
        union all select 1, s.known, known_.wake_at from (${firstOfKnown(ofRange)}) known_
      ) f
      where a.amount > 0 and (a.is_shared or a.jobs >= a.amount)
    ), visited as materialized (
      select s.*, row_number() over (partition by s.channel, s.priority order by s.number, s.known) as place from seen s
      where not exists (
        select 1 from json_to_recordset(full_) as f(channel text, tenant text) where f.channel = s.channel and f.tenant = s.tenant
      )
    ), turns as materialized (
      select v.*, count(*) over (partition by v.channel, v.priority) as among,
        row_number() over (partition by v.channel, v.priority order by v.place) as turn
      from visited v where v.place <= ${MAX_TENANTS_VISITED} and v.first_at <= at
    ), shares as materialized (
      select t.channel, t.priority, t.tenant, t.first_at, t.amount / t.among + case when t.turn <= t.amount % t.among then 1 else 0 end as amount
      from turns t
      where t.is_shared or t.among > 1
        or exists (select 1 from oldest o where o.channel = t.channel and o.priority = t.priority and o.tenant <> t.tenant)
    ), mine as materialized (
      select own.* from shares s cross join lateral (
        select d.*, false as is_rest, row_number() over () as number from (
          select d.* from ${table}
          where d.channel = s.channel and ${mine.condition} and ${free}
          order by ${mine.order} limit s.amount for update skip locked
        ) d
      ) own
    ), due as materialized (
      select ${names('x')} from asked a cross join lateral (
        select c.* from (
          select m.* from mine m where m.channel = a.channel
          union all
          select o.*, true, o.wake_at from oldest o
          where o.channel = a.channel and o.delivery_id not in (select m.delivery_id from mine m)
        ) c
        order by c.priority, c.is_rest, c.number limit a.amount
      ) x
    ), leased as (
      update ${jobs} as d set ${leaseSets(dialect, 'at', 'lease_ms', 'mark')}
      where d.delivery_id = any (array(select x.delivery_id from due x)) returning 1
    )
    select null::text, ${claimedColumns('due', dialect)}
    from due cross join lateral (
      select * from ${nameOf('dispatches')} h where h.dispatch_id = due.dispatch_id offset 0
    ) h cross join lateral (
      select * from ${nameOf('states')} s where s.dispatch_id = due.dispatch_id offset 0
    ) s left join lateral (
      select * from ${nameOf('contents')} c where c.delivery_id = due.delivery_id offset 0
    ) c on true
    union all
    select found.*${', null'.repeat(columns.length - 1)} from (
      select json_agg(json_build_object('channel', s.channel, 'priority', s.priority, 'number', s.number, 'isKnown', s.known = 1, 'tenant', s.tenant,
        'firstAt', s.first_at))::text as found
      from seen s
    ) found where found.found is not null;

    summary := json_build_object(
      'now', at,
      'queues', (
        select json_agg(json_build_object('channel', a.channel, 'priority', q.priority, 'first', first_.wake_at,
          'next', case when a.is_shared then null when json_array_length(busy) > 0 then next_.wake_at else first_.wake_at end))
        from ${asked}
        cross join lateral ${queues}
        ${first('q.since')} first_ on true
        ${first('first_.wake_at', `and json_array_length(busy) > 0 and not a.is_shared and ${free}`)} next_ on true
      )
    );
    return next;
  end $body$`
}

function outputs(table: Kind, prefix: string, dialect: Dialect): readonly string[] {
  return Object.entries<ColumnType>(TABLES[table].columns).map(([column, { kind, length = 0 }]) => {
    const [type] = dialect.types[kind](length).split(' ')
    return `${dialect.quote(prefix + column)} ${type}`
  })
}
