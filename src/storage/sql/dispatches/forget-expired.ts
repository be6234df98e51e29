import { newChanges } from '../connection/changes.ts'
import { Conflict, type Database } from '../connection/database.ts'
import { tableAlong } from '../connection/look-ups.ts'
import { type RemovedPart, removalParts } from '../connection/removal-parts.ts'
import { NOW } from '../connection/statements.ts'

/** So many rows are removed at once, so that none has to clear away a million. */
const AT_ONCE = 500
/** So long it is left alone once nothing was found. */
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
 * Removes keys and counters that are remembered no longer, so many of each at most. Resolves to how many of those of which there are
 * more: fewer than `limit`, and none is left.
 *
 * @throws {Conflict} When another removed them meanwhile, or took one up again. The next call begins at the start.
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

/**
 * Removes keys and counters that are remembered no longer: at most once a minute, as long as there are few. To be called now and
 * then; a failure is left to the next time.
 */
export function expiredRemover(db: Database): () => Promise<void> {
  const forgetExpired = expiredForgetter(db)
  let restUntil = Number.NEGATIVE_INFINITY
  let isGoing = false

  return async () => {
    const now = db.askedAt()
    if (isGoing || now < restUntil) return
    isGoing = true
    try {
      if ((await forgetExpired(AT_ONCE)) < AT_ONCE) restUntil = now + REST_MS
    } catch (cause) {
      // Another removed them, or took one up again: they are looked for anew.
      if (!(cause instanceof Conflict)) restUntil = now + REST_MS
    } finally {
      isGoing = false
    }
  }
}
