import { MAX_TENANTS_VISITED } from '../../../model/tenant-turns.ts'
import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import { type ClaimPriority, type ClaimQueue, queueKey } from '../../rules/claim-priority.ts'
import { shareTurns, type Turns } from '../../rules/tenant-turns.ts'
import { NOW } from '../connection/database.ts'
import { type Dialect, type NameTable, Parameters, type Statement, tableAlong } from '../dialects/dialects.ts'
import { type ColumnType, TABLES } from '../tables/tables.ts'
import { notBusy } from './claim-texts.ts'
import type { SeenTenant, TenantRange } from './tenant-marks.ts'

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

/** A range as SQL: columns of a row `s`, or parameters. */
type RangeText = (column: keyof TenantRange) => string

export interface TurnTexts {
  readonly table: string
  /** The first waiting delivery between the names of a range: its `tenant` and `wake_at`. Each column is read once, in the order of the text. */
  firstBetween(of: RangeText): string
  /** The first waiting delivery of the known tenant of a range. */
  firstOfKnown(of: RangeText): string
}

/** A tenant's jobs of one queue, from an instant on. Each part is read once, in the order of the text. */
interface TenantJobs {
  priority(): string
  tenant(): string
  since(): string
  /** Absent: no limit. */
  until?(): string
}

/**
 * Jobs `d` of a tenant in their order. PostgreSQL compares the rest of whole index rows: otherwise the index of all tenants would fit too.
 */
export function ofTenant(dialect: Dialect, of: TenantJobs): { readonly condition: string; readonly order: string } {
  const [priority, tenant, since] = [of.priority(), of.tenant(), of.since()]
  if (dialect.name !== 'postgresql') {
    const from = `d.priority = ${priority} and d.tenant = ${tenant} and d.wake_at >= ${since}`
    return { condition: of.until ? `${from} and d.wake_at <= ${of.until()}` : from, order: 'd.wake_at' }
  }
  const key = '(d.tenant, d.wake_at)'
  const until = of.until?.() ?? `${Number.MAX_SAFE_INTEGER}`
  return {
    condition: `d.priority = ${priority} and ${key} >= (${tenant}, ${since}) and ${key} <= (${tenant}, ${until})`,
    order: 'd.tenant, d.wake_at',
  }
}

/** Jobs `d` by priority, tenant and instant. */
export function turnTexts(dialect: Dialect, nameOf: NameTable): TurnTexts {
  const table = tableAlong({ table: 'jobs', alias: 'd', index: 'turns' }, dialect, nameOf)
  return {
    table,
    firstBetween: (of) => `select d.tenant, d.wake_at from ${table}
      where d.channel = ${of('channel')} and d.priority = ${of('priority')} and d.tenant > ${of('low')} and d.tenant < ${of('high')}
        and d.wake_at >= ${of('since')}
      order by d.tenant, d.wake_at limit 1`,
    firstOfKnown(of) {
      const channel = of('channel')
      const { condition, order } = ofTenant(dialect, {
        priority: () => of('priority'),
        tenant: () => of('known'),
        since: () => of('known_since'),
      })
      return `select d.tenant, d.wake_at from ${table} where d.channel = ${channel} and ${condition} order by ${order} limit 1`
    },
  }
}

/** Reads the tenants of ranges. With parameters, because MySQL finds a range of an index only by constants. */
export function seenText(ranges: readonly TenantRange[], dialect: Dialect, nameOf: NameTable): Statement {
  const parameters = new Parameters(dialect)
  const { firstBetween, firstOfKnown } = turnTexts(dialect, nameOf)
  const rows = ranges.flatMap((range) => {
    const of: RangeText = (column) => parameters.add(range[column])
    const row = (isKnown: number, first: string): string =>
      `select ${NOW} as seen_at, ${range.priority} as priority, ${range.number} as number, ${isKnown} as is_known, f.tenant, f.wake_at from (${first}) f`
    const between = row(0, firstBetween(of))
    return range.known === '' ? [between] : [between, row(1, firstOfKnown(of))]
  })
  return { text: rows.join(' union all '), values: parameters.values }
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

export function seenTenant(channel: string, row: SeenRow): SeenTenant {
  const { tenant } = row
  const [priority, number] = [Number(row.priority) as ClaimPriority, Number(row.number)]
  return { channel, priority, number, isKnown: Number(row.is_known) === 1, tenant, firstAt: Number(row.wake_at) }
}

/** Locks the next deliveries of a tenant. */
export function shareText(
  { channel, priority, tenant, amount }: ClaimQueue & { readonly tenant: string; readonly amount: number },
  since: number,
  request: ClaimRequest,
  dialect: Dialect,
  nameOf: NameTable,
): Statement {
  const parameters = new Parameters(dialect)
  const { table } = turnTexts(dialect, nameOf)
  const own = `d.channel = ${parameters.add(channel)}`
  const { condition, order } = ofTenant(dialect, {
    priority: () => `${priority}`,
    tenant: () => parameters.add(tenant),
    since: () => parameters.add(since),
    until: () => NOW,
  })
  const free = notBusy(channel, request, dialect, parameters)
  const text = `select d.delivery_id, d.tenant, d.priority, d.wake_at, ${NOW} as found_at from ${table} where ${own} and ${condition} ${free}
    order by ${order} limit ${parameters.add(amount)}${dialect.skipLocked}`
  return { text, values: parameters.values }
}

/** The first delivery of each tenant that a claim may lease now or later. */
export function nextText(
  tenants: readonly SeenTenant[],
  request: ClaimRequest,
  dialect: Dialect,
  nameOf: NameTable,
): Statement {
  const parameters = new Parameters(dialect)
  const { table } = turnTexts(dialect, nameOf)
  const rows = tenants.map(({ channel, priority, tenant, firstAt }) => {
    const own = `d.channel = ${parameters.add(channel)}`
    const { condition, order } = ofTenant(dialect, {
      priority: () => `${priority}`,
      tenant: () => parameters.add(tenant),
      since: () => parameters.add(firstAt),
    })
    const free = notBusy(channel, request, dialect, parameters)
    const first = `select d.wake_at from ${table} where ${own} and ${condition} ${free} order by ${order} limit 1`
    return `select f.wake_at from (${first}) f`
  })
  return { text: rows.join(' union all '), values: parameters.values }
}

export interface QueueTurns extends Turns {
  /** Tenants after `last` may have due deliveries: they were not visited, or had no turn. */
  readonly isCut: boolean
  /** The visited tenants that are not at their share. */
  readonly visited: readonly SeenTenant[]
}

/** The turns of one queue, whose tenants share `limit`. */
export function turnsOf(
  queue: ClaimQueue,
  limit: number,
  { full }: Pick<ClaimRequest, 'full'>,
  ranges: readonly TenantRange[],
  seen: readonly SeenTenant[],
  now: number,
): QueueTurns {
  const isOwn = (one: ClaimQueue): boolean => queueKey(one) === queueKey(queue)
  const isFull = new Set(full?.filter((one) => one.channel === queue.channel).map(({ tenant }) => tenant))
  const found = seen
    .filter(isOwn)
    .sort((one, other) => one.number - other.number || Number(one.isKnown) - Number(other.isKnown))
  const visits = found.filter(({ tenant }) => !isFull.has(tenant))
  const turns = shareTurns(visits, limit, now)
  // Further tenants may follow the first new one, before the next known one. The next claim begins there.
  const newest = found.find(({ isKnown }) => !isKnown)?.tenant
  const order = found.map(({ tenant }) => tenant)
  const end = ranges.filter(isOwn).at(-1)?.known || undefined
  const visited = visits.slice(0, MAX_TENANTS_VISITED)
  const isLimited = visited.filter(({ firstAt }) => firstAt <= now).length > turns.shares.length
  const isCut = newest !== undefined || end !== undefined || isLimited
  const reached = turns.last ?? end
  if (newest === undefined) return { ...turns, last: reached, isCut, visited }
  const last =
    reached !== undefined && order.includes(reached) && order.indexOf(reached) < order.indexOf(newest)
      ? reached
      : newest
  return { ...turns, last, isCut, visited }
}
