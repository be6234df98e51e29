import { MAX_TENANTS_VISITED } from '../../../model/tenant-turns.ts'
import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import { shareTurns, type Turns } from '../../rules/tenant-turns.ts'
import { NOW } from '../connection/changes.ts'
import { type Dialect, type NameTable, Parameters, tableAlong } from '../connection/dialects.ts'
import type { Column } from '../schema/columns.ts'
import { TABLES } from '../schema/tables.ts'
import { notBusy, OF_QUEUE } from './claim-texts.ts'
import { NORMAL_PRIORITY } from './dispatch-records.ts'
import type { SeenTenant, TenantRange } from './tenant-marks.ts'

const NAME: Column = TABLES.jobs.columns.tenant
const INSTANT: Column = { kind: 'integer' }

/** Columns of {@link TenantRange}. */
export const RANGE_COLUMNS: Readonly<Record<keyof TenantRange, Column>> = {
  channel: TABLES.jobs.columns.channel,
  number: INSTANT,
  low: NAME,
  high: NAME,
  since: INSTANT,
  known: NAME,
  known_since: INSTANT,
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

/**
 * Jobs `d` of a tenant from an instant on, in their order. PostgreSQL compares whole index rows: otherwise the index of all tenants would fit
 * too.
 * @param until Absent: no limit.
 */
export function ofTenant(
  dialect: Dialect,
  tenant: () => string,
  since: () => string,
  until?: () => string,
): { readonly condition: string; readonly order: string } {
  if (dialect.name !== 'postgresql') {
    const from = `d.tenant = ${tenant()} and ${OF_QUEUE} and d.wake_at >= ${since()}`
    return { condition: until ? `${from} and d.wake_at <= ${until()}` : from, order: 'd.wake_at' }
  }
  const key = '(d.tenant, d.priority, d.wake_at)'
  const to = until?.() ?? `${Number.MAX_SAFE_INTEGER}`
  const name = tenant()
  return {
    condition: `${key} >= (${name}, ${NORMAL_PRIORITY}, ${since()}) and ${key} <= (${name}, ${NORMAL_PRIORITY}, ${to})`,
    order: 'd.tenant, d.priority, d.wake_at',
  }
}

/** Jobs `d` by tenant and instant. */
export function turnTexts(dialect: Dialect, nameOf: NameTable): TurnTexts {
  const table = tableAlong({ table: 'jobs', alias: 'd', index: 'turns' }, dialect, nameOf)
  return {
    table,
    firstBetween: (of) => `select d.tenant, d.wake_at from ${table}
      where d.channel = ${of('channel')} and d.tenant > ${of('low')} and d.tenant < ${of('high')} and ${OF_QUEUE} and d.wake_at >= ${of('since')}
      order by d.tenant, d.priority, d.wake_at limit 1`,
    firstOfKnown(of) {
      const channel = of('channel')
      const { condition, order } = ofTenant(
        dialect,
        () => of('known'),
        () => of('known_since'),
      )
      return `select d.tenant, d.wake_at from ${table} where d.channel = ${channel} and ${condition} order by ${order} limit 1`
    },
  }
}

/** Reads the tenants of the ranges of one channel. With parameters, because MySQL finds a range of an index only by constants. */
export function seenText(
  ranges: readonly TenantRange[],
  dialect: Dialect,
  nameOf: NameTable,
): { readonly text: string; readonly values: readonly unknown[] } {
  const parameters = new Parameters(dialect)
  const { firstBetween, firstOfKnown } = turnTexts(dialect, nameOf)
  const rows = ranges.flatMap((range) => {
    const of: RangeText = (column) => parameters.add(range[column])
    const row = (isKnown: number, first: string): string =>
      `select ${NOW} as seen_at, ${range.number} as number, ${isKnown} as is_known, f.tenant, f.wake_at from (${first}) f`
    const between = row(0, firstBetween(of))
    return range.known === '' ? [between] : [between, row(1, firstOfKnown(of))]
  })
  return { text: rows.join(' union all '), values: parameters.values }
}

/** A row of {@link seenText}. */
export interface SeenRow {
  readonly seen_at: unknown
  readonly number: unknown
  readonly is_known: unknown
  readonly tenant: string
  readonly wake_at: unknown
}

export function seenTenant(channel: string, { number, is_known, tenant, wake_at }: SeenRow): SeenTenant {
  return { channel, number: Number(number), isKnown: Number(is_known) === 1, tenant, firstAt: Number(wake_at) }
}

/** Locks the next deliveries of a tenant. */
export function shareText(
  { channel, tenant, amount }: { readonly channel: string; readonly tenant: string; readonly amount: number },
  since: number,
  request: ClaimRequest,
  dialect: Dialect,
  nameOf: NameTable,
): { readonly text: string; readonly values: readonly unknown[] } {
  const parameters = new Parameters(dialect)
  const { table } = turnTexts(dialect, nameOf)
  const own = `d.channel = ${parameters.add(channel)}`
  const { condition, order } = ofTenant(
    dialect,
    () => parameters.add(tenant),
    () => parameters.add(since),
    () => NOW,
  )
  const free = notBusy(channel, request, dialect, parameters)
  const text = `select d.delivery_id, d.tenant, d.wake_at, ${NOW} as found_at from ${table} where ${own} and ${condition} ${free}
    order by ${order} limit ${parameters.add(amount)}${dialect.skipLocked}`
  return { text, values: parameters.values }
}

/** The first delivery of each tenant that a claim may lease now or later. */
export function nextText(
  tenants: readonly SeenTenant[],
  request: ClaimRequest,
  dialect: Dialect,
  nameOf: NameTable,
): { readonly text: string; readonly values: readonly unknown[] } {
  const parameters = new Parameters(dialect)
  const { table } = turnTexts(dialect, nameOf)
  const rows = tenants.map(({ channel, tenant, firstAt }) => {
    const own = `d.channel = ${parameters.add(channel)}`
    const { condition, order } = ofTenant(
      dialect,
      () => parameters.add(tenant),
      () => parameters.add(firstAt),
    )
    const free = notBusy(channel, request, dialect, parameters)
    const first = `select d.wake_at from ${table} where ${own} and ${condition} ${free} order by ${order} limit 1`
    return `select f.wake_at from (${first}) f`
  })
  return { text: rows.join(' union all '), values: parameters.values }
}

export interface ChannelTurns extends Turns {
  /** Tenants after `last` may have due deliveries: they were not visited, or had no turn. */
  readonly isCut: boolean
  /** The visited tenants that are not at their share. */
  readonly visited: readonly SeenTenant[]
}

/** The turns of one channel. */
export function turnsOf(
  channel: string,
  request: ClaimRequest,
  ranges: readonly TenantRange[],
  seen: readonly SeenTenant[],
  now: number,
): ChannelTurns {
  const own = ranges.filter((one) => one.channel === channel)
  const isFull = new Set(request.full?.filter((one) => one.channel === channel).map(({ tenant }) => tenant))
  const found = seen
    .filter((one) => one.channel === channel)
    .sort((one, other) => one.number - other.number || Number(one.isKnown) - Number(other.isKnown))
  const visits = found.filter(({ tenant }) => !isFull.has(tenant))
  const turns = shareTurns(visits, request.limits[channel] ?? 0, now)
  // Further tenants may follow the first new one, before the next known one. The next claim begins there.
  const newest = found.find(({ isKnown }) => !isKnown)?.tenant
  const order = found.map(({ tenant }) => tenant)
  const end = own.at(-1)?.known || undefined
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
