import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import type { Lease } from '../../engine/dispatches/leased-job.ts'
import type { ClaimedJob } from '../../engine/records.ts'
import { type ClaimQueue, queueKey, queuesOf } from '../../rules/claim-priority.ts'
import type { Database, Queries } from '../connection/database.ts'
import { NOW } from '../connection/database.ts'
import { functionName } from '../connection/database-functions.ts'
import { lookUp, Parameters, tableAlong } from '../dialects/dialects.ts'
import { columnsOf, type Row, recordFrom } from '../tables/record-columns.ts'
import { type ColumnType, TABLES } from '../tables/tables.ts'
import {
  CLAIMED,
  type ClaimSummary,
  claimedColumns,
  dueText,
  leaseSets,
  readSummary,
  type SummaryRow,
  summaryOfRows,
  summaryText,
} from './claim-texts.ts'
import type { ClaimScan, SeenEntries } from './low-water-marks.ts'
import type { SeenTenant, TenantRange } from './tenant-marks.ts'
import { type SeenRow, seenTenant, seenText, shareText, turnsOf } from './turn-texts.ts'

export interface FoundDue extends ClaimSummary, Pick<SeenEntries, 'ranges' | 'tenants'> {
  readonly leased: readonly ClaimedJob[]
}

/**
 * Leases due deliveries by the database's clock: the oldest urgent ones, then the oldest normal ones. If there are more of a priority than
 * its channel's limit has left, those of the next tenants come first. Skips locked rows. One statement with functions, else one transaction.
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

/** Searches for tenants in queues whose last scan added some. A claim alone finds only one between two known ones. */
async function discoverTenants({ limits, after = {} }: ClaimRequest, scan: ClaimScan, db: Database): Promise<void> {
  for (const [channel, limit] of Object.entries(limits)) {
    const unsettled = (): readonly ClaimQueue[] => queuesOf([channel]).filter((queue) => !scan.isSettled(queue))
    for (let scans = 0; limit > 0 && scans < MAX_SCANS && unsettled().length > 0; scans++) {
      const ranges = unsettled().flatMap((queue) => scan.ranges(queue, after[queueKey(queue)] ?? ''))
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

const PARTS = CLAIMED.map(({ table, prefix }) => {
  const columns = columnsOf(table)
  return { columns, from: columns.map(({ name }) => prefix + name) }
})

function claimedJob(row: Row): ClaimedJob {
  const [job, dispatch, state, content] = PARTS.map(({ columns, from }) => recordFrom(columns, from, row))
  return { job, dispatch, state, content: row.c_delivery_id === null ? undefined : content } as unknown as ClaimedJob
}

async function claimAtOnce(
  { limits, busy, leaseMs, after = {}, full = [] }: ClaimRequest,
  fence: string,
  scan: ClaimScan,
  db: Database,
): Promise<FoundDue> {
  const isShared = sharedChannels({ full })
  const channels = Object.entries(limits).map(([channel, amount]) => {
    const [urgent_since, since] = queuesOf([channel]).map((queue) => scan.from(queue).since)
    return { channel, amount, urgent_since, since, is_shared: isShared.has(channel) }
  })
  const ranges = queuesOf(Object.keys(limits)).flatMap((queue) => scan.ranges(queue, after[queueKey(queue)] ?? ''))
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
  const leased = rows.filter((row) => row.summary === null).map(claimedJob)
  // Without turns the only text is the summary.
  if (summary === undefined) return { leased, ...readSummary(turns), ranges: [], tenants: [] }
  const tenants: readonly SeenTenant[] = JSON.parse(String(turns))
  const isSeen = new Set(tenants.map(queueKey))
  return { leased, ...readSummary(summary), ranges: ranges.filter((range) => isSeen.has(queueKey(range))), tenants }
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

/**
 * Locks the due deliveries of each channel: the urgent ones first, the oldest first. If more are due than its limit, the tenants share what
 * the limit has left for the priority of the last ones.
 */
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
    const last = oldest.at(-1)
    const queues = queuesOf([channel]).filter(({ priority }) => !last || priority === Number(last.priority))
    const own = queues.flatMap((queue) => scan.ranges(queue, request.after?.[queueKey(queue)] ?? ''))
    const { text, values } = seenText(own, db.dialect, db.nameOf)
    const rows = await queries.query<SeenRow>(text, values)
    ranges.push(...own)
    tenants.push(...rows.map((row) => seenTenant(channel, row)))
    const turns = { ranges, tenants, at: Number(rows[0]?.seen_at) }
    let left = request.limits[channel] ?? 0
    const take = (some: readonly Due[]): void => {
      const taken = some.slice(0, left)
      left -= taken.length
      due.push(...taken)
    }
    for (const queue of queues) {
      take(oldest.filter(({ priority }) => Number(priority) < queue.priority))
      const mine = await lockShares(queue, left, request, turns, oldest, db, queries)
      take(mine)
      const isMine = new Set(mine.map(({ delivery_id }) => delivery_id))
      take(oldest.filter((one) => Number(one.priority) === queue.priority && !isMine.has(one.delivery_id)))
    }
  }
  return { due, ranges, tenants }
}

async function lockShares(
  queue: ClaimQueue,
  limit: number,
  request: ClaimRequest,
  { ranges, tenants, at }: Omit<Locked, 'due'> & { readonly at: number },
  oldest: readonly Due[],
  { dialect, nameOf }: Database,
  queries: Queries,
): Promise<readonly Due[]> {
  const { shares, visited } = turnsOf(queue, limit, request, ranges, tenants, at)
  const own = oldest.filter(({ priority }) => Number(priority) === queue.priority)
  const isOneTenant = shares.length === 1 && own.length > 0 && own.every((one) => one.tenant === shares[0]?.tenant)
  const mine: Due[] = []
  for (const share of isOneTenant ? [] : shares) {
    const since = visited.find(({ tenant }) => tenant === share.tenant)?.firstAt ?? 0
    const { text, values } = shareText({ ...queue, ...share }, since, request, dialect, nameOf)
    mine.push(...(await queries.query<Due>(text, values)))
  }
  return mine
}

interface Due {
  readonly tenant: string
  readonly priority: unknown
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
  const { text, values } = dueText(channel, limit, request, scan, dialect, nameOf)
  return queries.query<Due>(text, values)
}

const INSTANT: ColumnType = { kind: 'integer' }

async function leaseThese(
  due: readonly Due[],
  { fence, leaseMs, now }: Lease,
  { dialect, nameOf }: Database,
  queries: Queries,
): Promise<readonly ClaimedJob[]> {
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
  return rows.map(claimedJob)
}
