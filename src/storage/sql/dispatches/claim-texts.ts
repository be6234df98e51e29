import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import { NOW } from '../connection/changes.ts'
import { type Dialect, type NameTable, Parameters, tableAlong } from '../connection/dialects.ts'
import type { Column } from '../schema/columns.ts'
import type { DeliveryRecord } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import type { ClaimScan, SeenChannel, SeenEntries } from './low-water-marks.ts'

type Waiting = 'queued' | 'sending'

/** Deliveries `d` in the order of an index, by an instant. */
export interface WaitingDeliveries {
  readonly table: string
  readonly index: string
  /** The instant. The statement must compare and order by it. */
  readonly at: string
  readonly condition: string
}

/** Queued deliveries by due time, or leased ones by the end of their lease. The statement must compare the channel. */
export function byWakeTime(status: Waiting, dialect: Dialect, nameOf: NameTable): WaitingDeliveries {
  if (dialect.partialIndexes) return alongIndex('due', 'wake_at', status, dialect, nameOf)
  const [index, at] = status === 'queued' ? ['queued', 'queued_at'] : ['leased', 'leased_until']
  return alongIndex(index, at, status, dialect, nameOf)
}

export function byExpiry(status: Waiting, dialect: Dialect, nameOf: NameTable): WaitingDeliveries {
  return alongIndex('expiring', dialect.partialIndexes ? 'expires_at' : 'expiring_at', status, dialect, nameOf)
}

function alongIndex(
  index: string,
  at: string,
  status: Waiting,
  dialect: Dialect,
  nameOf: NameTable,
): WaitingDeliveries {
  const table = tableAlong({ table: 'deliveries', alias: 'd', index }, dialect, nameOf)
  return { table, index, at: `d.${at}`, condition: `d.status = '${status}'` }
}

export function leaseSets({ concat }: Dialect, now: string, leaseMs: string, fence: string): string {
  const begun = [`'{"attempt":'`, '(d.attempts + 1)', `',"startedAt":'`, now, `'},'`]
  // Sets the number of attempts last: MySQL reads values that the same statement has already set.
  return `status = 'sending', reason = null, wake_at = ${now} + ${leaseMs}, fence = ${fence},
    attempt_log = ${concat('d.attempt_log', ...begun)}, open_key = null, version = d.version + 1, attempts = d.attempts + 1`
}

export interface LeaseParameters {
  readonly fence: string
  readonly leaseMs: number
  readonly now: number
}

/** The record of a delivery after {@link leaseSets}. */
export function leasedRecord(before: DeliveryRecord, { fence, leaseMs, now }: LeaseParameters): DeliveryRecord {
  const attempts = before.attempts + 1
  return {
    ...before,
    status: 'sending',
    reason: null,
    wake_at: now + leaseMs,
    fence,
    attempt_log: `${before.attempt_log}{"attempt":${attempts},"startedAt":${now}},`,
    open_key: null,
    version: before.version + 1,
    attempts,
  }
}

const KEY: Column = { kind: 'text' }

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
    const columns = { tenant: TABLES.deliveries.columns.tenant, concurrency_key: KEY }
    const paused = `select p.tenant, p.concurrency_key from ${rows(parameters.add(JSON.stringify(pairs)), columns, 'p')}`
    conditions.push(`(d.tenant, d.concurrency_key) not in (${paused})`)
  }
  return conditions.length > 0 ? `and (d.concurrency_key is null or (${conditions.join(' and ')}))` : ''
}

/** Summary of the waiting deliveries, which a claim reads after its own changes. */
export interface ClaimSummary extends Omit<SeenEntries, 'ranges' | 'tenants'> {
  /** The next due time or end of a lease in the channels; `Infinity`: none was seen. */
  readonly nextAt: number
  readonly isExpired: boolean
}

interface SummaryChannel {
  readonly channel: string
  readonly queued: unknown
  readonly leased: unknown
  readonly next: unknown
  readonly leaseEnd: unknown
}

export function readSummary(given: unknown): ClaimSummary {
  const { now, channels, expiring, expired } = JSON.parse(String(given))
  return summaryOf(now, channels ?? [], expiring, expired)
}

function summaryOf(now: unknown, given: readonly SummaryChannel[], expiring: unknown, expired: unknown): ClaimSummary {
  const channels = given.map(
    ({ channel, queued, leased, leaseEnd }): SeenChannel => ({
      channel,
      queued: instant(queued),
      leased: instant(leased),
      leaseEnd: instant(leaseEnd),
    }),
  )
  const next = given.flatMap((one) => instant(one.next) ?? [])
  return {
    now: Number(now),
    channels,
    expiring: instant(expiring),
    nextAt: Math.min(...next, Number.POSITIVE_INFINITY),
    isExpired: expired !== null,
  }
}

function instant(value: unknown): number | undefined {
  return value === null ? undefined : Number(value)
}

/** A row of {@link summaryText}: number 0 has the expiries of all channels, the others one channel each. */
export interface SummaryRow {
  readonly number: unknown
  readonly claimed_at: unknown
  readonly queued: unknown
  readonly leased: unknown
  /** The first entries that have expired (number 0) or that may be claimed. */
  readonly queued_next: unknown
  readonly leased_next: unknown
  /** The first running lease of a channel, in a full scan. */
  readonly lease_end: unknown
}

export function summaryText(
  request: ClaimRequest,
  scan: ClaimScan,
  dialect: Dialect,
  nameOf: NameTable,
): { readonly text: string; readonly values: readonly unknown[] } {
  const parameters = new Parameters(dialect)
  const texts = [expiryText(scan, dialect, nameOf, parameters)]
  for (const channel of Object.keys(request.limits))
    texts.push(channelText(texts.length, channel, request, scan, dialect, nameOf, parameters))
  return { text: texts.join(' union all '), values: parameters.values }
}

export function summaryOfRows(rows: readonly SummaryRow[], request: ClaimRequest, scan: ClaimScan): ClaimSummary {
  const names = Object.keys(request.limits)
  const all = rows.find(({ number }) => Number(number) === 0)
  if (!all) throw new TypeError('a claim returned no time')
  const channels = rows.flatMap(({ number, queued, leased, lease_end, ...row }): SummaryChannel[] => {
    const channel = names[Number(number) - 1]
    const next = earlier(row.queued_next, row.leased_next)
    return channel === undefined ? [] : [{ channel, queued, leased, next, leaseEnd: lease_end }]
  })
  // The query returns the latest expired entry. No live entry precedes the current mark, so the mark stays.
  const expiring = all.queued === null && all.leased === null ? null : scan.expiring
  return summaryOf(all.claimed_at, channels, expiring, earlier(all.queued_next, all.leased_next))
}

function earlier(one: unknown, other: unknown): unknown {
  if (one === null || other === null) return one ?? other
  return Math.min(Number(one), Number(other))
}

type FirstText = (status: Waiting) => string

/**
 * @param next Runs only if there is a first entry. Absent: the same entry.
 * @param leaseEnd Absent: it is not read.
 */
function rowText(number: number, first: FirstText, next?: FirstText, leaseEnd?: () => string): string {
  const nextText = (column: 'queued' | 'leased'): string =>
    next
      ? `case when f.${column} is not null then (${next(column === 'queued' ? 'queued' : 'sending')}) end`
      : `f.${column}`
  // Built in the order in which the text names its parameters.
  const columns = `f.queued, f.leased, ${nextText('queued')} as queued_next, ${nextText('leased')} as leased_next,
    ${leaseEnd ? `(${leaseEnd()})` : 'null'} as lease_end`
  const firsts = `select (${first('queued')}) as queued, (${first('sending')}) as leased`
  return `select ${number} as number, ${NOW} as claimed_at, ${columns} from (${firsts}) f`
}

/** Latest expired entries first: InnoDB reads beyond the end of a range, through all dead entries of sent deliveries there. */
function expiryText({ expiring }: ClaimScan, dialect: Dialect, nameOf: NameTable, parameters: Parameters): string {
  const first =
    (wanted: string): FirstText =>
    (status) => {
      const { table, at, condition } = byExpiry(status, dialect, nameOf)
      const range = `${at} >= ${parameters.add(expiring)} and ${at} <= ${NOW}`
      return `select ${at} from ${table} where ${condition} and ${range} and ${wanted} order by ${at} desc limit 1`
    }
  return rowText(0, first('d.wake_at is not null'), first(`d.wake_at <= ${NOW}`))
}

function channelText(
  number: number,
  channel: string,
  request: ClaimRequest,
  scan: ClaimScan,
  dialect: Dialect,
  nameOf: NameTable,
  parameters: Parameters,
): string {
  const { queued, leased, isFull } = scan.from(channel)
  // Without the tenants at their share, the next due time would take a long search.
  const isShared = request.full?.some((one) => one.channel === channel)
  const first =
    (condition: () => string): FirstText =>
    (status) => {
      const { table, at, condition: own } = byWakeTime(status, dialect, nameOf)
      const from = `d.channel = ${parameters.add(channel)} and ${at} >= ${parameters.add(status === 'queued' ? queued : leased)}`
      const until = status === 'queued' ? '' : `and ${at} <= ${NOW}`
      return `select ${at} from ${table} where ${own} and ${from} ${until} ${condition()} order by ${at} limit 1`
    }
  // Also of deliveries that are expired or of a busy receiver: one may be the first that a later claim finds.
  const leaseEnd = (): string => {
    const { table, at, condition } = byWakeTime('sending', dialect, nameOf)
    const running = `d.channel = ${parameters.add(channel)} and ${at} > ${NOW}`
    return `select ${at} from ${table} where ${condition} and ${running} order by ${at} limit 1`
  }
  const rowOf = (from: FirstText, next?: FirstText): string =>
    rowText(number, from, next, isFull ? leaseEnd : undefined)
  // Expired deliveries are found by their expiry and need no low-water mark here.
  const wanted = `and (d.wake_at > ${NOW} or d.expires_at > ${NOW})`
  const every = first(() => '')
  if (isShared) return rowOf(every, () => 'null')
  if (!request.busy.some((one) => one.channel === channel)) return rowOf(first(() => wanted))
  return rowOf(
    every,
    first(() => `${wanted} ${notBusy(channel, request, dialect, parameters)}`),
  )
}
