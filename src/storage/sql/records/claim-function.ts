import { MAX_TENANTS_VISITED } from '../../../model/tenant-turns.ts'
import { NORMAL, URGENT } from '../../rules/claim-priority.ts'
import type { Dialect } from '../dialects/dialects.ts'
import type { NameTable } from '../dialects/statements.ts'
import { TABLES } from '../tables/tables.ts'
import {
  CLAIMED,
  claimedColumns,
  firstBetween,
  firstJobs,
  firstOfKnown,
  leaseSets,
  RANGE_COLUMNS,
} from './claim-text.ts'

/** Parameters of the function of PostgreSQL that claims. */
export const CLAIM_PARAMETERS =
  'channels json, busy json, ranges json, full_ json, lease_ms bigint, mark text, at bigint'

const ASKED =
  'json_to_recordset(channels) as a(channel text, amount bigint, urgent_since bigint, since bigint, is_shared boolean)'
/** The queues of a channel `a`, each from its low-water mark on. */
const QUEUES = `(values (${URGENT}, a.urgent_since), (${NORMAL}, a.since)) as q(priority, since)`
const BUSY = 'json_to_recordset(busy) as b(channel text, concurrency_key text, tenant text)'
/** The receiver of a job `d` is not busy. Uncorrelated: one hash lookup for any number of busy receivers. */
const FREE = `(d.concurrency_key is null or (
  (d.channel, d.concurrency_key) not in (select b.channel, b.concurrency_key from ${BUSY} where b.tenant is null)
  and (d.channel, d.tenant, d.concurrency_key) not in (select b.channel, b.tenant, b.concurrency_key from ${BUSY} where b.tenant is not null)
))`
const RANGES = `json_to_recordset(ranges) as s(${Object.entries(RANGE_COLUMNS)
  .map(([name, { kind }]) => `${name} ${kind === 'key' ? 'text' : 'bigint'}`)
  .join(', ')})`

/**
 * Leases due deliveries in one statement, then reads the summary. Returns a row for each job in its state before, with its dispatch, state
 * and content; a row with the visited tenants, if there are any; and a last row with the summary. It may be planned for empty tables, so
 * only one index fits each part: by its order, or by the rows read before.
 */
export function claimBody(dialect: Dialect, nameOf: NameTable): string {
  const jobs = nameOf('jobs')
  const jobColumns = Object.keys(TABLES.jobs.columns).map((column) => dialect.quote(column))
  const columns = CLAIMED.flatMap(({ table }) => Object.keys(TABLES[table].columns))
  const ofQueue = { channel: () => 'a.channel', priority: () => 'q.priority' }
  const ofTenant = { channel: () => 's.channel', priority: () => 's.priority', tenant: () => 's.tenant' }
  const until = (): string => 'at'
  const also = (): string => `and ${FREE}`
  const ofRange = (column: string): string => `s.${column}`
  const oldest = { ...ofQueue, since: () => 'q.since', until, also, limit: () => 'a.amount' }
  const own = { ...ofTenant, since: () => 's.first_at', until, also, limit: () => 's.amount' }
  const parts = [
    `asked as materialized (select * from ${ASKED})`,
    // The oldest due jobs of each channel, the urgent ones first. Not where tenants are at their share: their backlog may be long.
    `oldest as materialized (
      select found.* from asked a cross join lateral (
        select j.* from ${QUEUES} cross join lateral (
          ${firstJobs('d.*', oldest, dialect, nameOf)} for update skip locked
        ) j
        limit a.amount
      ) found
      where not a.is_shared
    )`,
    // The first job of each tenant, where more may be due than the limit. Tenants share what it has left for the priority of the last job.
    `seen as materialized (
      select s.channel, s.priority, s.number, f.known, f.tenant, f.first_at, a.is_shared,
        a.amount - case when s.priority = ${URGENT} then 0 else a.urgent end as amount
      from (
        select a.*, (select count(*) from oldest o where o.channel = a.channel) as jobs,
          (select count(*) from oldest o where o.channel = a.channel and o.priority = ${URGENT}) as urgent
        from asked a
      ) a cross join lateral (
        select * from ${RANGES}
        where s.channel = a.channel
          and (a.is_shared or s.priority = case when a.urgent < a.amount then ${NORMAL} else ${URGENT} end)
      ) s cross join lateral (
        select 0 as known, between_.tenant, between_.wake_at as first_at from (${firstBetween(ofRange, dialect, nameOf)}) between_
        union all select 1, s.known, known_.wake_at from (${firstOfKnown(ofRange, dialect, nameOf)}) known_
      ) f
      where a.amount > 0 and (a.is_shared or a.jobs >= a.amount)
    )`,
    `visited as materialized (
      select s.*, row_number() over (partition by s.channel, s.priority order by s.number, s.known) as place from seen s
      where not exists (
        select 1 from json_to_recordset(full_) as f(channel text, tenant text) where f.channel = s.channel and f.tenant = s.tenant
      )
    )`,
    // As `shareTurns` decides: tenants with due jobs take equal shares, and the first ones one more each while some of the limit is left.
    `turns as materialized (
      select v.*, count(*) over (partition by v.channel, v.priority) as among,
        row_number() over (partition by v.channel, v.priority order by v.place) as turn
      from visited v where v.place <= ${MAX_TENANTS_VISITED} and v.first_at <= at
    )`,
    // A single tenant needs no share: its jobs are the oldest ones.
    `shares as materialized (
      select t.channel, t.priority, t.tenant, t.first_at, t.amount / t.among + case when t.turn <= t.amount % t.among then 1 else 0 end as amount
      from turns t
      where t.is_shared or t.among > 1
        or exists (select 1 from oldest o where o.channel = t.channel and o.priority = t.priority and o.tenant <> t.tenant)
    )`,
    `mine as materialized (
      select own.* from shares s cross join lateral (
        select d.*, false as is_rest, row_number() over () as number from (
          ${firstJobs('d.*', own, dialect, nameOf)} for update skip locked
        ) d
      ) own
    )`,
    // The oldest jobs get what the shares leave of the limit.
    `due as materialized (
      select ${jobColumns.map((column) => `x.${column}`).join(', ')} from asked a cross join lateral (
        select c.* from (
          select m.* from mine m where m.channel = a.channel
          union all
          select o.*, true, o.wake_at from oldest o
          where o.channel = a.channel and o.delivery_id not in (select m.delivery_id from mine m)
        ) c
        order by c.priority, c.is_rest, c.number limit a.amount
      ) x
    )`,
    `leased as (
      update ${jobs} as d set ${leaseSets(dialect, 'at', 'lease_ms', 'mark')}
      where d.delivery_id = any (array(select x.delivery_id from due x)) returning 1
    )`,
  ]
  const first = (more: { readonly since: () => string; readonly also?: () => string }): string =>
    `left join lateral (${firstJobs('d.wake_at', { ...ofQueue, ...more }, dialect, nameOf)})`
  const isBusy = 'json_array_length(busy) > 0'
  return `begin
    return query with ${parts.join(', ')}
    select null::text, ${claimedColumns('due', dialect)}
    from due cross join lateral (
      select * from ${nameOf('dispatches')} h where h.dispatch_id = due.dispatch_id offset 0
    ) h cross join lateral (
      select * from ${nameOf('states')} s where s.dispatch_id = due.dispatch_id offset 0
    ) s left join lateral (
      select * from ${nameOf('contents')} c where c.delivery_id = due.delivery_id offset 0
    ) c on true
    union all
    select found.*${', null'.repeat(columns.length)} from (
      select json_agg(json_build_object('channel', s.channel, 'priority', s.priority, 'number', s.number, 'isKnown', s.known = 1, 'tenant', s.tenant,
        'firstAt', s.first_at))::text as found
      from seen s
    ) found where found.found is not null;

    summary := json_build_object(
      'now', at,
      'queues', (
        select json_agg(json_build_object('channel', a.channel, 'priority', q.priority, 'first', first_.wake_at,
          'next', case when a.is_shared then null when ${isBusy} then next_.wake_at else first_.wake_at end))
        from ${ASKED}
        cross join lateral ${QUEUES}
        ${first({ since: () => 'q.since' })} first_ on true
        ${first({ since: () => 'first_.wake_at', also: () => `and ${isBusy} and not a.is_shared and ${FREE}` })} next_ on true
      )
    );
    return next;
  end`
}
