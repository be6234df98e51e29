import { MAX_TENANTS_VISITED } from '../../../model/tenant-turns.ts'
import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import { retryOnConflict } from '../../engine/changes.ts'
import type { Lease } from '../../engine/dispatches/leased-job.ts'
import type { ClaimedJob, ClaimedJobs, Records } from '../../engine/records.ts'
import { type ClaimQueue, queueKey, queuesOf } from '../../rules/claim-priority.ts'
import { hasComeAround, MAX_ROUNDS, shareTurns, type Turns } from '../../rules/tenant-turns.ts'
import type { Database, Queries } from '../connection/database.ts'
import { NOW } from '../connection/database.ts'
import { functionName } from '../connection/database-functions.ts'
import { lookUp, Parameters, tableAlong } from '../dialects/statements.ts'
import { columnsOf, type Row, recordFrom } from '../tables/record-columns.ts'
import { type ColumnType, TABLES } from '../tables/tables.ts'
import {
  CLAIMED,
  type ClaimSummary,
  claimedColumns,
  type DueRow,
  dueText,
  leaseSets,
  nextText,
  readSummary,
  type SeenRow,
  type SummaryRow,
  seenTenant,
  seenText,
  shareText,
  summaryOfRows,
  summaryText,
} from './claim-text.ts'
import { type ClaimScan, lowWaterMarks, type SeenEntries } from './low-water-marks.ts'
import type { SeenTenant, TenantRange } from './tenant-marks.ts'

/** Leases due jobs: in one statement on PostgreSQL, else in one transaction. Keeps low-water marks of the index that claims read. */
export function jobClaimer(db: Database): NonNullable<Records['claim']> {
  const marks = lowWaterMarks(db.elapsed, db.timeoutMs)

  async function claimFrom(request: ClaimRequest, fence: string): Promise<FoundDue> {
    let scan = marks.begin()
    try {
      const found = await retryOnConflict(() => {
        scan = marks.begin()
        return claimDueRows(request, fence, scan, db)
      })
      return { ...found, nextAt: Math.min(found.nextAt, marks.learn(scan, found)) }
    } catch (cause) {
      const now = await db.sync().then(db.now, () => undefined)
      marks.failed(scan, queuesOf(Object.keys(request.limits)), now)
      throw cause
    }
  }

  /** Claims. While nothing is due for the visited tenants of shared channels, the next ones have their turn. */
  async function claimRounds(request: ClaimRequest, fence: string): Promise<ClaimedJobs> {
    const { after = {} } = request
    const first = await claimFrom(request, fence)
    const turns = turnsIn(request, first)
    let found: FoundDue = first
    let { last, cut, idle } = turns
    let nextAt = Math.min(first.nextAt, turns.nextAt)
    for (let rounds = 1; rounds < MAX_ROUNDS && found.leased.length === 0 && cut.length > 0; rounds++) {
      const before = { ...after, ...last }
      const limits = Object.fromEntries(cut.map(({ channel }) => [channel, request.limits[channel] ?? 0]))
      const next = { ...request, limits, after: before }
      found = await claimFrom(next, fence)
      const more = turnsIn(next, found)
      last = { ...last, ...more.last }
      nextAt = Math.min(nextAt, found.nextAt, more.nextAt)
      idle = [...idle, ...more.idle]
      cut = more.cut.filter((queue) => {
        const key = queueKey(queue)
        return !hasComeAround(after[key] ?? '', before[key] ?? '', last[key] ?? '')
      })
    }
    const { leased, now } = found
    const isMore = cut.length > 0 || nextAt <= now
    return { leased, now, last, nextAt: isMore ? now : Math.min(nextAt, await nextOf(idle, request)) }
  }

  async function nextOf(tenants: readonly SeenTenant[], request: ClaimRequest): Promise<number> {
    if (tenants.length === 0) return Number.POSITIVE_INFINITY
    const { text, values } = nextText(tenants, request, db.dialect, db.nameOf)
    // The claim has leased jobs; without this instant, the next poll finds more.
    const rows = await db.scan<{ readonly wake_at: unknown }>(text, values).catch(() => [])
    return Math.min(...rows.map(({ wake_at }) => Number(wake_at)), Number.POSITIVE_INFINITY)
  }

  return claimRounds
}

/** Turns of the tenants that a claim visited. */
interface FoundTurns {
  /** Where the next claim begins in each queue with turns, by its `queueKey`. */
  readonly last: Readonly<Record<string, string>>
  /** Queues of shared channels in which nothing was leased, but tenants after the visited ones may have due jobs. */
  readonly cut: readonly ClaimQueue[]
  /** When a shared channel may have more: the summary has no instant for it. */
  readonly nextAt: number
  /** Tenants of shared channels with due jobs of which none could be leased, because of busy receivers or other claims. */
  readonly idle: readonly SeenTenant[]
}

function turnsIn(request: ClaimRequest, { leased, ranges, tenants, now }: FoundDue): FoundTurns {
  const last: Record<string, string> = {}
  const cut: ClaimQueue[] = []
  const idle: SeenTenant[] = []
  const isShared = sharedChannels(request)
  let nextAt = Number.POSITIVE_INFINITY
  for (const queue of queuesOf([...new Set(ranges.map((one) => one.channel))])) {
    const { channel, priority } = queue
    const own = leased.filter(({ job }) => job.channel === channel)
    const limit = (request.limits[channel] ?? 0) - own.filter(({ job }) => job.priority < priority).length
    if (limit <= 0 || !ranges.some((range) => queueKey(range) === queueKey(queue))) continue
    const turns = turnsOf(queue, limit, request, ranges, tenants, now)
    if (turns.last !== undefined) last[queueKey(queue)] = turns.last
    if (!isShared.has(channel)) continue
    if (own.length > 0) {
      nextAt = now
      continue
    }
    for (const visit of turns.visited) {
      if (visit.firstAt > now) nextAt = Math.min(nextAt, visit.firstAt)
      else idle.push(visit)
    }
    if (turns.isCut) cut.push(queue)
  }
  return { last, cut, nextAt, idle }
}

interface QueueTurns extends Turns {
  /** Tenants after `last` may have due deliveries: they were not visited, or had no turn. */
  readonly isCut: boolean
  /** The visited tenants that are not at their share. */
  readonly visited: readonly SeenTenant[]
}

/** The turns of one queue, whose tenants share `limit`. */
function turnsOf(
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

interface FoundDue extends ClaimSummary, Pick<SeenEntries, 'ranges' | 'tenants'> {
  readonly leased: readonly ClaimedJob[]
}

/**
 * Leases due deliveries by the database's clock: the oldest urgent ones, then the oldest normal ones. If there are more of a priority than
 * its channel's limit has left, those of the next tenants come first. Skips locked rows. One statement with functions, else one transaction.
 */
async function claimDueRows(request: ClaimRequest, fence: string, scan: ClaimScan, db: Database): Promise<FoundDue> {
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
function sharedChannels({ full = [] }: Pick<ClaimRequest, 'full'>): ReadonlySet<string> {
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

type Locked = Pick<FoundDue, 'ranges' | 'tenants'> & { readonly due: readonly DueRow[] }

/**
 * Locks the due deliveries of each channel: the urgent ones first, the oldest first. If more are due than its limit, the tenants share what
 * the limit has left for the priority of the last ones.
 */
async function lockAll(request: ClaimRequest, scan: ClaimScan, db: Database, queries: Queries): Promise<Locked> {
  const isShared = sharedChannels(request)
  const due: DueRow[] = []
  const contended: { readonly channel: string; readonly oldest: readonly DueRow[] }[] = []
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
    const take = (some: readonly DueRow[]): void => {
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
  oldest: readonly DueRow[],
  { dialect, nameOf }: Database,
  queries: Queries,
): Promise<readonly DueRow[]> {
  const { shares, visited } = turnsOf(queue, limit, request, ranges, tenants, at)
  const own = oldest.filter(({ priority }) => Number(priority) === queue.priority)
  const isOneTenant = shares.length === 1 && own.length > 0 && own.every((one) => one.tenant === shares[0]?.tenant)
  const mine: DueRow[] = []
  for (const share of isOneTenant ? [] : shares) {
    const since = visited.find(({ tenant }) => tenant === share.tenant)?.firstAt ?? 0
    const { text, values } = shareText({ ...queue, ...share }, since, request, dialect, nameOf)
    mine.push(...(await queries.query<DueRow>(text, values)))
  }
  return mine
}

async function lockDue(
  channel: string,
  request: ClaimRequest,
  scan: ClaimScan,
  { dialect, nameOf }: Database,
  queries: Queries,
): Promise<readonly DueRow[]> {
  const limit = request.limits[channel] ?? 0
  if (limit <= 0) return []
  const { text, values } = dueText(channel, limit, request, scan, dialect, nameOf)
  return queries.query<DueRow>(text, values)
}

const INSTANT: ColumnType = { kind: 'integer' }

async function leaseThese(
  due: readonly DueRow[],
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
