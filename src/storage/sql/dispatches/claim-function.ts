import type { Dialect } from '../connection/dialects.ts'
import { columnsOf } from '../connection/read-records.ts'
import type { NameTable } from '../schema/name-table.ts'
import type { TableName } from '../schema/records.ts'
import type { Table } from '../schema/table.ts'
import { TABLES } from '../schema/tables.ts'
import { leaseSets } from './claim-lease.ts'

/** Later than any instant. */
const NEVER = Number.MAX_SAFE_INTEGER

/**
 * The function of PostgreSQL that leases what is due: a row for each, as it was before, and a last one with what a claim says of
 * more than one delivery. It is planned once, perhaps for empty tables: every part of it can take one index only, either since
 * what it reads is to be in the order of that index, or since it depends on what was read before it.
 */
export function claimFunction(name: string, settings: string, dialect: Dialect, nameOf: NameTable): string {
  const columns = ['summary text', ...outputs('deliveries', '', dialect), ...outputs('dispatches', 'h_', dialect)]
  const deliveries = nameOf('deliveries')
  // It names nothing of what is around it: it is looked up in a hash, however many are busy.
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
  return `create or replace function ${name}(channels json, busy json, expiring_from bigint, lease_ms bigint, mark text, at bigint) returns table (${columns.join(', ')}) language plpgsql ${settings} as $body$
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

/** The columns of a table as a function gives them. */
function outputs(table: TableName, prefix: string, dialect: Dialect): readonly string[] {
  const { columns }: Table = TABLES[table]
  return Object.entries(columns).map(([column, { kind, length = 0 }]) => {
    const [type] = dialect.types[kind](length).split(' ')
    return `${dialect.quote(prefix + column)} ${type}`
  })
}
