import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import { NOW } from '../connection/changes.ts'
import type { Database, Queries } from '../connection/database.ts'
import { columnsOf, lookUp, Parameters, readRecord, tableAlong } from '../connection/dialects.ts'
import { functionName } from '../schema/functions.ts'
import type { DeliveryRecord, DispatchRecord } from '../schema/records.ts'
import { type Column, TABLES } from '../schema/tables.ts'
import {
  byWakeTime,
  type ClaimSummary,
  type LeaseParameters,
  leaseSets,
  notBusy,
  readSummary,
  type SummaryRow,
  summaryOfRows,
  summaryText,
} from './claim-texts.ts'
import type { ClaimLook } from './low-water-marks.ts'

/** A delivery that a claim leased. */
export interface ClaimedRecord {
  /** As it was before the claim. */
  readonly delivery: DeliveryRecord
  readonly dispatch: DispatchRecord
}

/** The result of a claim. */
export interface FoundDue extends ClaimSummary {
  readonly leased: readonly ClaimedRecord[]
}

/**
 * Leases due deliveries, oldest first, and counts the attempts, by the database's clock. It skips rows that other claims have locked
 * (SKIP LOCKED). One statement where the database has functions, otherwise one transaction.
 */
export async function claimDueRows(
  request: ClaimRequest,
  fence: string,
  look: ClaimLook,
  db: Database,
): Promise<FoundDue> {
  const askedAt = db.askedAt()
  const found = db.dialect.hasFunctions
    ? await claimAtOnce(request, fence, look, db)
    : await db.transaction((queries) => claimInTurn(request, fence, look, db, queries))
  db.learn(found.now, askedAt)
  return found
}

type Row = Readonly<Record<string, unknown>>

/** From a row with the columns of the delivery, and those of its dispatch with the prefix `h_`. */
function claimedRecord(row: Row): ClaimedRecord {
  return { delivery: readRecord('deliveries', row), dispatch: readRecord('dispatches', row, 'h_') }
}

async function claimAtOnce(
  { limits, busy, leaseMs }: ClaimRequest,
  fence: string,
  look: ClaimLook,
  db: Database,
): Promise<FoundDue> {
  const channels = Object.entries(limits).map(([channel, amount]) => {
    const { queued, leased, isWhole } = look.from(channel)
    return { channel, amount, queued_from: queued, leased_from: leased, is_whole: isWhole }
  })
  const receivers = busy.map(({ channel, concurrencyKey }) => ({ channel, concurrency_key: concurrencyKey }))
  const parameters = [1, 2, 3, 4, 5].map(db.dialect.parameter).join(', ')
  const text = `select * from ${functionName('claim', db.dialect, db.prefix)}(${parameters}, ${NOW})`
  const rows = await db.query<Row>(text, [
    JSON.stringify(channels),
    JSON.stringify(receivers),
    look.expiring,
    leaseMs,
    fence,
  ])
  return { leased: rows.slice(0, -1).map(claimedRecord), ...readSummary(rows.at(-1)?.summary) }
}

async function claimInTurn(
  request: ClaimRequest,
  fence: string,
  look: ClaimLook,
  db: Database,
  queries: Queries,
): Promise<FoundDue> {
  const { text, values } = summaryText(request, look, db.dialect, db.nameOf)
  const summarize = async (): Promise<ClaimSummary> =>
    summaryOfRows(await queries.query<SummaryRow>(text, values), request, look)
  const due: Due[] = []
  for (const channel of Object.keys(request.limits)) due.push(...(await lockDue(channel, request, look, db, queries)))
  if (due.length === 0) return { leased: [], ...(await summarize()) }
  // One instant for all leases, in the database and here.
  const now = Math.max(...due.map(({ found_at }) => Number(found_at)))
  const leased = await leaseThese(due, { fence, leaseMs: request.leaseMs, now }, db, queries)
  return { leased, ...(await summarize()), now }
}

/** A delivery that is due. */
interface Due {
  readonly delivery_id: string
  readonly wake_at: unknown
  readonly found_at: unknown
}

/** The due deliveries of a channel, oldest first, without expired ones. They are locked where the database can lock rows. */
async function lockDue(
  channel: string,
  request: ClaimRequest,
  look: ClaimLook,
  { dialect, nameOf }: Database,
  queries: Queries,
): Promise<readonly Due[]> {
  const limit = request.limits[channel] ?? 0
  if (limit <= 0) return []
  const { queued, leased } = look.from(channel)
  const due: Due[] = []
  for (const [status, from] of [
    ['queued', queued],
    ['sending', leased],
  ] as const) {
    const parameters = new Parameters(dialect)
    const { table, at, condition } = byWakeTime(status, dialect, nameOf)
    const own = `d.channel = ${parameters.add(channel)} and ${condition} and ${at} >= ${parameters.add(from)}`
    const free = notBusy(channel, request, dialect, parameters)
    const text = `select d.delivery_id, d.wake_at, ${NOW} as found_at from ${table}
      where ${own} and ${at} <= ${NOW} and d.expires_at > ${NOW} ${free}
      order by ${at} limit ${parameters.add(limit)}${dialect.skipLocked}`
    due.push(...(await queries.query<Due>(text, parameters.values)))
  }
  if (due.length > limit) due.sort((one, other) => Number(one.wake_at) - Number(other.wake_at))
  return due.slice(0, limit)
}

const INSTANT: Column = { kind: 'integer' }

/** Reads locked deliveries as they are before the lease, and leases them. */
async function leaseThese(
  due: readonly Due[],
  { fence, leaseMs, now }: LeaseParameters,
  { dialect, nameOf }: Database,
  queries: Queries,
): Promise<readonly ClaimedRecord[]> {
  const { delivery_id } = TABLES.deliveries.columns
  const list = JSON.stringify(due.map(({ delivery_id }) => ({ delivery_id, leased_at: now })))
  const these = (parameter: string): string => dialect.rows(parameter, { delivery_id, leased_at: INSTANT }, 'x')
  const columns = `${columnsOf('deliveries', 'd', dialect)}, ${columnsOf('dispatches', 'h', dialect, 'h_')}`
  const same = 'd.delivery_id = x.delivery_id'
  const own = lookUp({ table: 'deliveries', alias: 'd', on: same }, dialect, nameOf)
  const heads = lookUp({ table: 'dispatches', alias: 'h', on: 'h.dispatch_id = d.dispatch_id' }, dialect, nameOf)
  const rows = await queries.query<Row>(`select ${columns} from ${these(dialect.parameter(1))} ${own} ${heads}`, [list])
  const parameters = new Parameters(dialect)
  const target = tableAlong({ table: 'deliveries', alias: 'd' }, dialect, nameOf)
  const sets = (): string => leaseSets(dialect, 'x.leased_at', parameters.add(leaseMs), parameters.add(fence))
  const text = dialect.updatesFrom
    ? `update ${target} set ${sets()} from ${these(parameters.add(list))} where ${same}`
    : `update ${these(parameters.add(list))} straight_join ${target} on ${same} set ${sets()}`
  await queries.change(text, parameters.values)
  return rows.map(claimedRecord)
}
