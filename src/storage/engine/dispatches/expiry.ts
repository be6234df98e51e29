import { type Expired, expireDelivery } from '../../rules/delivery-transitions.ts'
import { Changes, Conflict, retryOnConflict } from '../changes.ts'
import type { Prefix, Records } from '../records.ts'
import { type RemovedPart, removalParts } from '../removal-parts.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'
import { DispatchUnitOfWork } from './unit-of-work.ts'

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

/**
 * Ends deliveries past their expiry: those that a claim passed, and those that a sweep through all jobs finds. Only the sweep finds
 * deliveries of channels that no worker claims, and of busy receivers.
 * @returns A function of the deliveries that a claim leased although they are past their expiry.
 */
export function deliveryExpirer(
  records: Records,
): (passed: readonly string[], claim: ClaimTime) => Promise<readonly Expired[]> {
  const atOnce = Math.min(WRITTEN_AT_ONCE, records.maxClaimed ?? WRITTEN_AT_ONCE)
  let reached: Prefix | undefined
  let restUntil = Number.NEGATIVE_INFINITY

  async function sweep(now: number): Promise<readonly string[]> {
    // A clock that was set back does not stop the sweep.
    if (now < restUntil && restUntil - now <= SWEEP_EVERY_MS) return []
    restUntil = now + PART_EVERY_MS
    const { found, last } = await records.scan({
      kind: 'jobs',
      with: [[]],
      ...(reached && { after: reached }),
      where: [
        { column: 'wake_at', below: now + 1 },
        { column: 'expires_at', below: now + 1 },
      ],
      limit: SWEPT_AT_ONCE,
      most: SWEPT_AT_ONCE,
      columns: [],
    })
    reached = last
    if (!last) restUntil = now + SWEEP_EVERY_MS
    return found.map(({ record }) => record.delivery_id)
  }

  async function expireSome(ids: readonly string[], { fence, now }: ClaimTime): Promise<readonly Expired[]> {
    const work = new DispatchUnitOfWork(now)
    await loadDispatches(await loadOwners(ids, records), records, work)
    const expired: Expired[] = []
    for (const id of ids) {
      const delivery = work.delivery(id)
      if (!delivery || delivery.slot < 0 || delivery.expiresAt > now) continue
      if (delivery.wakeAt <= now || delivery.fence === fence) expired.push(...expireDelivery(delivery, work.moves))
    }
    await work.write(records)
    return expired
  }

  return async (passed, claim) => {
    // A failed sweep is repeated; the claim has made its own changes.
    const found = [...new Set([...passed, ...(await sweep(claim.now).catch(() => []))])]
    const expired: Expired[] = []
    for (let at = 0; at < found.length; at += atOnce) {
      const ids = found.slice(at, at + atOnce)
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
/** Pause after a removal that found few records. */
const REST_MS = 60_000

const KEPT_KINDS = ['idempotency_keys', 'counters'] as const

async function remove(
  kind: (typeof KEPT_KINDS)[number],
  from: number,
  limit: number,
  records: Records,
): Promise<RemovedPart> {
  const { earliest } = await records.now()
  const { found } = await records.scan<'idempotency_keys' | 'counters'>({
    kind,
    index: 'expiring',
    with: [[]],
    from: [from],
    until: [earliest + 1],
    limit,
  })
  const changes = new Changes()
  for (const { record } of found)
    changes.remove(kind, { tenant: record.tenant, name: record.name, version: record.version })
  await changes.commit(records)
  return { count: found.length, until: found.at(-1)?.record.expires_at ?? 0 }
}

/**
 * Removes expired idempotency keys and counters, at most `limit` of each. Resolves to the larger of both numbers: fewer than `limit`
 * means that none is left.
 * @throws {Conflict} If a record was removed or reused concurrently. The next call starts from the beginning.
 */
export function expiredForgetter(records: Records): (limit: number) => Promise<number> {
  const removeSome = removalParts()
  return async (limit) => {
    let most = 0
    for (const kind of KEPT_KINDS)
      most = Math.max(most, await removeSome(kind, limit, (from, some) => remove(kind, from, some, records)))
    return most
  }
}

/** {@link expiredForgetter} in the background: at most once a minute while there are few records. After a failure it pauses as well. */
export function expiredRemover(records: Records): () => Promise<void> {
  const forgetExpired = expiredForgetter(records)
  let restUntil = Number.NEGATIVE_INFINITY
  let isRunning = false

  return async () => {
    const now = performance.now()
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
