import type { ClaimedDelivery, ClaimRequest, Claims, DispatchStore } from '../../../ports/dispatch-store.ts'
import type { Expired } from '../../rules/delivery-transitions.ts'
import {
  beginAttempt,
  claimedDelivery,
  type DeliveryRow,
  type DispatchRow,
  takeBackAttempt,
} from '../../rules/dispatch-rows.ts'
import { MAX_ROUNDS } from '../../rules/tenant-turns.ts'
import { retryOnConflict } from '../changes.ts'
import { isUnreadable, readable, Unreadable, unreadable } from '../json-values.ts'
import type { ClaimedJob, ClaimedJobs, Records } from '../records.ts'
import { abandonedLeases } from './abandoned-leases.ts'
import { claimByScans } from './claim-by-scans.ts'
import { damagedEnder } from './damaged-deliveries.ts'
import { deliveryRow, readState } from './delivery-states.ts'
import { headOf } from './dispatch-records.ts'
import { deliveryExpirer, expiredRemover } from './expiry.ts'
import { type LeaseCache, tokenFor } from './lease-cache.ts'
import { readLeasedDigest } from './leased-digest.ts'
import { type Lease, leasedJob } from './leased-job.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'
import { isShared } from './stored-deliveries.ts'
import { DispatchUnitOfWork } from './unit-of-work.ts'

/** Claims, and ends what a claim finds past its expiry, or cannot read. */
export function claims(records: Records, leases: LeaseCache, settle: DispatchStore['settle']): DispatchStore['claim'] {
  const claim = records.claim?.bind(records) ?? claimByScans(records)
  const abandoned = abandonedLeases(records, settle)
  const expire = deliveryExpirer(records)
  const endDamaged = damagedEnder(records)
  const forgetExpired = expiredRemover(records)

  /**
   * A leased delivery for the worker; `undefined`: it was cancelled after its last lease.
   * @throws {SallyportError} `record_unreadable`.
   */
  async function hand(
    { job: before, dispatch, state, content: record }: ClaimedJob,
    lease: Lease,
  ): Promise<ClaimedDelivery | undefined> {
    const { delivery_id } = before
    const wasSending = before.fence !== null
    const known = readState(state)
    if (known.isDamaged) throw unreadable('states.body')
    if (before.begun instanceof Unreadable) throw unreadable('jobs.begun')
    const body = record?.body ?? null
    const content = body === null ? undefined : readable(body)
    const entry = known.entries.find(({ deliveryId }) => deliveryId === delivery_id)
    const isDigest = entry === undefined || isShared(entry)
    const digest = isDigest ? await readLeasedDigest(delivery_id, content !== undefined, records) : undefined
    const stored = isDigest ? digest?.stored : entry
    if (!stored) return undefined
    if (wasSending && stored.cancelledBy) return handUnwanted(delivery_id, lease)
    const job = leasedJob(before, lease)
    if (!isDigest) leases.keep(dispatch, known, job)
    const row: DispatchRow = { head: headOf(dispatch), sequence: 0, deliveries: [], plan: undefined }
    const parts = { dispatch: row, job, content, events: digest?.events, dispatchOf: () => undefined }
    return claimedDelivery(deliveryRow(stored, parts), tokenFor(delivery_id, lease.fence), lease.now, wasSending)
  }

  /** Its last lease ended while a cancellation was requested: cancels it, or hands what is left of a digest. */
  function handUnwanted(deliveryId: string, { fence, leaseMs, now }: Lease): Promise<ClaimedDelivery | undefined> {
    return retryOnConflict(async () => {
      const work = new DispatchUnitOfWork(now)
      await loadDispatches(await loadOwners([deliveryId], records), records, work)
      const delivery = work.delivery(deliveryId)
      if (delivery?.fence !== fence) return undefined
      // This attempt does not count if it is cancelled.
      takeBackAttempt(delivery)
      work.moves.queue(delivery, now)
      if (isQueued(delivery)) {
        work.moves.lease(delivery, fence, now + leaseMs)
        beginAttempt(delivery, now)
      }
      await work.write(records)
      return delivery.fence === fence ? claimedDelivery(delivery, tokenFor(deliveryId, fence), now, true) : undefined
    })
  }

  async function claimJobs(request: ClaimRequest, fence: string): Promise<ClaimedJobs> {
    try {
      return await claim(request, fence)
    } catch (cause) {
      // The records may still complete the claim.
      const now = await Promise.resolve(records.now()).catch(() => undefined)
      if (now) abandoned.add(fence, request, now.earliest)
      throw cause
    }
  }

  async function claimOnce(request: ClaimRequest): Promise<Claimed> {
    const fence = newFence()
    const { leased, now, nextAt, last } = await claimJobs(request, fence)
    const lease: Lease = { fence, leaseMs: request.leaseMs, now }
    const live = leased.filter(({ job }) => job.expires_at > now)
    const handed = await Promise.allSettled(live.map((one) => hand(one, lease)))
    const deliveries = handed.flatMap((one) => (one.status === 'fulfilled' && one.value ? one.value : []))
    const isPassed = ({ job }: ClaimedJob): boolean => job.expires_at <= now
    const isLost = ({ state }: ClaimedJob): boolean => readState(state).isDamaged === true
    const damaged = live.filter((_, at) => isUnreadable(reasonOf(handed[at])))
    damaged.push(...leased.filter((one) => isPassed(one) && isLost(one)))
    const failed = handed.find((one) => one.status === 'rejected' && !isUnreadable(one.reason))
    if (failed) abandoned.add(fence, request, now, new Set(deliveries.map(({ deliveryId }) => deliveryId)))
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
    Pick<ClaimedJobs, 'last' | 'now' | 'nextAt'> {
  /** Some of the leased deliveries ended. */
  readonly isMore: boolean
}

/** A new fencing token for every claim of every process. */
function newFence(): string {
  return crypto.randomUUID().replaceAll('-', '')
}

function reasonOf(one: PromiseSettledResult<unknown> | undefined): unknown {
  return one?.status === 'rejected' ? one.reason : undefined
}

function leftOf(limits: ClaimRequest['limits'], taken: readonly ClaimedDelivery[]): ClaimRequest['limits'] {
  const left = { ...limits }
  for (const { channel } of taken) left[channel] = (left[channel] ?? 0) - 1
  return left
}

/** A function, because TypeScript would keep the narrowed status from before the call. */
function isQueued({ status }: DeliveryRow): boolean {
  return status === 'queued'
}
