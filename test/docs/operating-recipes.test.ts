import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../src/auth/app-secret.ts'
import { busyCallers } from '../processes/busy-callers.ts'
import { idleSocket } from '../processes/idle-socket.ts'
import { serviceOrSkip } from '../queues/services.ts'
import { documented } from '../support/documented.ts'
import { postgresServer } from '../support/postgres-server.ts'
import type { Program } from '../support/program.ts'
import { portOf, type RecipeProject, recipeProject } from '../support/recipe-project.ts'
import { HANG_MS, UNHURRIED_MS } from '../support/unhurried.ts'

const PAGE = 'docs/operating.md'
const TABLES = 'docs/storage-sql.md'
const { secret } = await generateAppSecret({ env: 'test' })

/** Accepts an event in a process that then exits. */
const ACCEPT = `
import { outbound } from './outbound.js'
import { storage } from './storage.js'
await storage.open()
const answer = await outbound(storage, process.env.APP_SECRET).dispatch({ eventType: 'order.placed', recipient: 'ada' })
console.log('accepted', answer.status)
await storage.close()
`

type Env = Readonly<Record<string, string>>

/** A database for a storage of the guide. */
interface TestStorage {
  readonly env: Env
  close(): Promise<void>
}

let project: RecipeProject
beforeAll(async () => {
  project = await recipeProject()
}, HANG_MS)
afterAll(() => project.remove())

/** Writes the programs of the guide, over one of its storages. */
async function writePrograms(folder: string, storage: string): Promise<void> {
  await project.write(`${folder}/outbound.js`, documented(PAGE, '// outbound.ts'))
  await project.write(`${folder}/storage.js`, storage.replace('sqlStore({', `sqlStore({ timeoutMs: ${UNHURRIED_MS},`))
  await project.write(`${folder}/queue.js`, documented(PAGE, 'bullmqQueue({'))
  await project.write(`${folder}/host.js`, documented(PAGE, '// host.js'))
  await project.write(`${folder}/worker.js`, documented(PAGE, '// worker.js'))
  await project.write(`${folder}/accept.js`, ACCEPT)
}

const MEMORY = documented(PAGE, 'export const storage = { store: memoryStore()')
const POSTGRES = documented(PAGE, 'postgresQueue({')

/** The PostgreSQL storage with the Redis queue, and therefore without `notify`, as the guide says. */
const POSTGRES_REDIS = POSTGRES.replace(
  "import { postgresQueue } from 'sallyport/queue/postgres'",
  "import { queue } from './queue.js'",
)
  .replace(/^const queue = .*?^}\)\n/ms, '')
  .replace(", notify: 'sallyport_due'", '')

const start = (file: string, env: Env): Program => project.start(file, { ...env, APP_SECRET: secret })

async function post(host: Program, event: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${await portOf(host)}/api/outbound/dispatch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(event),
  })
}

async function inMemory(): Promise<TestStorage> {
  return { env: {}, close: async () => {} }
}

async function file(): Promise<TestStorage> {
  return { env: { OUTBOUND_FILE: join(project.folder, 'outbound.db') }, close: async () => {} }
}

async function postgresql(): Promise<TestStorage> {
  const server = await postgresServer()
  return { env: { DATABASE_URL: server.url }, close: () => server.remove() }
}

async function mariadb(): Promise<TestStorage> {
  const database = `t${randomBytes(6).toString('hex')}`
  const admin = await createConnection({ host: '127.0.0.1', user: 'root', disableEval: true })
  await admin.query(`create database ${database}`)
  return {
    env: { DATABASE_URL: `mysql://root@127.0.0.1:3306/${database}` },
    async close() {
      await admin.query(`drop database ${database}`)
      await admin.end()
    },
  }
}

const [describeRedis, describeMariadb] = [await serviceOrSkip('redis'), await serviceOrSkip('mariadb')]

describe.each([
  ['memory', MEMORY, inMemory, describe],
  ['file', documented(PAGE, 'new SqliteDialect({ database })'), file, describe],
  ['postgresql', POSTGRES, postgresql, describe],
  ['postgresql-redis', POSTGRES_REDIS, postgresql, describeRedis],
  ['mariadb', documented(PAGE, 'new MysqlDialect({ pool })'), mariadb, describeMariadb],
])('the storage: %s', (folder, storage, open, describeWhereThere) => {
  describeWhereThere('as it is printed', () => {
    let testStorage: TestStorage
    beforeAll(async () => {
      testStorage = await open()
      await writePrograms(folder, storage)
    })
    afterAll(() => testStorage.close())

    it('The documented host serves, delivers, and exits at SIGTERM', async () => {
      const host = start(`${folder}/host.js`, testStorage.env)
      const answer = await post(host, { eventType: 'order.placed', recipient: 'ada' })
      expect(answer.status).toBe(202)
      await host.line('Thank you!')
      host.signal('SIGTERM')
      expect(await host.ended).toBe(0)
    })

    it.skipIf(folder === 'memory')('The documented worker process delivers, and exits at SIGTERM', async () => {
      const worker = start(`${folder}/worker.js`, testStorage.env)
      const accepting = start(`${folder}/accept.js`, testStorage.env)
      await accepting.line('accepted 202')
      expect(await accepting.ended).toBe(0)
      await worker.line('Thank you!')
      worker.signal('SIGTERM')
      expect(await worker.ended).toBe(0)
    })
  })
})

describe('a host that stops', () => {
  it('The documented host answers all busy callers when it stops', async () => {
    await writePrograms('busy', MEMORY)
    // A signal instead of a second: slow callers take longer.
    const waiting = "await new Promise((resolve) => process.once('SIGUSR2', resolve))"
    const printed = documented(PAGE, '// host.js').replace('15_000', `${UNHURRIED_MS}`)
    expect(printed).toContain('await wait(1_000)')
    await project.write('busy/host.js', printed.replace('await wait(1_000)', waiting))
    const host = start('busy/host.js', {})
    const port = await portOf(host)
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ eventType: 'order.placed', recipient: 'ada' })
    const callers = busyCallers(port, 50, [{ method: 'POST', path: '/api/outbound/dispatch', headers, body }])
    await callers.answered(3)
    host.signal('SIGTERM')
    expect(await callers.gone).toEqual({ statuses: { 202: expect.any(Number) }, losses: [] })
    host.signal('SIGUSR2')
    expect(await host.ended).toBe(0)
  })

  it('The documented host exits after its grace period despite unfinished requests', async () => {
    await writePrograms('stopping', MEMORY)
    // A shorter grace period keeps the test short.
    await project.write('stopping/host.js', documented(PAGE, '// host.js').replace('15_000', '1_500'))
    const host = start('stopping/host.js', {})
    const port = await portOf(host)
    const sockets = [await idleSocket(port), await idleSocket(port, 'POST /api/outbound/dispatch HTTP/1.1\r\nho')]
    const unread = 'content-length: 100\r\ncontent-type: application/json\r\n\r\n{'
    sockets.push(await idleSocket(port, `POST /api/outbound/dispatch HTTP/1.1\r\nhost: a\r\n${unread}`))
    host.signal('SIGTERM')
    expect(await host.ended).toBe(0)
    for (const socket of sockets) socket.destroy()
  })
})

describe('the migrations that are printed', () => {
  it('The printed migrations can be run by hand and suffice for a role with fewer rights', async () => {
    const server = await postgresServer()
    const admin = await server.connect()
    await admin.query("create role outbound login password 'outbound'")
    await project.write('migrations.js', documented(TABLES, 'sqlStatements({'))
    const printing = start('migrations.js', {})
    expect(await printing.ended).toBe(0)
    await admin.query(printing.lines.join('\n'))
    await admin.query(documented(TABLES, 'to outbound;'))
    await admin.end()
    await writePrograms('by-hand', POSTGRES.replace('store.migrate()', 'store.ready()'))
    const env = { DATABASE_URL: server.url.replace('postgres:postgres@', 'outbound:outbound@') }
    const worker = start('by-hand/worker.js', env)
    await start('by-hand/accept.js', env).line('accepted 202')
    await worker.line('Thank you!')
    worker.signal('SIGTERM')
    expect(await worker.ended).toBe(0)
    await server.remove()
  })
})

describe('the other programs of the guide', () => {
  it('The documented transaction accepts an event with an order, and rolls the order back when it is refused', async () => {
    await writePrograms('transaction', documented(PAGE, 'new SqliteDialect({ database })').concat('export { db }\n'))
    await project.write('transaction/place-order.js', documented(PAGE, 'store: store.within(trx),'))
    await project.write(
      'transaction/main.js',
      `import { outbound } from './outbound.js'
      import { placeOrder } from './place-order.js'
      import { db, storage } from './storage.js'
      await storage.open()
      await db.schema.createTable('orders').addColumn('id', 'text').addColumn('customer', 'text').execute()
      const sallyport = outbound(storage, process.env.APP_SECRET)
      await placeOrder(db, storage.store, sallyport, { id: 'o1', customer: 'ada@example.com' })
      const refused = await placeOrder(db, storage.store, sallyport, { id: 'o2', customer: '' }).catch(({ code }) => code)
      const orders = await db.selectFrom('orders').selectAll().execute()
      const { items } = await sallyport.dispatches.list()
      console.log(JSON.stringify([refused, orders, items.map(({ eventType }) => eventType)]))
      await storage.close()`,
    )
    const placing = start('transaction/main.js', {})
    await placing.line('["validation_failed",[{"id":"o1","customer":"ada@example.com"}],["order.placed"]]')
    expect(await placing.ended).toBe(0)
  })

  it('The documented pruning job prints its counts', async () => {
    await writePrograms('pruning', MEMORY)
    await project.write('pruning/prune.js', documented(PAGE, 'export async function prune('))
    await project.write(
      'pruning/main.js',
      `import { outbound } from './outbound.js'
      import { prune } from './prune.js'
      import { storage } from './storage.js'
      await prune(outbound(storage, process.env.APP_SECRET))`,
    )
    const pruning = start('pruning/main.js', {})
    await pruning.line('{ dispatches: 0, runs: 0 }')
    expect(await pruning.ended).toBe(0)
  })

  it('The documented rate limiter limits requests', async () => {
    await writePrograms('limits', MEMORY)
    await project.write('limits/rate-limiter.js', documented(PAGE, 'rateLimiter = rateLimits({'))
    // The application of the guide, with the limiter.
    const outbound = documented(PAGE, '// outbound.ts').replace('store,\n', 'store,\n    rateLimiter,\n')
    await project.write('limits/outbound.js', `import { rateLimiter } from './rate-limiter.js'\n${outbound}`)
    await project.write(
      'limits/main.js',
      `import { createServer } from 'node:http'
      import { toNode } from 'sallyport/node'
      import { outbound } from './outbound.js'
      import { storage } from './storage.js'
      createServer(toNode(outbound(storage, process.env.APP_SECRET))).listen(3000)
      process.once('SIGTERM', () => process.exit())`,
    )
    const host = start('limits/main.js', {})
    const answer = await post(host, { eventType: 'order.placed', recipient: 'ada' })
    expect([answer.status, answer.headers.get('ratelimit')]).toEqual([202, '"token";r=599;t=60, "tenant";r=5999;t=60'])
    host.signal('SIGTERM')
    expect(await host.ended).toBe(0)
  })
})
