import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { freePort } from '../../support/free-port.ts'
import { postgresPort } from '../../support/shared-postgres.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { openPostgresql } from '../databases.ts'
import { acceptance, claim, ids, keyed, lease } from '../storing.ts'

const isInstalled = spawnSync('pgbouncer', ['--version']).status === 0
const isRequired = process.env.SALLYPORT_REQUIRE_SERVICES === '1'

/** PgBouncer in transaction mode. A connection has any of its three servers for the time of a transaction. */
describe.skipIf(!isInstalled && !isRequired)('a store behind PgBouncer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-pgbouncer-'))
  const opened: Kysely<unknown>[] = []
  let bouncer: ChildProcess
  let port: number
  let database: Awaited<ReturnType<typeof openPostgresql>>
  let name: string

  beforeAll(async () => {
    port = await freePort()
    const file = join(folder, 'pgbouncer.ini')
    writeFileSync(
      file,
      `[databases]
* = host=127.0.0.1 port=${await postgresPort()} user=postgres password=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
`,
    )
    // It refuses to run as root.
    const asUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    spawnSync('chmod', ['-R', 'a+rX', folder])
    bouncer = spawn('pgbouncer', [file], { ...asUser, stdio: ['ignore', 'ignore', 'pipe'] })
    await new Promise<void>((resolve, reject) => {
      bouncer.stderr?.on('data', (said) => String(said).includes('process up') && resolve())
      bouncer.once('exit', () => reject(new Error('PgBouncer ended')))
    })
  })
  afterAll(async () => {
    bouncer.kill('SIGINT')
    await once(bouncer, 'exit')
    rmSync(folder, { recursive: true })
  })

  beforeEach(async () => {
    database = await openPostgresql('template1')
    name = new URL(database.url).pathname.slice(1)
    return async () => {
      for (const db of opened.splice(0)) await db.destroy()
      await database.close()
    }
  })

  function storeOver(max: number, preparedStatements = false) {
    const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'postgres', password: 'postgres', database: name, max })
    pool.on('error', () => {})
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
    opened.push(db)
    return sqlStore({ db, dialect: 'postgresql', timeoutMs: UNHURRIED_MS, preparedStatements })
  }

  it('It is migrated, and stores, leases and settles many deliveries at once', async () => {
    const stores = [storeOver(8), storeOver(8)] as const
    await Promise.all(stores.map((store) => store.migrate()))
    await Promise.all(stores.map((store) => store.ready()))
    const accepted = await Promise.all(
      Array.from({ length: 60 }, (_, at) => stores[at % 2]?.accept(keyed(`d${at}`, `k${at}`))),
    )
    expect(accepted.every((one) => one?.outcome === 'accepted')).toBe(true)
    const claims = await Promise.all(stores.map((store) => claim(store, { a: 40 })))
    const sent = await Promise.all(
      claims.flatMap(({ deliveries }, at) =>
        deliveries.map((one) => stores[1 - at]?.settle({ ...lease(one), to: 'sent', attempt: { outcome: 'sent' } })),
      ),
    )
    expect(sent.every((one) => one?.live)).toBe(true)
    const left = ids((await claim(stores[0])).deliveries)
    expect(sent.length + left.length).toBe(60)
    const { items } = await stores[1].listDispatches({ tenant: 'default', status: 'sent', limit: 100 })
    expect(items).toHaveLength(sent.length)
  })

  it('ready() says that prepared statements are lost', async () => {
    await storeOver(2).migrate()
    await storeOver(2).ready()
    for (let times = 0; times < 2; times++)
      await expect(storeOver(2, true).ready()).rejects.toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining('Leave preparedStatements out'),
      })
  })

  it('A call that meets a lost statement says so', async () => {
    await storeOver(2).migrate()
    const store = storeOver(8, true)
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, (_, at) => store.accept(acceptance(`d${at}`))))
    const faults = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    const later = await Promise.allSettled(
      Array.from({ length: 8 }, () => store.countDue({ channels: ['a'], limit: 9 })),
    )
    faults.push(...later.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])))
    expect(faults.length).toBeGreaterThan(0)
    for (const fault of faults) expect(fault).toMatchObject({ code: 'config_invalid' })
  })
})

it('On a direct connection, ready() finds prepared statements kept, with a pool of one too', async () => {
  const own = await openPostgresql()
  const pool = new pg.Pool({ connectionString: own.url, max: 1 })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  await sqlStore({ db, dialect: 'postgresql', timeoutMs: 500, preparedStatements: true }).ready()
  await db.destroy()
  await own.close()
})
