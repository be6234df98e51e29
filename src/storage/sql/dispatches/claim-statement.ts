import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import { NOW } from '../connection/changes.ts'
import type { Database, Queries } from '../connection/database.ts'
import { lookUp, Parameters, readRecord, tableAlong } from '../connection/dialects.ts'
import type { Column } from '../schema/columns.ts'
import { functionName } from '../schema/functions.ts'
import type { ContentRecord, DispatchRecord, JobRecord, StateRecord } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import {
  byWakeTime,
  type ClaimSummary,
  claimedColumns,
  type LeaseParameters,
  leaseSets,
  notBusy,
  OF_QUEUE,
  readSummary,
  type SummaryRow,
  summaryOfRows,
  summaryText,
} from './claim-texts.ts'
import type { ClaimScan, SeenEntries } from './low-water-marks.ts'
import type { SeenTenant, TenantRange } from './tenant-marks.ts'
import { type SeenRow, seenTenant, seenText, shareText, turnsOf } from './turn-texts.ts'

export interface ClaimedRecord {
  /** The job before the claim. */
  readonly job: JobRecord
  readonly dispatch: DispatchRecord
  readonly state: StateRecord
  /** Absent: a digest that is not rendered. */
  readonly content: ContentRecord | undefined
}

export interface FoundDue extends ClaimSummary, Pick<SeenEntries, 'ranges' | 'tenants'> {
  readonly leased: readonly ClaimedRecord[]
}

/**
 * Leases due deliveries by the database's clock: the oldest ones, and if there are more than a channel's limit, those of the next tenants
 * first. Skips locked rows. One statement with functions, else one transaction.
 */
export async function claimDueRows(
  request: ClaimRequest,
  fence: string,
  scan: ClaimScan,
  db: Database,
): Promise<FoundDue> {
  await discoverTenants(request, scan, db)
  const askedAt = db.askedAt()
  const found = db.dialect.hasFunctions
    ? await claimAtOnce(request, fence, scan, db)
    : await db.transaction((queries) => claimInTurn(request, fence, scan, db, queries))
  db.learn(found.now, askedAt)
  return found
}

/** Each scan finds one more tenant between any two known ones. */
const MAX_SCANS = 7

/** Searches for tenants in channels whose last scan added some. A claim alone finds only one between two known ones. */
async function discoverTenants({ limits, after = {} }: ClaimRequest, scan: ClaimScan, db: Database): Promise<void> {
  for (const [channel, limit] of Object.entries(limits)) {
    for (let scans = 0; limit > 0 && scans < MAX_SCANS && !scan.isSettled(channel); scans++) {
      const ranges = scan.ranges(channel, after[channel] ?? '')
      const { text, values } = seenText(ranges, db.dialect, db.nameOf)
      // The claim finds them too, later.
      const rows = await db.scan<SeenRow>(text, values).catch(() => [])
      scan.discovered(
        ranges,
        rows.map((row) => seenTenant(channel, row)),
      )
    }
  }
}

type Row = Readonly<Record<string, unknown>>

function claimedRecord(row: Row): ClaimedRecord {
  return {
    job: readRecord('jobs', row),
    dispatch: readRecord('dispatches', row, 'h_'),
    state: readRecord('states', row, 's_'),
    content: row.c_delivery_id === null ? undefined : readRecord('contents', row, 'c_'),
  }
}

async function claimAtOnce(
  { limits, busy, leaseMs, after = {}, full = [] }: ClaimRequest,
  fence: string,
  scan: ClaimScan,
  db: Database,
): Promise<FoundDue> {
  const isShared = sharedChannels({ full })
  const channels = Object.entries(limits).map(([channel, amount]) => {
    return { channel, amount, since: scan.from(channel).since, is_shared: isShared.has(channel) }
  })
  const ranges = Object.keys(limits).flatMap((channel) => scan.ranges(channel, after[channel] ?? ''))
  const receivers = busy.map(({ concurrencyKey, ...one }) => ({ ...one, concurrency_key: concurrencyKey }))
  const parameters = [1, 2, 3, 4, 5, 6].map(db.dialect.parameter).join(', ')
  const text = `select * from ${functionName('claim', db.dialect, db.prefix)}(${parameters}, ${NOW})`
  const rows = await db.query<Row>(text, [
    JSON.stringify(channels),
    JSON.stringify(receivers),
    JSON.stringify(ranges),
    JSON.stringify(full),
    leaseMs,
    fence,
  ])
  const [turns, summary] = rows.filter((row) => row.summary !== null).map((row) => row.summary)
  const leased = rows.filter((row) => row.summary === null).map(claimedRecord)
  // Without turns the only text is the summary.
  if (summary === undefined) return { leased, ...readSummary(turns), ranges: [], tenants: [] }
  const tenants: readonly SeenTenant[] = JSON.parse(String(turns))
  const isSeen = new Set(tenants.map(({ channel }) => channel))
  return { leased, ...readSummary(summary), ranges: ranges.filter(({ channel }) => isSeen.has(channel)), tenants }
}

/** Channels in which some tenants are at their share: only the turns of the others count. */
export function sharedChannels({ full = [] }: Pick<ClaimRequest, 'full'>): ReadonlySet<string> {
  return new Set(full.map(({ channel }) => channel))
}

async function claimInTurn(
  request: ClaimRequest,
  fence: string,
  scan: ClaimScan,
  db: Database,
  queries: Queries,
): Promise<FoundDue> {
  const { text, values } = summaryText(request, scan, db.dialect, db.nameOf)
  const summarize = async (): Promise<ClaimSummary> =>
    summaryOfRows(await queries.query<SummaryRow>(text, values), request)
  const { due, ...turns } = await lockAll(request, scan, db, queries)
  if (due.length === 0) return { leased: [], ...(await summarize()), ...turns }
  // One instant for all leases, in the database and here.
  const now = Math.max(...due.map(({ found_at }) => Number(found_at)))
  const leased = await leaseThese(due, { fence, leaseMs: request.leaseMs, now }, db, queries)
  return { leased, ...(await summarize()), now, ...turns }
}

type Locked = Pick<FoundDue, 'ranges' | 'tenants'> & { readonly due: readonly Due[] }

/** Locks the oldest due deliveries of each channel, or its tenants' shares and then the oldest, if more are due than its limit. */
async function lockAll(request: ClaimRequest, scan: ClaimScan, db: Database, queries: Queries): Promise<Locked> {
  const isShared = sharedChannels(request)
  const due: Due[] = []
  const contended: { readonly channel: string; readonly oldest: readonly Due[] }[] = []
  for (const [channel, limit] of Object.entries(request.limits)) {
    const oldest = isShared.has(channel) ? [] : await lockDue(channel, request, scan, db, queries)
    if (limit > 0 && (oldest.length >= limit || isShared.has(channel))) contended.push({ channel, oldest })
    else due.push(...oldest)
  }
  const ranges: TenantRange[] = []
  const tenants: SeenTenant[] = []
  for (const { channel, oldest } of contended) {
    const limit = request.limits[channel] ?? 0
    const own = scan.ranges(channel, request.after?.[channel] ?? '')
    const { text, values } = seenText(own, db.dialect, db.nameOf)
    const rows = await queries.query<SeenRow>(text, values)
    ranges.push(...own)
    tenants.push(...rows.map((row) => seenTenant(channel, row)))
    const turns = { ranges, tenants, at: Number(rows[0]?.seen_at) }
    const mine = await lockShares(channel, request, turns, oldest, db, queries)
    const isMine = new Set(mine.map(({ delivery_id }) => delivery_id))
    due.push(...mine, ...oldest.filter(({ delivery_id }) => !isMine.has(delivery_id)).slice(0, limit - mine.length))
  }
  return { due, ranges, tenants }
}

async function lockShares(
  channel: string,
  request: ClaimRequest,
  { ranges, tenants, at }: Omit<Locked, 'due'> & { readonly at: number },
  oldest: readonly Due[],
  { dialect, nameOf }: Database,
  queries: Queries,
): Promise<readonly Due[]> {
  const { shares } = turnsOf(channel, request, ranges, tenants, at)
  const isOneTenant =
    shares.length === 1 && oldest.length > 0 && oldest.every((one) => one.tenant === shares[0]?.tenant)
  const mine: Due[] = []
  for (const share of isOneTenant ? [] : shares) {
    const since = tenants.find((one) => one.channel === channel && one.tenant === share.tenant)?.firstAt ?? 0
    const { text, values } = shareText({ channel, ...share }, since, request, dialect, nameOf)
    mine.push(...(await queries.query<Due>(text, values)))
  }
  return mine
}

interface Due {
  readonly tenant: string
  readonly delivery_id: string
  readonly wake_at: unknown
  readonly found_at: unknown
}

async function lockDue(
  channel: string,
  request: ClaimRequest,
  scan: ClaimScan,
  { dialect, nameOf }: Database,
  queries: Queries,
): Promise<readonly Due[]> {
  const limit = request.limits[channel] ?? 0
  if (limit <= 0) return []
  const parameters = new Parameters(dialect)
  const own = `d.channel = ${parameters.add(channel)} and ${OF_QUEUE} and d.wake_at >= ${parameters.add(scan.from(channel).since)}`
  const free = notBusy(channel, request, dialect, parameters)
  const text = `select d.delivery_id, d.tenant, d.wake_at, ${NOW} as found_at from ${byWakeTime(dialect, nameOf)}
    where ${own} and d.wake_at <= ${NOW} ${free} order by d.wake_at limit ${parameters.add(limit)}${dialect.skipLocked}`
  return queries.query<Due>(text, parameters.values)
}

const INSTANT: Column = { kind: 'integer' }

async function leaseThese(
  due: readonly Due[],
  { fence, leaseMs, now }: LeaseParameters,
  { dialect, nameOf }: Database,
  queries: Queries,
): Promise<readonly ClaimedRecord[]> {
  const { delivery_id } = TABLES.jobs.columns
  const list = JSON.stringify(due.map(({ delivery_id }) => ({ delivery_id, leased_at: now })))
  const these = (parameter: string): string => dialect.rows(parameter, { delivery_id, leased_at: INSTANT }, 'x')
  const same = 'd.delivery_id = x.delivery_id'
  const joins = [
    lookUp({ table: 'jobs', alias: 'd', on: same }, dialect, nameOf),
    lookUp({ table: 'dispatches', alias: 'h', on: 'h.dispatch_id = d.dispatch_id' }, dialect, nameOf),
    lookUp({ table: 'states', alias: 's', on: 's.dispatch_id = d.dispatch_id' }, dialect, nameOf),
    lookUp({ table: 'contents', alias: 'c', on: 'c.delivery_id = d.delivery_id', isLeft: true }, dialect, nameOf),
  ].join(' ')
  const found = `select ${claimedColumns('d', dialect)} from ${these(dialect.parameter(1))} ${joins}`
  const rows = await queries.query<Row>(found, [list])
  const parameters = new Parameters(dialect)
  const target = tableAlong({ table: 'jobs', alias: 'd' }, dialect, nameOf)
  const sets = (): string => leaseSets(dialect, 'x.leased_at', parameters.add(leaseMs), parameters.add(fence))
  const text = dialect.updatesFrom
    ? `update ${target} set ${sets()} from ${these(parameters.add(list))} where ${same}`
    : `update ${these(parameters.add(list))} straight_join ${target} on ${same} set ${sets()}`
  await queries.change(text, parameters.values)
  return rows.map(claimedRecord)
}
