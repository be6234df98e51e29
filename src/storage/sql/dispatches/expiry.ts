import { type RemovedPart, removalParts } from '../../engine/removal-parts.ts'
import { type Expired, expireDelivery } from '../../rules/delivery-transitions.ts'
import { Conflict, NOW, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { tableAlong } from '../connection/dialects.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'

const WRITTEN_AT_ONCE = 100
/** Jobs that a sweep reads. */
const SWEPT_AT_ONCE = 1_000
/** Pause between two parts of a sweep, */
const PART_EVERY_MS = 1_000
/** and after its end. */
const SWEEP_EVERY_MS = 10_000

interface ClaimTime {
  readonly fence: string
  readonly now: number
}

interface Swept {
  /** Id of a delivery past its expiry; in the last row, of the last job. */
  readonly delivery_id: string
  /** Number of jobs, in the last row; 0 in the others. */
  readonly swept: unknown
}

/**
 * Ends deliveries past their expiry: those that a claim passed, and those that a sweep through all jobs finds. Only the sweep finds
 * deliveries of channels that no worker claims, and of busy receivers.
 * @returns A function of the deliveries that a claim leased although they are past their expiry.
 */
export function deliveryExpirer(
  db: Database,
): (passed: readonly string[], claim: ClaimTime) => Promise<readonly Expired[]> {
  const { dialect, nameOf } = db
  const jobs = tableAlong({ table: 'jobs', alias: 'd' }, dialect, nameOf)
  const text = `with part as (
      select d.delivery_id, d.wake_at, d.expires_at from ${jobs}
      where d.delivery_id > ${dialect.parameter(1)} order by d.delivery_id limit ${SWEPT_AT_ONCE}
    )
    select p.delivery_id, 0 as swept from part p where p.wake_at <= ${NOW} and p.expires_at <= ${NOW}
    union all select max(a.delivery_id), count(*) from part a`
  let cursor = ''
  let restUntil = Number.NEGATIVE_INFINITY

  async function sweep(): Promise<readonly string[]> {
    if (db.elapsed() < restUntil) return []
    restUntil = db.elapsed() + PART_EVERY_MS
    const rows = await db.scan<Swept>(text, [cursor])
    const end = rows.find(({ swept }) => Number(swept) > 0)
    const isCut = end !== undefined && Number(end.swept) === SWEPT_AT_ONCE
    cursor = isCut ? end.delivery_id : ''
    if (!isCut) restUntil = db.elapsed() + SWEEP_EVERY_MS
    return rows.flatMap(({ delivery_id, swept }) => (Number(swept) === 0 && delivery_id !== null ? delivery_id : []))
  }

  async function expireSome(ids: readonly string[], { fence, now }: ClaimTime): Promise<readonly Expired[]> {
    const work = new DispatchUnitOfWork(now)
    await loadDispatches(await loadOwners(ids, db), db, work)
    const expired: Expired[] = []
    for (const id of ids) {
      const delivery = work.delivery(id)
      if (!delivery || delivery.slot < 0 || delivery.expiresAt > now) continue
      if (delivery.wakeAt <= now || delivery.fence === fence) expired.push(...expireDelivery(delivery, work.moves))
    }
    await work.write(db)
    return expired
  }

  return async (passed, claim) => {
    // A failed sweep is repeated; the claim has made its own changes.
    const found = [...new Set([...passed, ...(await sweep().catch(() => []))])]
    const expired: Expired[] = []
    for (let at = 0; at < found.length; at += WRITTEN_AT_ONCE) {
      const ids = found.slice(at, at + WRITTEN_AT_ONCE)
      try {
        expired.push(...(await retryOnConflict(() => expireSome(ids, claim))))
      } catch (cause) {
        // Report the deliveries expired so far; a later claim finds the others.
        if (at === 0) throw cause
        return expired
      }
    }
    return expired
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
