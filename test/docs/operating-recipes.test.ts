import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../src/auth/app-secret.ts'
import { busyCallers } from '../processes/busy-callers.ts'
import { idleSocket } from '../processes/idle-socket.ts'
import { postgresServer } from '../queues/postgres-server.ts'
import { serviceOrSkip } from '../queues/services.ts'
import { documented } from '../support/documented.ts'
import type { Program } from '../support/program.ts'
import { portOf, type RecipeProject, recipeProject } from '../support/recipe-project.ts'

const PAGE = 'docs/operating.md'
const { secret } = await generateAppSecret({ env: 'test' })

/** A process that accepts an event, and ends. */
const ACCEPT = `
import { outbound } from './outbound.js'
import { storage } from './storage.js'
await storage.open()
const answer = await outbound(storage, process.env.APP_SECRET).dispatch({ eventType: 'order.placed', recipient: 'ada' })
console.log('accepted', answer.status)
await storage.close()
`

type Env = Readonly<Record<string, string>>

/** A storage of the guide, over something that is there. */
interface Place {
  readonly env: Env
  close(): Promise<void>
}

let project: RecipeProject
beforeAll(async () => {
  project = await recipeProject()
}, 120_000)
afterAll(() => project.remove())

/** Writes the programs of the guide, over one of its storages. */
async function writePrograms(folder: string, storage: string): Promise<void> {
  await project.write(`${folder}/outbound.js`, documented(PAGE, '// outbound.ts'))
  await project.write(`${folder}/storage.js`, documented(PAGE, storage))
  await project.write(`${folder}/run.js`, documented(PAGE, '// run.ts'))
  await project.write(`${folder}/host.js`, documented(PAGE, '// host.js'))
  await project.write(`${folder}/worker.js`, documented(PAGE, '// worker.js'))
  await project.write(`${folder}/accept.js`, ACCEPT)
}

const start = (file: string, env: Env): Program => project.start(file, { ...env, APP_SECRET: secret })

async function post(host: Program, event: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${await portOf(host)}/api/outbound/dispatch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(event),
  })
}

async function nowhere(): Promise<Place> {
  return { env: {}, close: async () => {} }
}

async function file(): Promise<Place> {
  return { env: { OUTBOUND_FILE: join(project.folder, 'outbound.db') }, close: async () => {} }
}

async function postgresql(): Promise<Place> {
  const server = await postgresServer()
  return { env: { DATABASE_URL: server.url }, close: () => server.remove() }
}

async function mariadb(): Promise<Place> {
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
  ['memory', 'export const storage = { store: memoryStore()', nowhere, describe],
  ['file', 'new SqliteDialect({ database: openFile(', file, describe],
  ['postgresql', 'postgresQueue({', postgresql, describe],
  ['postgresql-redis', 'bullmqQueue({', postgresql, describeRedis],
  ['mariadb', 'new MysqlDialect({ pool })', mariadb, describeMariadb],
])('the storage: %s', (folder, text, open, describeWhereThere) => {
  describeWhereThere('as it is printed', () => {
    let place: Place
    beforeAll(async () => {
      place = await open()
      await writePrograms(folder, text)
    })
    afterAll(() => place.close())

    it('has a host that serves and delivers, and ends at SIGTERM', async () => {
      const host = start(`${folder}/host.js`, place.env)
      const answer = await post(host, { eventType: 'order.placed', recipient: 'ada' })
      expect(answer.status).toBe(202)
      await host.line('Thank you!')
      host.signal('SIGTERM')
      expect(await host.ended).toBe(0)
    })

    it.skipIf(folder === 'memory')(
      'has a worker in a process of its own that delivers, and ends at SIGTERM',
      async () => {
        const worker = start(`${folder}/worker.js`, place.env)
        const accepting = start(`${folder}/accept.js`, place.env)
        await accepting.line('accepted 202')
        expect(await accepting.ended).toBe(0)
        await worker.line('Thank you!')
        worker.signal('SIGTERM')
        expect(await worker.ended).toBe(0)
      },
    )
  })
})

describe('a host that stops', () => {
  it('leaves no busy caller without an answer', async () => {
    const host = start('memory/host.js', {})
    const port = await portOf(host)
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ eventType: 'order.placed', recipient: 'ada' })
    const callers = busyCallers(port, 50, [{ method: 'POST', path: '/api/outbound/dispatch', headers, body }])
    await callers.answered(3)
    host.signal('SIGTERM')
    expect(await callers.gone).toEqual({ statuses: { 202: expect.any(Number) }, losses: [] })
    expect(await host.ended).toBe(0)
  })

  it('ends with its grace, although callers never send what they have begun', async () => {
    await writePrograms('stopping', 'export const storage = { store: memoryStore()')
    // A shorter grace, so that the test is.
    await project.write('stopping/run.js', documented(PAGE, '// run.ts').replace('15_000', '1_500'))
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
  it('are run by hand, and a role of less rights works with what they have made', async () => {
    const server = await postgresServer()
    const admin = await server.connect()
    await admin.query("create role outbound login password 'outbound'")
    await project.write('migrations.js', documented(PAGE, 'sqlStatements({'))
    const printing = start('migrations.js', {})
    expect(await printing.ended).toBe(0)
    await admin.query(printing.lines.join('\n'))
    await admin.query(documented(PAGE, 'to outbound;'))
    await admin.end()
    const storage = documented(PAGE, 'postgresQueue({').replace('store.migrate()', 'store.ready()')
    await writePrograms('by-hand', 'postgresQueue({')
    await project.write('by-hand/storage.js', storage)
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
  it('accept an event in a transaction, and end', async () => {
    await project.write('transaction.js', documented(PAGE, 'store.within(trx), idempotencyKey'))
    expect(await start('transaction.js', {}).ended).toBe(0)
  })

  it('prune, and say how many', async () => {
    await writePrograms('pruning', 'export const storage = { store: memoryStore()')
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

  it('limit requests', async () => {
    await project.write('limits/sallyport.js', documented(PAGE, 'rateLimiter: rateLimits({'))
    await project.write(
      'limits/main.js',
      `import { createServer } from 'node:http'
      import { toNode } from 'sallyport/node'
      import { sallyport } from './sallyport.js'
      createServer(toNode(sallyport)).listen(3000)
      process.once('SIGTERM', () => process.exit())`,
    )
    const host = start('limits/main.js', {})
    const answer = await post(host, { eventType: 'order.shipped', recipient: 'ada' })
    expect([answer.status, answer.headers.get('ratelimit')]).toEqual([202, '"token";r=599;t=60, "tenant";r=5999;t=60'])
    host.signal('SIGTERM')
    expect(await host.ended).toBe(0)
  })
})
