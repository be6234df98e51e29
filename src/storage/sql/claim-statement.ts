import type { ClaimRequest } from '../../ports/dispatch-store.ts'
import type { Database, Queries } from './database.ts'
import { functionName } from './functions.ts'
import { columnsOf, readRecord } from './read-records.ts'
import type { DeliveryRecord, DispatchRecord } from './records.ts'
import { NOW } from './statements.ts'
import { type Column, TABLES } from './tables.ts'

/** What a claim leased. */
export interface ClaimedRecord {
  /** As it was before. */
  readonly delivery: DeliveryRecord
  readonly dispatch: DispatchRecord
}

/** What a claim found. */
export interface FoundDue {
  readonly leased: readonly ClaimedRecord[]
  /** When it was, by the database's clock. */
  readonly now: number
  /** When the next one is due, of the channels that were asked for, or its lease ends: also one that was just given. */
  readonly nextAt: number | undefined
  /** Something, of whatever channel, is past its expiry. */
  readonly isExpired: boolean
}

/** Everything that a claim says of more than one delivery. */
interface Summary {
  readonly claimed_at: unknown
  readonly next_at: unknown
  readonly is_expired: unknown
}

/**
 * Leases what is due, oldest first, and counts the attempts: by the database's clock, passing over what others are taking. In one
 * statement, where a database can do that.
 */
export async function claimDue(request: ClaimRequest, fence: string, db: Database): Promise<FoundDue> {
  const askedAt = db.askedAt()
  const found = db.dialect.hasFunctions
    ? await claimAtOnce(request, fence, db)
    : await db.transaction((queries) => claimInTurn(request, fence, db, queries))
  const now = Number(found.summary.claimed_at)
  db.learn(now, askedAt)
  const { next_at, is_expired } = found.summary
  return {
    leased: found.leased,
    now,
    nextAt: next_at === null ? undefined : Number(next_at),
    isExpired: Number(is_expired) > 0,
  }
}

type Row = Readonly<Record<string, unknown>>

/** From a row that has what it was under its own names, and its dispatch with `h_` before theirs. */
function claimedRecord(row: Row): ClaimedRecord {
  return { delivery: readRecord('deliveries', row), dispatch: readRecord('dispatches', row, 'h_') }
}

interface Claimed {
  readonly leased: readonly ClaimedRecord[]
  readonly summary: Summary
}

/** Collects the parameters of a statement in the order in which it names them. */
class Parameters {
  readonly values: unknown[] = []
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  add(value: unknown): string {
    this.values.push(value)
    return this.#db.dialect.parameter(this.values.length)
  }
}

async function claimAtOnce({ limits, busy, leaseMs }: ClaimRequest, fence: string, db: Database): Promise<Claimed> {
  const channels = Object.entries(limits).map(([channel, amount]) => ({ channel, amount }))
  const receivers = busy.map(({ channel, concurrencyKey }) => ({ channel, concurrency_key: concurrencyKey }))
  const parameters = [1, 2, 3, 4].map(db.dialect.parameter).join(', ')
  const text = `select * from ${functionName('claim', db.dialect, db.prefix)}(${parameters}, ${NOW})`
  const rows = await db.query<Row & Summary>(text, [
    JSON.stringify(channels),
    JSON.stringify(receivers),
    leaseMs,
    fence,
  ])
  const summary = rows.at(-1)
  if (!summary) throw new TypeError('a claim found nothing, not even the time')
  return { leased: rows.slice(0, -1).map(claimedRecord), summary }
}

async function claimInTurn(request: ClaimRequest, fence: string, db: Database, queries: Queries): Promise<Claimed> {
  const ids: string[] = []
  for (const [channel, limit] of Object.entries(request.limits)) {
    if (limit <= 0) continue
    const parameters = new Parameters(db)
    const text = dueText(channel, limit, request, 'd.delivery_id', db, parameters)
    for (const { delivery_id } of await queries.query<{ delivery_id: string }>(text, parameters.values))
      ids.push(delivery_id)
  }
  const leased = ids.length > 0 ? await leaseThese(ids, request, fence, db, queries) : []
  const parameters = new Parameters(db)
  const [summary] = await queries.query<Summary>(summaryText(request, db, parameters), parameters.values)
  if (!summary) throw new TypeError('a claim found nothing, not even the time')
  return { leased, summary }
}

/** Reads deliveries that are locked, as they were before they are leased. */
async function leaseThese(
  ids: readonly string[],
  request: ClaimRequest,
  fence: string,
  db: Database,
  queries: Queries,
): Promise<readonly ClaimedRecord[]> {
  const { dialect, nameOf } = db
  const { delivery_id } = TABLES.deliveries.columns
  const list = JSON.stringify(ids.map((id) => ({ delivery_id: id })))
  const these = (parameter: string): string => dialect.rows(parameter, { delivery_id }, 'x')
  const columns = `${columnsOf('deliveries', 'd', dialect)}, ${columnsOf('dispatches', 'h', dialect, 'h_')}`
  const text = `select ${columns} from ${these(dialect.parameter(1))}
    join ${nameOf('deliveries')} d on d.delivery_id = x.delivery_id
    join ${nameOf('dispatches')} h on h.dispatch_id = d.dispatch_id`
  const rows = await queries.query<Row>(text, [list])
  const parameters = new Parameters(db)
  const name = `${nameOf('deliveries')} as d`
  const same = 'd.delivery_id = x.delivery_id'
  if (dialect.updatesFrom) {
    const sets = leaseSets(request, fence, db, parameters)
    await queries.change(
      `update ${name} set ${sets} from ${these(parameters.add(list))} where ${same}`,
      parameters.values,
    )
  } else {
    const joined = `update ${name} join ${these(parameters.add(list))} on ${same}`
    await queries.change(`${joined} set ${leaseSets(request, fence, db, parameters)}`, parameters.values)
  }
  return rows.map(claimedRecord)
}

/** What is due in a channel and worth sending, oldest first, and nobody else's. */
function dueText(
  channel: string,
  limit: number,
  request: ClaimRequest,
  columns: string,
  { dialect, nameOf }: Database,
  parameters: Parameters,
): string {
  const own = `d.channel = ${parameters.add(channel)}`
  const free = notBusy(channel, request, dialect.rows, parameters)
  return `select ${columns} from ${nameOf('deliveries')} d
    where ${own} and d.wake_at <= ${NOW} and d.expires_at > ${NOW} ${free}
    order by d.wake_at limit ${parameters.add(limit)}${dialect.skipLocked}`
}

const RECEIVER: Readonly<Record<string, Column>> = { concurrency_key: { kind: 'text' } }

function notBusy(
  channel: string,
  { busy }: ClaimRequest,
  rows: Database['dialect']['rows'],
  parameters: Parameters,
): string {
  const keys = busy.filter((one) => one.channel === channel).map(({ concurrencyKey }) => concurrencyKey)
  if (keys.length === 0) return ''
  const list = parameters.add(JSON.stringify(keys.map((concurrency_key) => ({ concurrency_key }))))
  const taken = `select b.concurrency_key from ${rows(list, RECEIVER, 'b')}`
  return `and (d.concurrency_key is null or d.concurrency_key not in (${taken}))`
}

function leaseSets({ leaseMs }: ClaimRequest, fence: string, { dialect }: Database, parameters: Parameters): string {
  const begun = [`'{"attempt":'`, '(d.attempts + 1)', `',"startedAt":'`, NOW, `'},'`]
  // The number of attempts is set last, since one of these databases goes by what is set already.
  return `status = 'sending', reason = null, wake_at = ${NOW} + ${parameters.add(leaseMs)}, fence = ${parameters.add(fence)},
    attempt_log = ${dialect.concat('d.attempt_log', ...begun)}, open_key = null, version = d.version + 1,
    attempts = d.attempts + 1`
}

/** What a claim gives to all that it leases. */
export interface Lease {
  readonly fence: string
  readonly leaseMs: number
  /** When it began, by the database's clock. */
  readonly now: number
}

/** A delivery that is leased, as the statement leaves it. */
export function leasedRecord(before: DeliveryRecord, { fence, leaseMs, now }: Lease): DeliveryRecord {
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

/** The time, when the next is due, and whether something has expired. */
function summaryText(request: ClaimRequest, db: Database, parameters: Parameters): string {
  const { dialect, nameOf } = db
  const next = Object.keys(request.limits).map((channel) => {
    const own = `d.channel = ${parameters.add(channel)}`
    return `select (select d.wake_at from ${nameOf('deliveries')} d where ${own} and d.wake_at is not null and (d.wake_at > ${NOW} or d.expires_at > ${NOW})
      ${notBusy(channel, request, dialect.rows, parameters)} order by d.wake_at limit 1) as next_at`
  })
  const earliest = next.length > 0 ? `(select min(n.next_at) from (${next.join(' union all ')}) n)` : 'null'
  const expired = `(select count(*) from (select 1 from ${nameOf('deliveries')} d where d.expires_at <= ${NOW} and d.wake_at <= ${NOW} limit 1) e)`
  return `select ${NOW} as claimed_at, ${earliest} as next_at, ${expired} as is_expired`
}
