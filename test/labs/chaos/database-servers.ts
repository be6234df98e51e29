import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createConnection } from 'mysql2/promise'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { redisServer } from '../../queues/redis-server.ts'
import { startMariadb } from '../../storage/mariadb-server.ts'
import { postgresServer } from '../../support/postgres-server.ts'
import { connectTo, type Place, type RedisPlace, type SqlPlace } from './place.ts'

export { noMariadb } from '../../storage/mariadb-server.ts'

/** A database server for these tests. */
export interface DatabaseServer<P extends Place = Place> {
  readonly dialect: P['dialect']
  /** Creates and migrates an empty database. */
  open(): Promise<P>
  /** Stops the server and removes its data. */
  close(): Promise<void>
}

/** A server that can be stopped and restarted. It flushes commits to disk. */
export interface PostgresCluster extends DatabaseServer<Extract<Place, { readonly dialect: 'postgresql' }>> {
  readonly port: number
  /** Stops at once, like a loss of power; the server recovers at the next start. */
  crash(): Promise<void>
  stop(): Promise<void>
  /** Resolves when it accepts connections. */
  start(): Promise<void>
}

export async function sqliteFiles(): Promise<DatabaseServer<SqlPlace>> {
  const folder = goneAtExit(await mkdtemp(join(tmpdir(), 'sallyport-chaos-sqlite-')))
  return {
    dialect: 'sqlite',
    open: () => migrated({ dialect: 'sqlite', file: join(folder, `${newName()}.db`) }),
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

export async function postgresCluster(): Promise<PostgresCluster> {
  const server = await postgresServer({ isDurable: true })
  const { port, start, stop } = server
  return {
    ...{ dialect: 'postgresql', port, start, stop, crash: server.kill, close: server.remove },
    async open() {
      const admin = await server.connect()
      const database = newName()
      await admin.query(`create database ${database}`)
      await admin.end()
      return migrated({ dialect: 'postgresql', port, database })
    },
  }
}

export async function mariadbServer(): Promise<DatabaseServer<SqlPlace>> {
  const { port, close } = await startMariadb()
  return {
    dialect: 'mariadb',
    close,
    async open() {
      const database = newName()
      const admin = await createConnection({ host: '127.0.0.1', port, user: 'root' })
      await admin.query(`create database ${database}`)
      await admin.end()
      return migrated({ dialect: 'mariadb', port, database })
    },
  }
}

async function migrated<T extends SqlPlace>(place: T): Promise<T> {
  const db = await connectTo(place)
  await sqlStore({ db, dialect: place.dialect }).migrate()
  if (place.dialect === 'postgresql') await sql`checkpoint`.execute(db)
  await db.destroy()
  return place
}

/** Requires a `redis-server`. */
export async function redisDocumentServer(): Promise<DatabaseServer<RedisPlace>> {
  const server = await redisServer()
  await server.start()
  const { port, remove: close } = server
  return { dialect: 'redis', close, open: async () => ({ dialect: 'redis', port, name: newName() }) }
}

/** Removes a folder at the end of the process, in any case. */
function goneAtExit(folder: string): string {
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function newName(): string {
  return `chaos${randomBytes(6).toString('hex')}`
}
