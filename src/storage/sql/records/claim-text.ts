import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import type { Kind } from '../../engine/kinds.ts'
import { type ClaimPriority, type ClaimQueue, queuesOf } from '../../rules/claim-priority.ts'
import { NOW } from '../connection/database.ts'
import type { Dialect } from '../dialects/dialects.ts'
import { allColumns, type NameTable, Parameters, type Statement, tableAlong } from '../dialects/statements.ts'
import { type ColumnType, TABLES } from '../tables/tables.ts'
import type { ClaimScan, SeenEntries, SeenQueue } from './low-water-marks.ts'
import type { SeenTenant, TenantRange } from './tenant-marks.ts'

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

/** A job past its expiry is leased without an attempt: the claim ends it. */
export function leaseSets({ concat }: Dialect, now: string, leaseMs: string, fence: string): string {
  const begun = concat('d.begun', `'{"attempt":'`, '(d.attempt + 1)', `',"startedAt":'`, now, `'},'`)
  // Sets the number of attempts last: MySQL reads values that the same statement has already set.
  return `wake_at = ${now} + ${leaseMs}, waits_for = null, fence = ${fence}, version = d.version + 1,
    begun = case when d.expires_at > ${now} then ${begun} else d.begun end,
    attempt = case when d.expires_at > ${now} then d.attempt + 1 else d.attempt end`
}

/** Jobs of a queue, or of one of its tenants, from an instant on. Each part is called once, in the order of the text. */
interface JobRange {
  channel(): string
  priority(): string
  /** Default: all tenants. */
  tenant?(): string
  since(): string
  /** Default: no limit. */
  until?(): string
  /** Further conditions. */
  also?(): string
  /** Default: 1. */
  limit?(): string
}

/**
 * Selects the first jobs `d` of a range by their instants, the end of the lease or the due time, along one index. PostgreSQL has no index
 * hints: it compares the rest of whole index rows of a tenant, because otherwise the index of all tenants would fit too.
 */
export function firstJobs(columns: string, range: JobRange, dialect: Dialect, nameOf: NameTable): string {
  const { tenant, until, also, limit } = range
  const table = tableAlong({ table: 'jobs', alias: 'd', index: tenant ? 'turns' : 'due' }, dialect, nameOf)
  const queue = `d.channel = ${range.channel()} and d.priority = ${range.priority()}`
  const [name, since] = [tenant?.(), range.since()]
  const rest = (): string => also?.() ?? ''
  const first = (): string => limit?.() ?? '1'
  if (name !== undefined && dialect.comparesIndexRows) {
    const key = '(d.tenant, d.wake_at)'
    const end = until?.() ?? `${Number.MAX_SAFE_INTEGER}`
    return `select ${columns} from ${table} where ${queue} and ${key} >= (${name}, ${since}) and ${key} <= (${name}, ${end}) ${rest()}
      order by d.tenant, d.wake_at limit ${first()}`
  }
  const own = name === undefined ? queue : `${queue} and d.tenant = ${name}`
  const end = until ? ` and d.wake_at <= ${until()}` : ''
  return `select ${columns} from ${table} where ${own} and d.wake_at >= ${since}${end} ${rest()} order by d.wake_at limit ${first()}`
}

const NAME: ColumnType = TABLES.jobs.columns.tenant
const NUMBER: ColumnType = { kind: 'integer' }

/** Columns of {@link TenantRange}. */
export const RANGE_COLUMNS: Readonly<Record<keyof TenantRange, ColumnType>> = {
  channel: TABLES.jobs.columns.channel,
  priority: NUMBER,
  number: NUMBER,
  low: NAME,
  high: NAME,
  since: NUMBER,
  known: NAME,
  known_since: NUMBER,
}

/** A column of a range as SQL: of a row, or a parameter. Each is called once, in the order of the text. */
type RangeText = (column: keyof TenantRange) => string

/** The first waiting delivery between the names of a range: its `tenant` and `wake_at`. */
export function firstBetween(of: RangeText, dialect: Dialect, nameOf: NameTable): string {
  const table = tableAlong({ table: 'jobs', alias: 'd', index: 'turns' }, dialect, nameOf)
  return `select d.tenant, d.wake_at from ${table}
    where d.channel = ${of('channel')} and d.priority = ${of('priority')} and d.tenant > ${of('low')} and d.tenant < ${of('high')}
      and d.wake_at >= ${of('since')}
    order by d.tenant, d.wake_at limit 1`
}

/** The first waiting delivery of the known tenant of a range. */
export function firstOfKnown(of: RangeText, dialect: Dialect, nameOf: NameTable): string {
  const range: JobRange = {
    channel: () => of('channel'),
    priority: () => of('priority'),
    tenant: () => of('known'),
    since: () => of('known_since'),
  }
  return firstJobs('d.tenant, d.wake_at', range, dialect, nameOf)
}

/** A row of {@link seenText}. */
export interface SeenRow {
  readonly seen_at: unknown
  readonly priority: unknown
  readonly number: unknown
  readonly is_known: unknown
  readonly tenant: string
  readonly wake_at: unknown
}

/** Reads the tenants of ranges. With parameters, because MySQL finds a range of an index only by constants. */
export function seenText(ranges: readonly TenantRange[], dialect: Dialect, nameOf: NameTable): Statement {
  const parameters = new Parameters(dialect)
  const rows = ranges.flatMap((range) => {
    const of: RangeText = (column) => parameters.add(range[column])
    const row = (isKnown: number, first: string): string =>
      `select ${NOW} as seen_at, ${range.priority} as priority, ${range.number} as number, ${isKnown} as is_known, f.tenant, f.wake_at from (${first}) f`
    const between = row(0, firstBetween(of, dialect, nameOf))
    return range.known === '' ? [between] : [between, row(1, firstOfKnown(of, dialect, nameOf))]
  })
  return { text: rows.join(' union all '), values: parameters.values }
}

export function seenTenant(channel: string, row: SeenRow): SeenTenant {
  const { tenant } = row
  const [priority, number] = [Number(row.priority) as ClaimPriority, Number(row.number)]
  return { channel, priority, number, isKnown: Number(row.is_known) === 1, tenant, firstAt: Number(row.wake_at) }
}

const KEY: ColumnType = { kind: 'text' }

/** Leaves out jobs whose receivers are busy. */
function notBusy(channel: string, { busy }: ClaimRequest, { rows }: Dialect, parameters: Parameters): string {
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
    const columns = { tenant: NAME, concurrency_key: KEY }
    const paused = `select p.tenant, p.concurrency_key from ${rows(parameters.add(JSON.stringify(pairs)), columns, 'p')}`
    conditions.push(`(d.tenant, d.concurrency_key) not in (${paused})`)
  }
  return conditions.length > 0 ? `and (d.concurrency_key is null or (${conditions.join(' and ')}))` : ''
}

const DUE = `d.delivery_id, d.tenant, d.priority, d.wake_at, ${NOW} as found_at`

/** A row of {@link dueText} or {@link shareText}. */
export interface DueRow {
  readonly tenant: string
  readonly priority: unknown
  readonly delivery_id: string
  readonly wake_at: unknown
  readonly found_at: unknown
}

/**
 * Locks the first due jobs of a channel, the urgent ones first. MySQL reads both ranges of the index in its order; SQLite would sort them,
 * and reads one after the other.
 */
export function dueText(
  channel: string,
  amount: number,
  request: ClaimRequest,
  scan: ClaimScan,
  dialect: Dialect,
  nameOf: NameTable,
): Statement {
  const parameters = new Parameters(dialect)
  const queues = queuesOf([channel])
  const rangeOf = (queue: ClaimQueue): JobRange => ({
    channel: () => parameters.add(channel),
    priority: () => `${queue.priority}`,
    since: () => parameters.add(scan.from(queue).since),
    until: () => NOW,
    also: () => notBusy(channel, request, dialect, parameters),
    limit: () => parameters.add(amount),
  })
  if (!dialect.mergesRanges) {
    const parts = queues.map((queue) => `select * from (${firstJobs(DUE, rangeOf(queue), dialect, nameOf)})`)
    return { text: `${parts.join(' union all ')} limit ${parameters.add(amount)}`, values: parameters.values }
  }
  const ofChannel = `d.channel = ${parameters.add(channel)}`
  const ranges = queues.map(
    (queue) =>
      `(d.priority = ${queue.priority} and d.wake_at >= ${parameters.add(scan.from(queue).since)} and d.wake_at <= ${NOW})`,
  )
  const text = `select ${DUE} from ${tableAlong({ table: 'jobs', alias: 'd', index: 'due' }, dialect, nameOf)}
    where ${ofChannel} and (${ranges.join(' or ')}) ${notBusy(channel, request, dialect, parameters)}
    order by d.priority, d.wake_at limit ${parameters.add(amount)}${dialect.skipLocked}`
  return { text, values: parameters.values }
}

/** Locks the next due jobs of a tenant. */
export function shareText(
  { channel, priority, tenant, amount }: ClaimQueue & { readonly tenant: string; readonly amount: number },
  since: number,
  request: ClaimRequest,
  dialect: Dialect,
  nameOf: NameTable,
): Statement {
  const parameters = new Parameters(dialect)
  const range: JobRange = {
    channel: () => parameters.add(channel),
    priority: () => `${priority}`,
    tenant: () => parameters.add(tenant),
    since: () => parameters.add(since),
    until: () => NOW,
    also: () => notBusy(channel, request, dialect, parameters),
    limit: () => parameters.add(amount),
  }
  return { text: firstJobs(DUE, range, dialect, nameOf) + dialect.skipLocked, values: parameters.values }
}

/** The first delivery of each tenant that a claim may lease now or later. */
export function nextText(
  tenants: readonly SeenTenant[],
  request: ClaimRequest,
  dialect: Dialect,
  nameOf: NameTable,
): Statement {
  const parameters = new Parameters(dialect)
  const rows = tenants.map(({ channel, priority, tenant, firstAt }) => {
    const range: JobRange = {
      channel: () => parameters.add(channel),
      priority: () => `${priority}`,
      tenant: () => parameters.add(tenant),
      since: () => parameters.add(firstAt),
      also: () => notBusy(channel, request, dialect, parameters),
    }
    return `select f.wake_at from (${firstJobs('d.wake_at', range, dialect, nameOf)}) f`
  })
  return { text: rows.join(' union all '), values: parameters.values }
}

/** Summary of the waiting deliveries, which a claim reads after its own changes. */
export interface ClaimSummary extends Omit<SeenEntries, 'ranges' | 'tenants'> {
  /** The next due time or end of a lease in the queues; `Infinity`: none was seen. */
  readonly nextAt: number
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
  const rows = queuesOf(Object.keys(request.limits)).map((queue, number) => {
    const { channel } = queue
    const range: JobRange = {
      channel: () => parameters.add(channel),
      priority: () => `${queue.priority}`,
      since: () => parameters.add(scan.from(queue).since),
    }
    const also = (): string => notBusy(channel, request, dialect, parameters)
    const first = (more = {}): string => `(${firstJobs('d.wake_at', { ...range, ...more }, dialect, nameOf)})`
    // Without the tenants at their share, the next due time would take a long search.
    const isShared = request.full?.some((one) => one.channel === channel)
    const isBusy = request.busy.some((one) => one.channel === channel)
    const row = `select ${number} as number, ${NOW} as claimed_at`
    if (isShared) return `${row}, ${first()} as first_at, null as next_at`
    if (!isBusy) return `${row}, f.first_at, f.first_at as next_at from (select ${first()} as first_at) f`
    return `${row}, ${first()} as first_at, ${first({ also })} as next_at`
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

/** @param text The summary of the database function. */
export function readSummary(text: unknown): ClaimSummary {
  const { now, queues } = JSON.parse(String(text))
  return summaryOf(now, queues ?? [])
}

interface SummaryQueue extends ClaimQueue {
  readonly first: unknown
  readonly next: unknown
}

function summaryOf(now: unknown, given: readonly SummaryQueue[]): ClaimSummary {
  const queues = given.map(({ channel, priority, first }): SeenQueue => ({ channel, priority, first: instant(first) }))
  const next = given.flatMap((one) => instant(one.next) ?? [])
  return { now: Number(now), queues, nextAt: Math.min(...next, Number.POSITIVE_INFINITY) }
}

function instant(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}
