import { type Expired, expireDelivery } from '../../rules/delivery-transitions.ts'
import { Conflict, NOW, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { tableAlong } from '../connection/dialects.ts'
import { type RemovedPart, removalParts } from '../connection/removal-parts.ts'
import { byExpiry } from './claim-texts.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'

const EXPIRED_AT_ONCE = 1_000
const WRITTEN_AT_ONCE = 100

export interface FoundExpired {
  readonly expired: readonly Expired[]
  readonly isMore: boolean
}

/** @returns A function of the time and of the instant where it starts. */
export function deliveryExpirer(db: Database): (now: number, from: number) => Promise<FoundExpired> {
  const { dialect, nameOf } = db
  const [queued, sending] = (['queued', 'sending'] as const).map((status, number) => {
    const { table, at, condition } = byExpiry(status, dialect, nameOf)
    return `select d.delivery_id from ${table}
      where ${condition} and ${at} >= ${dialect.parameter(number + 1)} and ${at} <= ${NOW} and d.wake_at <= ${NOW}
      order by ${at} desc limit ${EXPIRED_AT_ONCE}`
  })
  const text = `select q.delivery_id from (${queued}) q union all select l.delivery_id from (${sending}) l`

  async function expireSome(ids: readonly string[], now: number): Promise<readonly Expired[]> {
    const work = new DispatchUnitOfWork(now)
    await loadDispatches(await loadOwners(ids, db), 'whole', db, work)
    const expired: Expired[] = []
    for (const id of ids) {
      const delivery = work.delivery(id)
      const isOver = delivery && delivery.slot >= 0 && delivery.wakeAt <= now && delivery.expiresAt <= now
      if (isOver) expired.push(...expireDelivery(delivery, work.moves))
    }
    await work.write(db)
    return expired
  }

  return async (now, from) => {
    const rows = await db.query<{ delivery_id: string }>(text, [from, from])
    const found = rows.slice(0, EXPIRED_AT_ONCE)
    const expired: Expired[] = []
    for (let at = 0; at < found.length; at += WRITTEN_AT_ONCE) {
      const ids = found.slice(at, at + WRITTEN_AT_ONCE).map(({ delivery_id }) => delivery_id)
      try {
        expired.push(...(await retryOnConflict(() => expireSome(ids, now))))
      } catch (cause) {
        // Report the deliveries expired so far; the next claim finds the others.
        if (at === 0) throw cause
        return { expired, isMore: false }
      }
    }
    return { expired, isMore: found.length >= EXPIRED_AT_ONCE }
  }
}

const REMOVED_AT_ONCE = 500
/** Pause after a removal that found few rows. */
const REST_MS = 60_000

interface Old {
  readonly tenant: string
  readonly name: string
  readonly version: unknown
  readonly expires_at: unknown
}

const TABLES_KEPT = ['idempotency_keys', 'counters'] as const

async function remove(
  table: (typeof TABLES_KEPT)[number],
  from: number,
  limit: number,
  db: Database,
): Promise<RemovedPart> {
  const rows = tableAlong({ table, alias: 'k', index: 'expiring' }, db.dialect, db.nameOf)
  const text = `select k.tenant, k.name, k.version, k.expires_at from ${rows}
    where k.expires_at >= ${db.dialect.parameter(1)} and k.expires_at <= ${NOW} order by k.expires_at limit ${Math.trunc(limit)}`
  const old = await db.scan<Old>(text, [from])
  const changes = newChanges()
  for (const { tenant, name, version } of old) changes.remove(table, { tenant, name, version: Number(version) })
  await db.write(changes)
  return { count: old.length, until: Number(old.at(-1)?.expires_at ?? 0) }
}

/**
 * Removes expired idempotency keys and counters, at most `limit` of each. Resolves to the larger of both numbers: fewer than `limit`
 * means that none is left.
 * @throws {Conflict} If a row was removed or reused concurrently. The next call starts from the beginning.
 */
export function expiredForgetter(db: Database): (limit: number) => Promise<number> {
  const removeSome = removalParts()
  return async (limit) => {
    let most = 0
    for (const table of TABLES_KEPT)
      most = Math.max(most, await removeSome(table, limit, (from, some) => remove(table, from, some, db)))
    return most
  }
}

/** {@link expiredForgetter} in the background: at most once a minute while there are few rows. After a failure it pauses as well. */
export function expiredRemover(db: Database): () => Promise<void> {
  const forgetExpired = expiredForgetter(db)
  let restUntil = Number.NEGATIVE_INFINITY
  let isRunning = false

  return async () => {
    const now = db.askedAt()
    if (isRunning || now < restUntil) return
    isRunning = true
    try {
      if ((await forgetExpired(REMOVED_AT_ONCE)) < REMOVED_AT_ONCE) restUntil = now + REST_MS
    } catch (cause) {
      // After a conflict the next call retries at once.
      if (!(cause instanceof Conflict)) restUntil = now + REST_MS
    } finally {
      isRunning = false
    }
  }
}
