import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import type { Database, Queries } from '../connection/database.ts'
import type { Dialect } from '../connection/dialects.ts'
import { Parameters } from '../connection/parameters.ts'
import { NOW } from '../connection/statements.ts'
import type { Column } from '../schema/table.ts'
import type { ClaimLook, SeenChannel, SeenEntries } from './low-water-marks.ts'
import { byExpiry, byWakeTime } from './waiting-deliveries.ts'

/** Everything that a claim says of more than one delivery. */
export interface ClaimSummary extends SeenEntries {
  /** When the next one is due, of the channels that were asked for, or its lease ends; `Infinity`: the claim saw none. */
  readonly nextAt: number
  /** Something, of whatever channel, is past its expiry. */
  readonly isExpired: boolean
}

/** What a function of the database gives as JSON. */
interface GivenSummary {
  readonly now: number
  readonly channels: readonly GivenChannel[] | null
  readonly expiring: number | null
  readonly expired: number | null
}

interface GivenChannel {
  readonly channel: string
  readonly queued: unknown
  readonly leased: unknown
  readonly next: unknown
}

export function readSummary(given: unknown): ClaimSummary {
  const { now, channels, expiring, expired } = JSON.parse(String(given)) as GivenSummary
  return summaryOf(now, channels ?? [], expiring, expired)
}

function summaryOf(now: unknown, given: readonly GivenChannel[], expiring: unknown, expired: unknown): ClaimSummary {
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

/** A row of what concerns all channels, with what expires, and one for each channel, with what is due. */
interface Row {
  /** 0, or that of the channel. */
  readonly number: unknown
  readonly claimed_at: unknown
  /** The first live entries. */
  readonly queued: unknown
  readonly leased: unknown
  /** The first ones that have expired, or that may be claimed. */
  readonly queued_next: unknown
  readonly leased_next: unknown
}

/** Reads it in one statement. */
export async function selectSummary(
  request: ClaimRequest,
  look: ClaimLook,
  db: Database,
  queries: Queries,
): Promise<ClaimSummary> {
  const parameters = new Parameters(db.dialect)
  const names = Object.keys(request.limits)
  const texts = [expiryText(look, db, parameters)]
  for (const channel of names) texts.push(channelText(texts.length, channel, request, look, db, parameters))
  const rows = await queries.query<Row>(texts.join(' union all '), parameters.values)
  const all = rows.find(({ number }) => Number(number) === 0)
  if (!all) throw new TypeError('a claim found nothing, not even the time')
  const channels = rows.flatMap(({ number, queued, leased, queued_next, leased_next }): GivenChannel[] => {
    const channel = names[Number(number) - 1]
    return channel === undefined ? [] : [{ channel, queued, leased, next: earlier(queued_next, leased_next) }]
  })
  // The latest that has expired was looked for: no live one is before where this look began.
  const expiring = all.queued === null && all.leased === null ? null : look.expiring
  return summaryOf(all.claimed_at, channels, expiring, earlier(all.queued_next, all.leased_next))
}

function earlier(one: unknown, other: unknown): unknown {
  if (one === null || other === null) return one ?? other
  return Math.min(Number(one), Number(other))
}

type FirstText = (status: 'queued' | 'sending') => string

/** @param next Looked for only where there is a first one. Absent: it is the same. */
function rowText(number: number, first: FirstText, next?: FirstText): string {
  const nextText = (column: 'queued' | 'leased'): string =>
    next
      ? `case when f.${column} is not null then (${next(column === 'queued' ? 'queued' : 'sending')}) end`
      : `f.${column}`
  // In the order in which the text names its parameters.
  const columns = `f.queued, f.leased, ${nextText('queued')} as queued_next, ${nextText('leased')} as leased_next`
  const firsts = `select (${first('queued')}) as queued, (${first('sending')}) as leased`
  return `select ${number} as number, ${NOW} as claimed_at, ${columns} from (${firsts}) f`
}

/**
 * The latest first, since InnoDB reads on past the end of a range, through all dead entries behind it: what was sent expires later
 * than now.
 */
function expiryText({ expiring }: ClaimLook, { dialect, nameOf }: Database, parameters: Parameters): string {
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
  { dialect, nameOf }: Database,
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
  // What has expired is found by when it did: it needs no mark here.
  const wanted = `and (d.wake_at > ${NOW} or d.expires_at > ${NOW})`
  const hasBusy = request.busy.some((one) => one.channel === channel)
  if (!hasBusy)
    return rowText(
      number,
      first(() => wanted),
    )
  return rowText(
    number,
    first(() => ''),
    first(() => `${wanted} ${notBusy(channel, request, dialect, parameters)}`),
  )
}

const RECEIVER: Readonly<Record<string, Column>> = { concurrency_key: { kind: 'text' } }

/** A condition that leaves out the receivers that are busy. */
export function notBusy(channel: string, { busy }: ClaimRequest, { rows }: Dialect, parameters: Parameters): string {
  const keys = busy.filter((one) => one.channel === channel).map(({ concurrencyKey }) => concurrencyKey)
  if (keys.length === 0) return ''
  const list = parameters.add(JSON.stringify(keys.map((concurrency_key) => ({ concurrency_key }))))
  const taken = `select b.concurrency_key from ${rows(list, RECEIVER, 'b')}`
  return `and (d.concurrency_key is null or d.concurrency_key not in (${taken}))`
}
