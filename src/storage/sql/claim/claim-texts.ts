import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import type { Kind } from '../../engine/kinds.ts'
import { type ClaimQueue, queuesOf } from '../../rules/claim-priority.ts'
import { NOW } from '../connection/database.ts'
import {
  allColumns,
  type Dialect,
  type NameTable,
  Parameters,
  type Statement,
  tableAlong,
} from '../dialects/dialects.ts'
import { type ColumnType, TABLES } from '../tables/tables.ts'
import type { ClaimScan, SeenEntries, SeenQueue } from './low-water-marks.ts'

/** Tables that a claim reads for each delivery, with the prefixes of their columns. */
export const CLAIMED: readonly { readonly table: Kind; readonly alias: string; readonly prefix: string }[] = [
  { table: 'jobs', alias: 'd', prefix: '' },
  { table: 'dispatches', alias: 'h', prefix: 'h_' },
  { table: 'states', alias: 's', prefix: 's_' },
  { table: 'contents', alias: 'c', prefix: 'c_' },
]

/** @param jobs The alias of the jobs. */
export function claimedColumns(jobs: string, dialect: Dialect): string {
  return CLAIMED.map(({ table, alias, prefix }) =>
    allColumns(table, table === 'jobs' ? jobs : alias, dialect, prefix),
  ).join(', ')
}

/** Jobs `d` by their instants: the end of the lease, or the due time. The statement must compare the channel and the priority. */
function byWakeTime(dialect: Dialect, nameOf: NameTable): string {
  return tableAlong({ table: 'jobs', alias: 'd', index: 'due' }, dialect, nameOf)
}

/** A job past its expiry is leased without an attempt: the claim ends it. */
export function leaseSets({ concat }: Dialect, now: string, leaseMs: string, fence: string): string {
  const begun = concat('d.begun', `'{"attempt":'`, '(d.attempt + 1)', `',"startedAt":'`, now, `'},'`)
  // Sets the number of attempts last: MySQL reads values that the same statement has already set.
  return `wake_at = ${now} + ${leaseMs}, waits_for = null, fence = ${fence}, version = d.version + 1,
    begun = case when d.expires_at > ${now} then ${begun} else d.begun end,
    attempt = case when d.expires_at > ${now} then d.attempt + 1 else d.attempt end`
}

const KEY: ColumnType = { kind: 'text' }

export function notBusy(channel: string, { busy }: ClaimRequest, { rows }: Dialect, parameters: Parameters): string {
  const given = busy.filter((one) => one.channel === channel)
  const keys = given.filter(({ tenant }) => tenant === undefined)
  const ofTenants = given.filter(({ tenant }) => tenant !== undefined)
  const conditions: string[] = []
  if (keys.length > 0) {
    const list = parameters.add(JSON.stringify(keys.map((one) => ({ concurrency_key: one.concurrencyKey }))))
    const taken = `select b.concurrency_key from ${rows(list, { concurrency_key: KEY }, 'b')}`
    conditions.push(`d.concurrency_key not in (${taken})`)
  }
  if (ofTenants.length > 0) {
    const pairs = ofTenants.map(({ tenant, concurrencyKey }) => ({ tenant, concurrency_key: concurrencyKey }))
    const columns = { tenant: TABLES.jobs.columns.tenant, concurrency_key: KEY }
    const paused = `select p.tenant, p.concurrency_key from ${rows(parameters.add(JSON.stringify(pairs)), columns, 'p')}`
    conditions.push(`(d.tenant, d.concurrency_key) not in (${paused})`)
  }
  return conditions.length > 0 ? `and (d.concurrency_key is null or (${conditions.join(' and ')}))` : ''
}

/**
 * Locks the first due jobs of a channel, the urgent ones first. MySQL reads both ranges of the index in its order; SQLite would sort them,
 * and reads one after the other.
 */
export function dueText(
  channel: string,
  limit: number,
  request: ClaimRequest,
  scan: ClaimScan,
  dialect: Dialect,
  nameOf: NameTable,
): Statement {
  const parameters = new Parameters(dialect)
  const select = `select d.delivery_id, d.tenant, d.priority, d.wake_at, ${NOW} as found_at from ${byWakeTime(dialect, nameOf)}`
  const ofChannel = (): string => `where d.channel = ${parameters.add(channel)}`
  const range = (queue: ClaimQueue): string =>
    `d.priority = ${queue.priority} and d.wake_at >= ${parameters.add(scan.from(queue).since)} and d.wake_at <= ${NOW}`
  const free = (): string => notBusy(channel, request, dialect, parameters)
  const first = (): string => `limit ${parameters.add(limit)}`
  const queues = queuesOf([channel])
  if (dialect.name === 'sqlite') {
    const parts = queues.map(
      (queue) => `select * from (${select} ${ofChannel()} and ${range(queue)} ${free()} order by d.wake_at ${first()})`,
    )
    return { text: `${parts.join(' union all ')} ${first()}`, values: parameters.values }
  }
  const where = `${ofChannel()} and (${queues.map((queue) => `(${range(queue)})`).join(' or ')}) ${free()}`
  const text = `${select} ${where} order by d.priority, d.wake_at ${first()}${dialect.skipLocked}`
  return { text, values: parameters.values }
}

/** Summary of the waiting deliveries, which a claim reads after its own changes. */
export interface ClaimSummary extends Omit<SeenEntries, 'ranges' | 'tenants'> {
  /** The next due time or end of a lease in the queues; `Infinity`: none was seen. */
  readonly nextAt: number
}

interface SummaryQueue extends ClaimQueue {
  readonly first: unknown
  readonly next: unknown
}

export function readSummary(given: unknown): ClaimSummary {
  const { now, queues } = JSON.parse(String(given))
  return summaryOf(now, queues ?? [])
}

function summaryOf(now: unknown, given: readonly SummaryQueue[]): ClaimSummary {
  const queues = given.map(({ channel, priority, first }): SeenQueue => ({ channel, priority, first: instant(first) }))
  const next = given.flatMap((one) => instant(one.next) ?? [])
  return { now: Number(now), queues, nextAt: Math.min(...next, Number.POSITIVE_INFINITY) }
}

function instant(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

/** A row of {@link summaryText}, for one queue. */
export interface SummaryRow {
  readonly number: unknown
  readonly claimed_at: unknown
  /** The first entry. */
  readonly first_at: unknown
  /** The first entry that may be claimed. */
  readonly next_at: unknown
}

export function summaryText(request: ClaimRequest, scan: ClaimScan, dialect: Dialect, nameOf: NameTable): Statement {
  const parameters = new Parameters(dialect)
  const jobs = byWakeTime(dialect, nameOf)
  const rows = queuesOf(Object.keys(request.limits)).map((queue, number) => {
    const { channel, priority } = queue
    const { since } = scan.from(queue)
    // Names its parameters in the order of the text.
    const first = (condition = () => ''): string =>
      `(select d.wake_at from ${jobs} where d.channel = ${parameters.add(channel)} and d.priority = ${priority}
        and d.wake_at >= ${parameters.add(since)} ${condition()} order by d.wake_at limit 1)`
    // Without the tenants at their share, the next due time would take a long search.
    const isShared = request.full?.some((one) => one.channel === channel)
    const isBusy = request.busy.some((one) => one.channel === channel)
    const row = `select ${number} as number, ${NOW} as claimed_at`
    if (isShared) return `${row}, ${first()} as first_at, null as next_at`
    if (!isBusy) return `${row}, f.first_at, f.first_at as next_at from (select ${first()} as first_at) f`
    return `${row}, ${first()} as first_at, ${first(() => notBusy(channel, request, dialect, parameters))} as next_at`
  })
  // A claim of no channel reads the time alone.
  const none = `select -1 as number, ${NOW} as claimed_at, null as first_at, null as next_at`
  return { text: rows.join(' union all ') || none, values: parameters.values }
}

export function summaryOfRows(rows: readonly SummaryRow[], request: ClaimRequest): ClaimSummary {
  const queues = queuesOf(Object.keys(request.limits))
  const found = rows.flatMap(({ number, first_at: first, next_at: next }): SummaryQueue[] => {
    const queue = queues[Number(number)]
    return queue ? [{ ...queue, first, next }] : []
  })
  return summaryOf(rows[0]?.claimed_at, found)
}
