import { newChanges } from './changes.ts'
import { Conflict, type Database } from './database.ts'
import { tableAlong } from './look-ups.ts'
import { NOW } from './statements.ts'

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

/** Resolves to how many it removed, and the latest expiry among them. */
async function remove(
  table: 'idempotency_keys' | 'counters',
  db: Database,
  limit: number,
  from = 0,
): Promise<{ readonly count: number; readonly until: number }> {
  const rows = tableAlong({ table, alias: 'k', index: 'expiring' }, db.dialect, db.nameOf)
  const text = `select k.tenant, k.name, k.version, k.expires_at from ${rows}
    where k.expires_at >= ${db.dialect.parameter(1)} and k.expires_at <= ${NOW} order by k.expires_at limit ${Math.trunc(limit)}`
  const old = await db.query<Old>(text, [from])
  const changes = newChanges()
  for (const { tenant, name, version } of old) changes.remove(table, { tenant, name, version: Number(version) })
  await db.write(changes)
  return { count: old.length, until: Number(old.at(-1)?.expires_at ?? 0) }
}

/**
 * Removes keys and counters that are remembered no longer, so many of each at most. Resolves to how many of those of which there are
 * more: fewer than `limit`, and none is left. The next call goes on where one ended that removed as many as it might: those
 * before were removed just now, and may be dead entries yet.
 *
 * @throws {Conflict} When another removed them meanwhile, or took one up again. The next call begins at the start.
 */
export function expiredForgetter(db: Database): (limit: number) => Promise<number> {
  const removedUntil = { idempotency_keys: 0, counters: 0 }

  async function removeNext(table: 'idempotency_keys' | 'counters', limit: number): Promise<number> {
    const from = removedUntil[table]
    removedUntil[table] = 0
    const { count, until } = await remove(table, db, limit, from)
    if (count >= limit) removedUntil[table] = until
    return count
  }

  return async (limit) => Math.max(await removeNext('idempotency_keys', limit), await removeNext('counters', limit))
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
