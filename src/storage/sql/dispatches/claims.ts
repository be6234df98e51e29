import type { ClaimedDelivery, ClaimRequest, DispatchStore } from '../../../ports/dispatch-store.ts'
import { type Expired, expireDelivery } from '../../rules/delivery-transitions.ts'
import { beginAttempt, claimedDelivery, type DeliveryRow, takeBackAttempt } from '../../rules/dispatch-rows.ts'
import type { Database } from '../connection/database.ts'
import { retryOnConflict } from '../connection/retry-on-conflict.ts'
import { NOW } from '../connection/statements.ts'
import { abandonedLeases } from './abandoned-leases.ts'
import { type LeaseParameters, leasedRecord } from './claim-lease.ts'
import { type ClaimedRecord, claimDueRows, type FoundDue } from './claim-statement.ts'
import { type DispatchUnitOfWork, dispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { expiredRemover } from './forget-expired.ts'
import { type LeaseCache, proofFor } from './lease-cache.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'
import type { ClaimLook, LowWaterMarks } from './low-water-marks.ts'
import { saveWork } from './save-work.ts'
import { byExpiry } from './waiting-deliveries.ts'

/** So many expired deliveries are seen to by one claim. */
const EXPIRED_AT_ONCE = 1_000
/** So many of them are written together. */
const SOME = 100

/** What a claim found to be past its expiry, and whether there is more. */
interface FoundExpired {
  readonly expired: readonly Expired[]
  readonly isMore: boolean
}

const NONE_EXPIRED: FoundExpired = { expired: [], isMore: false }

/** What claims share with the rest of the store. */
export interface ClaimParts {
  readonly memory: LeaseCache
  readonly marks: LowWaterMarks
  readonly settle: DispatchStore['settle']
  /** New for every claim of every process. */
  readonly newFence: () => string
}

/**
 * Claims. What was leased and could not be handed out, since the database was late or went away meanwhile, is given back by the
 * next claim, or else due again when its lease ends.
 */
export function claims(db: Database, { memory, marks, settle, newFence }: ClaimParts): DispatchStore['claim'] {
  const abandoned = abandonedLeases(db, settle)
  const forgetExpired = expiredRemover(db)
  const expiredText = textOfExpired(db)

  /** A delivery that is leased; `undefined`: its end was asked for while its last worker had it. */
  async function hand(
    { delivery: before, dispatch }: ClaimedRecord,
    lease: LeaseParameters,
    work: DispatchUnitOfWork,
  ): Promise<ClaimedDelivery | undefined> {
    const wasSending = before.status === 'sending'
    const isUnwanted = wasSending && before.cancelled_by !== null
    if (before.digest !== null || isUnwanted) return handWhole(before.delivery_id, { wasSending, isUnwanted }, lease)
    const record = leasedRecord(before, lease)
    work.putDispatch(dispatch, false)
    work.putDelivery(record)
    const delivery = work.delivery(record.delivery_id)
    if (!delivery) return undefined
    // Its content is never written again: it is not kept here.
    memory.keep({ dispatch, delivery: { ...record, content: null } })
    return claimedDelivery(delivery, proofFor(record.delivery_id, lease.fence), lease.now, wasSending)
  }

  /** One that several may have a part in: with all that belongs to it. It is leased already. */
  function handWhole(
    deliveryId: string,
    { wasSending, isUnwanted }: { readonly wasSending: boolean; readonly isUnwanted: boolean },
    { fence, leaseMs, now }: LeaseParameters,
  ): Promise<ClaimedDelivery | undefined> {
    return retryOnConflict(async () => {
      const work = dispatchUnitOfWork(now)
      await loadDispatches(await loadOwners([deliveryId], db), 'heads', db, work)
      const delivery = work.delivery(deliveryId)
      if (delivery?.fence !== fence) return undefined
      if (isUnwanted) {
        // Its last lease ended without a word: what was to be cancelled is, and this attempt never was.
        takeBackAttempt(delivery)
        work.moves.queue(delivery, now)
        if (isQueued(delivery)) {
          work.moves.lease(delivery, fence, now + leaseMs)
          beginAttempt(delivery, now)
        }
        await saveWork(work, db)
      }
      if (delivery.fence !== fence) return undefined
      return claimedDelivery(delivery, proofFor(deliveryId, fence), now, wasSending)
    })
  }

  async function expire(now: number, { expiring }: ClaimLook): Promise<FoundExpired> {
    const rows = await db.query<{ delivery_id: string }>(expiredText, [expiring, expiring])
    const found = rows.slice(0, EXPIRED_AT_ONCE)
    const expired: Expired[] = []
    for (let at = 0; at < found.length; at += SOME) {
      const ids = found.slice(at, at + SOME).map(({ delivery_id }) => delivery_id)
      try {
        expired.push(...(await retryOnConflict(() => expireSome(ids, now))))
      } catch (cause) {
        // What has expired is told, whatever comes of the rest: that is found again.
        if (at === 0) throw cause
        return { expired, isMore: false }
      }
    }
    return { expired, isMore: found.length >= EXPIRED_AT_ONCE }
  }

  async function expireSome(ids: readonly string[], now: number): Promise<readonly Expired[]> {
    const work = dispatchUnitOfWork(now)
    await loadDispatches(await loadOwners(ids, db), 'whole', db, work)
    const expired: Expired[] = []
    for (const id of ids) {
      const delivery = work.delivery(id)
      const isOver = delivery && delivery.slot >= 0 && delivery.wakeAt <= now && delivery.expiresAt <= now
      if (isOver) expired.push(...expireDelivery(delivery, work.moves))
    }
    await saveWork(work, db)
    return expired
  }

  /** Claims from the low-water marks on. */
  async function claimFrom(request: ClaimRequest, fence: string): Promise<FoundDue & { readonly look: ClaimLook }> {
    let look = marks.begin()
    try {
      const found = await retryOnConflict(() => {
        look = marks.begin()
        return claimDueRows(request, fence, look, db)
      })
      const leaseEnd = found.leased.length > 0 ? found.now + request.leaseMs : undefined
      const unseenAt = marks.learn(look, found, leaseEnd)
      return { ...found, nextAt: Math.min(found.nextAt, unseenAt), look }
    } catch (cause) {
      // It may be done yet.
      abandoned.add(fence, request)
      const now = await db.sync().then(db.now, () => undefined)
      marks.failed(look, Object.keys(request.limits), now)
      throw cause
    }
  }

  return async (request) => {
    await abandoned.giveBack()
    const fence = newFence()
    const { leased, now, nextAt, isExpired, look } = await claimFrom(request, fence)
    const lease: LeaseParameters = { fence, leaseMs: request.leaseMs, now }
    const work = dispatchUnitOfWork(now)
    const handed = await Promise.allSettled(leased.map((one) => hand(one, lease, work)))
    const deliveries = handed.flatMap((one) => (one.status === 'fulfilled' && one.value ? one.value : []))
    const failed = handed.find((one) => one.status === 'rejected')
    if (failed) abandoned.add(fence, request, new Set(deliveries.map(({ deliveryId }) => deliveryId)))
    if (failed && deliveries.length === 0) throw failed.reason
    const { expired, isMore } = isExpired ? await expire(now, look).catch(unless(deliveries.length > 0)) : NONE_EXPIRED
    void forgetExpired()
    if (isMore) return { deliveries, expired, nextDueInMs: 0 }
    return { deliveries, expired, ...(nextAt < Number.POSITIVE_INFINITY && { nextDueInMs: Math.max(0, nextAt - now) }) }
  }
}

/** The deliveries that are past their expiry and under no lease, from some instant on. */
function textOfExpired({ dialect, nameOf }: Database): string {
  const [first, second] = (['queued', 'sending'] as const).map((status, number) => {
    const { table, at, condition } = byExpiry(status, dialect, nameOf)
    return `select d.delivery_id from ${table}
      where ${condition} and ${at} >= ${dialect.parameter(number + 1)} and ${at} <= ${NOW} and d.wake_at <= ${NOW}
      order by ${at} desc limit ${EXPIRED_AT_ONCE}`
  })
  return `select q.delivery_id from (${first}) q union all select l.delivery_id from (${second}) l`
}

/** What is leased is handed out, whatever comes of the rest: that is found again. */
function unless(isHandedOut: boolean): (cause: unknown) => FoundExpired {
  return (cause) => {
    if (isHandedOut) return NONE_EXPIRED
    throw cause
  }
}

/** A function of its own: what a delivery was before is not what it has become. */
function isQueued({ status }: DeliveryRow): boolean {
  return status === 'queued'
}
