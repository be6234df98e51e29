import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import { NOW } from '../connection/changes.ts'
import { type Dialect, type NameTable, Parameters, tableAlong } from '../connection/dialects.ts'
import type { DeliveryRecord } from '../schema/records.ts'
import type { Column } from '../schema/tables.ts'
import type { ClaimLook, SeenChannel, SeenEntries } from './low-water-marks.ts'

type Waiting = 'queued' | 'sending'

/** Deliveries `d` in the order of an index, by an instant. */
export interface WaitingDeliveries {
  readonly table: string
  /** The short name of the index. */
  readonly index: string
  /** The instant, which the statement must compare and order by. */
  readonly at: string
  readonly condition: string
}

/** Queued deliveries by when they are due, or leased ones by when their lease ends. The statement must name the channel. */
export function byWakeTime(status: Waiting, dialect: Dialect, nameOf: NameTable): WaitingDeliveries {
  if (dialect.partialIndexes) return alongIndex('due', 'wake_at', status, dialect, nameOf)
  const [index, at] = status === 'queued' ? ['queued', 'queued_at'] : ['leased', 'leased_until']
  return alongIndex(index, at, status, dialect, nameOf)
}

/** Queued or leased deliveries by their expiry. */
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

/** What a claim sets in a delivery `d` that it leases. */
export function leaseSets({ concat }: Dialect, now: string, leaseMs: string, fence: string): string {
  const begun = [`'{"attempt":'`, '(d.attempts + 1)', `',"startedAt":'`, now, `'},'`]
  // The number of attempts is set last: MySQL reads columns as they were set before.
  return `status = 'sending', reason = null, wake_at = ${now} + ${leaseMs}, fence = ${fence},
    attempt_log = ${concat('d.attempt_log', ...begun)}, open_key = null, version = d.version + 1, attempts = d.attempts + 1`
}

/** The lease that a claim gives to all its deliveries. */
export interface LeaseParameters {
  /** The fencing token. */
  readonly fence: string
  readonly leaseMs: number
  /** When it began, by the database's clock. */
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

const RECEIVER: Readonly<Record<string, Column>> = { concurrency_key: { kind: 'text' } }

/** A condition that leaves out busy receivers. */
export function notBusy(channel: string, { busy }: ClaimRequest, { rows }: Dialect, parameters: Parameters): string {
  const keys = busy.filter((one) => one.channel === channel).map(({ concurrencyKey }) => concurrencyKey)
  if (keys.length === 0) return ''
  const list = parameters.add(JSON.stringify(keys.map((concurrency_key) => ({ concurrency_key }))))
  const taken = `select b.concurrency_key from ${rows(list, RECEIVER, 'b')}`
  return `and (d.concurrency_key is null or d.concurrency_key not in (${taken}))`
}

/** What a claim finds out besides its deliveries. */
export interface ClaimSummary extends SeenEntries {
  /** When the next delivery of the channels is due, or its lease ends; `Infinity`: the claim saw none. */
  readonly nextAt: number
  /** A delivery of any channel is past its expiry. */
  readonly isExpired: boolean
}

interface SummaryChannel {
  readonly channel: string
  readonly queued: unknown
  readonly leased: unknown
  readonly next: unknown
}

/** The summary that the `claim` function returns as JSON. */
export function readSummary(given: unknown): ClaimSummary {
  const { now, channels, expiring, expired } = JSON.parse(String(given))
  return summaryOf(now, channels ?? [], expiring, expired)
}

function summaryOf(now: unknown, given: readonly SummaryChannel[], expiring: unknown, expired: unknown): ClaimSummary {
  const channels = given.map(
    ({ channel, queued, leased }): SeenChannel => ({ channel, queued: instant(queued), leased: instant(leased) }),
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

/** A row of {@link summaryText}: number 0 with expiries of all channels, then one for each channel. */
export interface SummaryRow {
  readonly number: unknown
  readonly claimed_at: unknown
  /** The first live entries. */
  readonly queued: unknown
  readonly leased: unknown
  /** The first ones that have expired, or that may be claimed. */
  readonly queued_next: unknown
  readonly leased_next: unknown
}

/** Reads a summary in one statement. */
export function summaryText(
  request: ClaimRequest,
  look: ClaimLook,
  dialect: Dialect,
  nameOf: NameTable,
): { readonly text: string; readonly values: readonly unknown[] } {
  const parameters = new Parameters(dialect)
  const texts = [expiryText(look, dialect, nameOf, parameters)]
  for (const channel of Object.keys(request.limits))
    texts.push(channelText(texts.length, channel, request, look, dialect, nameOf, parameters))
  return { text: texts.join(' union all '), values: parameters.values }
}

export function summaryOfRows(rows: readonly SummaryRow[], request: ClaimRequest, look: ClaimLook): ClaimSummary {
  const names = Object.keys(request.limits)
  const all = rows.find(({ number }) => Number(number) === 0)
  if (!all) throw new TypeError('a claim returned no time')
  const channels = rows.flatMap(({ number, queued, leased, queued_next, leased_next }): SummaryChannel[] => {
    const channel = names[Number(number) - 1]
    return channel === undefined ? [] : [{ channel, queued, leased, next: earlier(queued_next, leased_next) }]
  })
  // The text finds the latest expired entry. No live one is before the look's mark, so the mark stays.
  const expiring = all.queued === null && all.leased === null ? null : look.expiring
  return summaryOf(all.claimed_at, channels, expiring, earlier(all.queued_next, all.leased_next))
}

function earlier(one: unknown, other: unknown): unknown {
  if (one === null || other === null) return one ?? other
  return Math.min(Number(one), Number(other))
}

type FirstText = (status: Waiting) => string

/** @param next Runs only where there is a first entry. Absent: it is the same. */
function rowText(number: number, first: FirstText, next?: FirstText): string {
  const nextText = (column: 'queued' | 'leased'): string =>
    next
      ? `case when f.${column} is not null then (${next(column === 'queued' ? 'queued' : 'sending')}) end`
      : `f.${column}`
  // Built in the order in which the text names its parameters.
  const columns = `f.queued, f.leased, ${nextText('queued')} as queued_next, ${nextText('leased')} as leased_next`
  const firsts = `select (${first('queued')}) as queued, (${first('sending')}) as leased`
  return `select ${number} as number, ${NOW} as claimed_at, ${columns} from (${firsts}) f`
}

/**
 * The latest expired entries first: InnoDB reads on past the end of a range, through all dead entries behind it, and sent deliveries
 * expire later than now.
 */
function expiryText({ expiring }: ClaimLook, dialect: Dialect, nameOf: NameTable, parameters: Parameters): string {
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
  look: ClaimLook,
  dialect: Dialect,
  nameOf: NameTable,
  parameters: Parameters,
): string {
  const { queued, leased, isWhole } = look.from(channel)
  const first =
    (condition: () => string): FirstText =>
    (status) => {
      const { table, at, condition: own } = byWakeTime(status, dialect, nameOf)
      const from = `d.channel = ${parameters.add(channel)} and ${at} >= ${parameters.add(status === 'queued' ? queued : leased)}`
      const until = status === 'queued' || isWhole ? '' : `and ${at} <= ${NOW}`
      return `select ${at} from ${table} where ${own} and ${from} ${until} ${condition()} order by ${at} limit 1`
    }
  // Expired deliveries are found by their expiry, and need no low-water mark here.
  const wanted = `and (d.wake_at > ${NOW} or d.expires_at > ${NOW})`
  const all = first(() => wanted)
  if (!request.busy.some((one) => one.channel === channel)) return rowText(number, all)
  const free = first(() => `${wanted} ${notBusy(channel, request, dialect, parameters)}`)
  return rowText(
    number,
    first(() => ''),
    free,
  )
}
