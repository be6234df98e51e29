import pg from 'pg'
import type { Place } from './place.ts'

/** A lock under which no post with a key can commit until the database crashes. */
export interface HeldCommits {
  /** Whether a commit is waiting. */
  areWaitedFor(): Promise<boolean>
}

const KEYS = 'sallyport_idempotency_keys'
const WAITING = `select 1 from pg_locks where relation = '${KEYS}'::regclass and not granted limit 1`

/** On PostgreSQL. Resolves when the lock is held and earlier commits are done. */
export async function holdCommits(place: Place): Promise<HeldCommits> {
  if (place.dialect !== 'postgresql') throw new Error('this database cannot be crashed')
  const [holder, watcher] = await Promise.all([connected(place), connected(place)])
  await holder.query('begin')
  await holder.query(`lock table ${KEYS} in share mode`)
  return { areWaitedFor: async () => (await watcher.query(WAITING)).rows.length > 0 }
}

async function connected({ port, database }: Extract<Place, { readonly dialect: 'postgresql' }>): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port, database, user: 'postgres', password: 'postgres' })
  // The connection is lost when the database crashes.
  client.on('error', () => {})
  await client.connect()
  return client
}
