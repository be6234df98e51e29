import type { Content } from '../../../model/dispatch.ts'
import type { ClaimedDelivery, ClaimRequest, Claims, DispatchStore } from '../../../ports/dispatch-store.ts'
import { isShared } from '../../engine/dispatches/stored-deliveries.ts'
import { isUnreadable, unreadable } from '../../engine/json-values.ts'
import { type ClaimQueue, queueKey, queuesOf } from '../../rules/claim-priority.ts'
import type { Expired } from '../../rules/delivery-transitions.ts'
import type { DeliveryRow, DispatchRow } from '../../rules/dispatch-rows.ts'
import { beginAttempt, claimedDelivery, takeBackAttempt } from '../../rules/dispatch-rows.ts'
import { hasComeAround, MAX_ROUNDS } from '../../rules/tenant-turns.ts'
import { retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { readStored } from '../schema/stored-json.ts'
import { abandonedLeases } from './abandoned-leases.ts'
import { type ClaimedRecord, claimDueRows, type FoundDue, sharedChannels } from './claim-statement.ts'
import { type LeaseParameters, leasedRecord } from './claim-texts.ts'
import { damagedEnder } from './damaged-deliveries.ts'
import { deliveryRow, readBegun, readState } from './delivery-states.ts'
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
  const endDamaged = damagedEnder(db)
  const forgetExpired = expiredRemover(db)

  /**
   * A leased delivery for the worker; `undefined`: it was cancelled after its last lease.
   * @throws {SallyportError} `record_unreadable`.
   */
  async function hand(
    { job: before, dispatch, state, content: record }: ClaimedRecord,
    lease: LeaseParameters,
  ): Promise<ClaimedDelivery | undefined> {
    const { delivery_id } = before
    const wasSending = before.fence !== null
    const known = readState(state)
    if (known.isDamaged) throw unreadable('states.body')
    if (!readBegun(before.begun)) throw unreadable('jobs.begun')
    const body = record?.body ?? null
    const content = body === null ? undefined : readStored<Content>('contents.body', body)
    const entry = known.entries.find(({ deliveryId }) => deliveryId === delivery_id)
    const isDigest = entry === undefined || isShared(entry)
    const digest = isDigest ? await readLeasedDigest(delivery_id, content !== undefined, db) : undefined
    const stored = isDigest ? digest?.stored : entry
    if (!stored) return undefined
    if (wasSending && stored.cancelledBy) return handUnwanted(delivery_id, lease)
    const job = leasedRecord(before, lease)
    if (!isDigest) leases.keep(dispatch, known, job)
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

  /** Claims, and ends what it leased past its expiry, or cannot read. */
  async function claimOnce(request: ClaimRequest): Promise<Claimed> {
    const fence = newFence()
    const { leased, now, nextAt, last } = await claimRounds(request, fence)
    const lease: LeaseParameters = { fence, leaseMs: request.leaseMs, now }
    const live = leased.filter(({ job }) => job.expires_at > now)
    const handed = await Promise.allSettled(live.map((one) => hand(one, lease)))
    const deliveries = handed.flatMap((one) => (one.status === 'fulfilled' && one.value ? one.value : []))
    const isPassed = (one: ClaimedRecord): boolean => one.job.expires_at <= now
    const isLost = (one: ClaimedRecord): boolean => readState(one.state).isDamaged === true
    const damaged = live.filter((_, at) => isUnreadable(reasonOf(handed[at])))
    damaged.push(...leased.filter((one) => isPassed(one) && isLost(one)))
    const failed = handed.find((one) => one.status === 'rejected' && !isUnreadable(one.reason))
    if (failed) abandoned.add(fence, request, new Set(deliveries.map(({ deliveryId }) => deliveryId)))
    if (failed && deliveries.length === 0) throw reasonOf(failed)
    const passed = leased.flatMap((one) => (isPassed(one) && !isLost(one) ? one.job.delivery_id : []))
    // Leased deliveries are handed out in any case; a later claim finds these again.
    const orNone = (cause: unknown): readonly Expired[] => {
      if (deliveries.length > 0) return []
      throw cause
    }
    const expired = await expire(passed, lease).catch(orNone)
    const unreadable = await endDamaged(damaged, lease).catch(orNone)
    return { deliveries, expired, unreadable, last, now, nextAt, isMore: passed.length + damaged.length > 0 }
  }

  return async (request) => {
    await abandoned.giveBack()
    let found = await claimOnce(request)
    // Deliveries that ended do not count towards the limits.
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
        unreadable: [...found.unreadable, ...next.unreadable],
        last: { ...found.last, ...next.last },
      }
    }
    void forgetExpired()
    const { deliveries, expired, unreadable, last, now, nextAt, isMore } = found
    const ended = { expired, ...(unreadable.length > 0 && { unreadable }) }
    const claims = { deliveries, ...ended, ...(Object.keys(last).length > 0 && { last }) }
    if (isMore) return { ...claims, nextDueInMs: 0 }
    return { ...claims, ...(nextAt < Number.POSITIVE_INFINITY && { nextDueInMs: Math.max(0, nextAt - now) }) }
  }
}

interface Claimed
  extends Required<Pick<Claims, 'deliveries' | 'expired' | 'unreadable'>>,
    Pick<FoundInRounds, 'last' | 'now' | 'nextAt'> {
  /** Some of the leased deliveries ended. */
  readonly isMore: boolean
}

function reasonOf(one: PromiseSettledResult<unknown> | undefined): unknown {
  return one?.status === 'rejected' ? one.reason : undefined
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
