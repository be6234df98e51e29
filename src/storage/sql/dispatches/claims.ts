import type { ClaimedDelivery, ClaimRequest, Claims, DispatchStore } from '../../../ports/dispatch-store.ts'
import { type ClaimQueue, queueKey, queuesOf } from '../../rules/claim-priority.ts'
import type { DeliveryRow, DispatchRow } from '../../rules/dispatch-rows.ts'
import { beginAttempt, claimedDelivery, takeBackAttempt } from '../../rules/dispatch-rows.ts'
import { hasComeAround, MAX_ROUNDS } from '../../rules/tenant-turns.ts'
import { NOW, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { lookUp } from '../connection/dialects.ts'
import { TABLES } from '../schema/tables.ts'
import { type ClaimedRecord, claimDueRows, type FoundDue, sharedChannels } from './claim-statement.ts'
import { type LeaseParameters, leasedRecord } from './claim-texts.ts'
import { deliveryRow, isShared, readContent, readStates } from './delivery-states.ts'
import { headOf } from './dispatch-records.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { deliveryExpirer, expiredRemover } from './expiry.ts'
import { readLeasedDigest } from './load-digests.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'
import type { LowWaterMarks } from './low-water-marks.ts'
import { type LeaseCache, tokenFor } from './settlements.ts'
import type { SeenTenant } from './tenant-marks.ts'
import { nextText, turnsOf } from './turn-texts.ts'

interface FoundInRounds extends Pick<FoundDue, 'leased' | 'now' | 'nextAt'>, Pick<FoundTurns, 'last'> {}

export interface ClaimParts {
  readonly leases: LeaseCache
  readonly marks: LowWaterMarks
  readonly settle: DispatchStore['settle']
  /** A new fencing token for every claim of every process. */
  readonly newFence: () => string
}

/**
 * If the database fails after it leased deliveries, the next claim makes them due again. Otherwise they are due when their lease ends.
 */
export function claims(db: Database, { leases, marks, settle, newFence }: ClaimParts): DispatchStore['claim'] {
  const abandoned = abandonedLeases(db, settle)
  const expire = deliveryExpirer(db)
  const forgetExpired = expiredRemover(db)

  /** A leased delivery for the worker; `undefined`: it was cancelled after its last lease. */
  async function hand(
    { job: before, dispatch, state, content: record }: ClaimedRecord,
    lease: LeaseParameters,
  ): Promise<ClaimedDelivery | undefined> {
    const { delivery_id } = before
    const wasSending = before.fence !== null
    const entries = readStates(state.body)
    const content = readContent(record)
    const entry = entries.find(({ deliveryId }) => deliveryId === delivery_id)
    const isDigest = entry === undefined || isShared(entry)
    const digest = isDigest ? await readLeasedDigest(delivery_id, content !== undefined, db) : undefined
    const stored = isDigest ? digest?.stored : entry
    if (!stored) return undefined
    if (wasSending && stored.cancelledBy) return handUnwanted(delivery_id, lease)
    const job = leasedRecord(before, lease)
    if (!isDigest) leases.keep(dispatch, { record: state, entries }, job)
    const row: DispatchRow = { head: headOf(dispatch), sequence: 0, deliveries: [], plan: undefined }
    const parts = { dispatch: row, job, content, events: digest?.events, dispatchOf: () => undefined }
    return claimedDelivery(deliveryRow(stored, parts), tokenFor(delivery_id, lease.fence), lease.now, wasSending)
  }

  /** Its last lease ended while a cancellation was requested: cancels it, or hands what is left of a digest. */
  function handUnwanted(
    deliveryId: string,
    { fence, leaseMs, now }: LeaseParameters,
  ): Promise<ClaimedDelivery | undefined> {
    return retryOnConflict(async () => {
      const work = new DispatchUnitOfWork(now)
      await loadDispatches(await loadOwners([deliveryId], db), db, work)
      const delivery = work.delivery(deliveryId)
      if (delivery?.fence !== fence) return undefined
      // This attempt does not count if it is cancelled.
      takeBackAttempt(delivery)
      work.moves.queue(delivery, now)
      if (isQueued(delivery)) {
        work.moves.lease(delivery, fence, now + leaseMs)
        beginAttempt(delivery, now)
      }
      await work.write(db)
      return delivery.fence === fence ? claimedDelivery(delivery, tokenFor(deliveryId, fence), now, true) : undefined
    })
  }

  async function claimFrom(request: ClaimRequest, fence: string): Promise<FoundDue> {
    let scan = marks.begin()
    try {
      const found = await retryOnConflict(() => {
        scan = marks.begin()
        return claimDueRows(request, fence, scan, db)
      })
      return { ...found, nextAt: Math.min(found.nextAt, marks.learn(scan, found)) }
    } catch (cause) {
      // The database may still complete the claim.
      abandoned.add(fence, request)
      const now = await db.sync().then(db.now, () => undefined)
      marks.failed(scan, queuesOf(Object.keys(request.limits)), now)
      throw cause
    }
  }

  /** Claims. While nothing is due for the visited tenants of shared channels, the next ones have their turn. */
  async function claimRounds(request: ClaimRequest, fence: string): Promise<FoundInRounds> {
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
    // The claim has leased deliveries; without this instant, the next poll finds more.
    const rows = await db.scan<{ readonly wake_at: unknown }>(text, values).catch(() => [])
    return Math.min(...rows.map(({ wake_at }) => Number(wake_at)), Number.POSITIVE_INFINITY)
  }

  /** Claims, and ends the deliveries past their expiry that it leased. */
  async function claimOnce(request: ClaimRequest): Promise<Claimed> {
    const fence = newFence()
    const { leased, now, nextAt, last } = await claimRounds(request, fence)
    const lease: LeaseParameters = { fence, leaseMs: request.leaseMs, now }
    const live = leased.filter(({ job }) => job.expires_at > now)
    const handed = await Promise.allSettled(live.map((one) => hand(one, lease)))
    const deliveries = handed.flatMap((one) => (one.status === 'fulfilled' && one.value ? one.value : []))
    const failed = handed.find((one) => one.status === 'rejected')
    if (failed) abandoned.add(fence, request, new Set(deliveries.map(({ deliveryId }) => deliveryId)))
    if (failed && deliveries.length === 0) throw failed.reason
    const passed = leased.flatMap(({ job }) => (job.expires_at > now ? [] : job.delivery_id))
    const expired = await expire(passed, lease).catch((cause: unknown) => {
      // Hand out leased deliveries in any case; a later claim finds the expired ones again.
      if (deliveries.length > 0) return []
      throw cause
    })
    return { deliveries, expired, last, now, nextAt, isMore: passed.length > 0 }
  }

  return async (request) => {
    await abandoned.giveBack()
    let found = await claimOnce(request)
    // Deliveries past their expiry do not count towards the limits.
    for (let rounds = 1; found.isMore && rounds < MAX_ROUNDS; rounds++) {
      const limits = leftOf(request.limits, found.deliveries)
      const next = await claimOnce({ ...request, limits, after: { ...request.after, ...found.last } }).catch(
        () => undefined,
      )
      if (!next) break
      found = {
        ...next,
        deliveries: [...found.deliveries, ...next.deliveries],
        expired: [...found.expired, ...next.expired],
        last: { ...found.last, ...next.last },
      }
    }
    void forgetExpired()
    const { deliveries, expired, last, now, nextAt, isMore } = found
    const claims = { deliveries, expired, ...(Object.keys(last).length > 0 && { last }) }
    if (isMore) return { ...claims, nextDueInMs: 0 }
    return { ...claims, ...(nextAt < Number.POSITIVE_INFINITY && { nextDueInMs: Math.max(0, nextAt - now) }) }
  }
}

interface Claimed extends Pick<Claims, 'deliveries' | 'expired'>, Pick<FoundInRounds, 'last' | 'now' | 'nextAt'> {
  /** Some of the leased deliveries were past their expiry. */
  readonly isMore: boolean
}

function leftOf(limits: ClaimRequest['limits'], taken: readonly ClaimedDelivery[]): ClaimRequest['limits'] {
  const left = { ...limits }
  for (const { channel } of taken) left[channel] = (left[channel] ?? 0) - 1
  return left
}

/** Turns of the tenants that a claim visited. */
interface FoundTurns {
  /** Where the next claim begins in each queue with turns, by its `queueKey`. */
  readonly last: Readonly<Record<string, string>>
  /** Queues of shared channels in which nothing was leased, but tenants after the visited ones may have due deliveries. */
  readonly cut: readonly ClaimQueue[]
  /** When a shared channel may have more: the summary has no instant for it. */
  readonly nextAt: number
  /** Tenants of shared channels with due deliveries of which none could be leased, because of busy receivers or other claims. */
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

/** A function, because TypeScript would keep the narrowed status from before the call. */
function isQueued({ status }: DeliveryRow): boolean {
  return status === 'queued'
}

/** Leases of failed or late claims: no worker has them, and they do not count as attempts. */
interface AbandonedLeases {
  /** @param handed Deliveries of that fence that were handed out. */
  add(fence: string, request: ClaimRequest, handed?: ReadonlySet<string>): void
  /** Makes their deliveries due again. Looks once a second until the leases end, because the database may complete a late claim. */
  giveBack(): Promise<void>
}

interface Abandoned {
  readonly fence: string
  readonly channels: readonly string[]
  readonly leaseMs: number
  readonly handed: ReadonlySet<string>
  readonly until: number
}

/** Pause between two scans: after a long outage there are many, and not every claim should pay for them. */
const REST_MS = 1_000

function abandonedLeases(db: Database, settle: DispatchStore['settle']): AbandonedLeases {
  let abandoned: Abandoned[] = []
  let restUntil = Number.NEGATIVE_INFINITY
  const { dialect, nameOf } = db
  const { channel, priority, fence } = TABLES.jobs.columns
  const queues = dialect.rows(dialect.parameter(1), { channel, priority }, 'c')
  const fences = dialect.rows(dialect.parameter(3), { fence }, 'f')
  const on = `d.channel = c.channel and d.priority = c.priority and d.wake_at > ${NOW} and d.wake_at <= ${NOW} + ${dialect.parameter(2)}`
  const leased = lookUp({ table: 'jobs', alias: 'd', on, index: 'due' }, dialect, nameOf)
  const text = `select d.delivery_id, d.fence from ${queues} ${leased} where d.fence in (select f.fence from ${fences})`

  return {
    add(fence, { limits, leaseMs }, handed = new Set()) {
      const until = db.askedAt() + leaseMs
      abandoned.push({ fence, channels: Object.keys(limits), leaseMs, handed, until })
      restUntil = Number.NEGATIVE_INFINITY
    },
    async giveBack() {
      const now = db.askedAt()
      if (abandoned.length === 0 || now < restUntil) return
      const queues = queuesOf([...new Set(abandoned.flatMap((one) => one.channels))])
      const longestMs = Math.max(...abandoned.map(({ leaseMs }) => leaseMs))
      const fences = abandoned.map(({ fence }) => ({ fence }))
      const found = await db.query<{ readonly delivery_id: string; readonly fence: string }>(text, [
        JSON.stringify(queues),
        longestMs,
        JSON.stringify(fences),
      ])
      const handed = new Set(abandoned.flatMap((one) => [...one.handed]))
      const left = found.filter((row) => !handed.has(row.delivery_id))
      await Promise.all(
        left.map(({ delivery_id: deliveryId, fence }) =>
          settle({ deliveryId, fence: tokenFor(deliveryId, fence), to: 'queued', delayMs: 0 }),
        ),
      )
      abandoned = abandoned.filter(({ until }) => until > now)
      restUntil = now + REST_MS
    },
  }
}
