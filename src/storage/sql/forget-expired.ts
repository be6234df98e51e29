import { newChanges } from './changes.ts'
import { Conflict, type Database } from './database.ts'
import { NOW } from './statements.ts'

/** So many rows are removed at once, so that none has to clear away a million. */
const AT_ONCE = 500
/** So long it is left alone once nothing was found. */
const REST_MS = 60_000

interface Old {
  readonly tenant: string
  readonly name: string
  readonly version: unknown
}

/**
 * Removes keys and counters that are remembered no longer: at most once a minute, as long as there are few. To be called now and
 * then; a failure is left to the next time.
 */
export function expiredRemover(db: Database): () => Promise<void> {
  let restUntil = Number.NEGATIVE_INFINITY
  let isGoing = false

  async function remove(table: 'idempotency_keys' | 'counters'): Promise<number> {
    const text = `select tenant, name, version from ${db.nameOf(table)} where expires_at <= ${NOW} order by expires_at limit ${AT_ONCE}`
    const old = await db.query<Old>(text, [])
    const changes = newChanges()
    for (const { tenant, name, version } of old) changes.remove(table, { tenant, name, version: Number(version) })
    await db.write(changes)
    return old.length
  }

  return async () => {
    const now = db.askedAt()
    if (isGoing || now < restUntil) return
    isGoing = true
    try {
      const most = Math.max(await remove('idempotency_keys'), await remove('counters'))
      if (most < AT_ONCE) restUntil = now + REST_MS
    } catch (cause) {
      // Another removed them, or took one up again: they are looked for anew.
      if (!(cause instanceof Conflict)) restUntil = now + REST_MS
    } finally {
      isGoing = false
    }
  }
}
