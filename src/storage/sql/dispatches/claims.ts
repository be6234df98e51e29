import type { ClaimedDelivery, ClaimRequest, DispatchStore } from '../../../ports/dispatch-store.ts'
import type { DeliveryRow } from '../../rules/dispatch-rows.ts'
import { beginAttempt, claimedDelivery, takeBackAttempt } from '../../rules/dispatch-rows.ts'
import { NOW, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { lookUp } from '../connection/dialects.ts'
import { TABLES } from '../schema/tables.ts'
import { type ClaimedRecord, claimDueRows, type FoundDue } from './claim-statement.ts'
import { byWakeTime, type LeaseParameters, leasedRecord } from './claim-texts.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { deliveryExpirer, expiredRemover, type FoundExpired } from './expiry.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'
import type { ClaimLook, LowWaterMarks } from './low-water-marks.ts'
import { type LeaseCache, tokenFor } from './settlements.ts'

const NONE_EXPIRED: FoundExpired = { expired: [], isMore: false }

/** What claims share with the rest of the store. */
export interface ClaimParts {
  readonly leases: LeaseCache
  readonly marks: LowWaterMarks
  readonly settle: DispatchStore['settle']
  /** A new fencing token for every claim of every process. */
  readonly newFence: () => string
}

/**
 * Claims due deliveries. If the database is slow or fails after it leased some, the next claim gives them back; at the latest they are
 * due again when their lease ends.
 */
export function claims(db: Database, { leases, marks, settle, newFence }: ClaimParts): DispatchStore['claim'] {
  const abandoned = abandonedLeases(db, settle)
  const expire = deliveryExpirer(db)
  const forgetExpired = expiredRemover(db)

  /** A leased delivery for the worker; `undefined`: it was to be cancelled after its last lease. */
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
    // Without the content, which is never written again.
    leases.keep({ dispatch, delivery: { ...record, content: null } })
    return claimedDelivery(delivery, tokenFor(record.delivery_id, lease.fence), lease.now, wasSending)
  }

  /** A leased delivery that several dispatches may share: it is read with all of them. */
  function handWhole(
    deliveryId: string,
    { wasSending, isUnwanted }: { readonly wasSending: boolean; readonly isUnwanted: boolean },
    { fence, leaseMs, now }: LeaseParameters,
  ): Promise<ClaimedDelivery | undefined> {
    return retryOnConflict(async () => {
      const work = new DispatchUnitOfWork(now)
      await loadDispatches(await loadOwners([deliveryId], db), 'heads', db, work)
      const delivery = work.delivery(deliveryId)
      if (delivery?.fence !== fence) return undefined
      if (isUnwanted) {
        // Its last lease ended without a settlement: cancel what was to be cancelled, and do not count this attempt.
        takeBackAttempt(delivery)
        work.moves.queue(delivery, now)
        if (isQueued(delivery)) {
          work.moves.lease(delivery, fence, now + leaseMs)
          beginAttempt(delivery, now)
        }
        await work.write(db)
      }
      if (delivery.fence !== fence) return undefined
      return claimedDelivery(delivery, tokenFor(deliveryId, fence), now, wasSending)
    })
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
      // The database may still do it.
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
    const work = new DispatchUnitOfWork(now)
    const handed = await Promise.allSettled(leased.map((one) => hand(one, lease, work)))
    const deliveries = handed.flatMap((one) => (one.status === 'fulfilled' && one.value ? one.value : []))
    const failed = handed.find((one) => one.status === 'rejected')
    if (failed) abandoned.add(fence, request, new Set(deliveries.map(({ deliveryId }) => deliveryId)))
    if (failed && deliveries.length === 0) throw failed.reason
    const { expired, isMore } = !isExpired
      ? NONE_EXPIRED
      : await expire(now, look.expiring).catch((cause: unknown) => {
          // Leased deliveries are handed out in any case; the next claim finds the expired ones again.
          if (deliveries.length > 0) return NONE_EXPIRED
          throw cause
        })
    void forgetExpired()
    if (isMore) return { deliveries, expired, nextDueInMs: 0 }
    return { deliveries, expired, ...(nextAt < Number.POSITIVE_INFINITY && { nextDueInMs: Math.max(0, nextAt - now) }) }
  }
}

/** A function, so that TypeScript forgets the status from before the call. */
function isQueued({ status }: DeliveryRow): boolean {
  return status === 'queued'
}

/** Leases of claims that failed or were late: no worker has them, and they count as no attempt. */
interface AbandonedLeases {
  /** @param handed The deliveries of that fence that were handed out. */
  add(fence: string, request: ClaimRequest, handed?: ReadonlySet<string>): void
  /** Makes their deliveries due again. The database may still do a late claim, so this looks once a second until the leases end. */
  giveBack(): Promise<void>
}

interface Abandoned {
  readonly fence: string
  readonly channels: readonly string[]
  readonly leaseMs: number
  readonly handed: ReadonlySet<string>
  /** When its leases have ended. */
  readonly until: number
}

/** The pause between two looks: after a long outage there are many, and not every claim pays for them. */
const REST_MS = 1_000

function abandonedLeases(db: Database, settle: DispatchStore['settle']): AbandonedLeases {
  let abandoned: Abandoned[] = []
  let restUntil = Number.NEGATIVE_INFINITY
  const { dialect, nameOf } = db
  const { channel, fence } = TABLES.deliveries.columns
  const channels = dialect.rows(dialect.parameter(1), { channel }, 'c')
  const fences = dialect.rows(dialect.parameter(3), { fence }, 'f')
  const { index, at, condition } = byWakeTime('sending', dialect, nameOf)
  const on = `d.channel = c.channel and ${condition} and ${at} > ${NOW} and ${at} <= ${NOW} + ${dialect.parameter(2)}`
  const leased = lookUp({ table: 'deliveries', alias: 'd', on, index }, dialect, nameOf)
  const text = `select d.delivery_id, d.fence from ${channels} ${leased} where d.fence in (select f.fence from ${fences})`

  return {
    add(fence, { limits, leaseMs }, handed = new Set()) {
      const until = db.askedAt() + leaseMs
      abandoned.push({ fence, channels: Object.keys(limits), leaseMs, handed, until })
      restUntil = Number.NEGATIVE_INFINITY
    },
    async giveBack() {
      const now = db.askedAt()
      if (abandoned.length === 0 || now < restUntil) return
      const channels = [...new Set(abandoned.flatMap((one) => one.channels))].map((channel) => ({ channel }))
      const longestMs = Math.max(...abandoned.map(({ leaseMs }) => leaseMs))
      const fences = abandoned.map(({ fence }) => ({ fence }))
      const found = await db.query<{ readonly delivery_id: string; readonly fence: string }>(text, [
        JSON.stringify(channels),
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
