import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../src/auth/app-secret.ts'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { documented } from '../support/documented.ts'
import { type PostgresServer, postgresServer } from '../support/postgres-server.ts'
import { type RecipeProject, recipeProject } from '../support/recipe-project.ts'

const PAGE = 'docs/operating.md'
const LOSSES = 20
const { secret } = await generateAppSecret({ env: 'test' })

let project: RecipeProject
beforeAll(async () => {
  project = await recipeProject()
}, 120_000)
afterAll(() => project.remove())

/** The module of the guide, with more frequent polls. */
const OUTBOUND = documented(PAGE, '// outbound.ts').replace('channels: { log: log() },', '$& worker: { pollMs: 50 },')

/** Its queue reconnects by its own timer, which may keep the process alive. */
const STORAGE = documented(PAGE, 'postgresQueue({')

describe.each([
  ['with a queue', STORAGE],
  ['with polling alone', STORAGE.replace('{ store, queue, open', '{ store, open')],
])('a worker-only process %s', (means, storage) => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await postgresServer()
  })
  afterAll(() => server.remove())

  it(`A worker-only process ${means} survives ${LOSSES} losses of its database and exits at SIGTERM`, async () => {
    await project.write('outbound.js', OUTBOUND)
    await project.write('storage.js', storage)
    await project.write('worker.js', documented(PAGE, '// worker.js'))
    const pool = new pg.Pool({ connectionString: server.url })
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    const accepting = acceptingIn(pool)
    await accepting.store.migrate()
    const worker = project.start('worker.js', { APP_SECRET: secret, DATABASE_URL: server.url })
    await accepting.accept()
    await worker.line('Thank you!')
    for (let loss = 0; loss < LOSSES; loss++) {
      const from = worker.lines.length
      await server.kill()
      await worker.line('worker.claim_failed', from)
      await server.start()
      await accepting.accept()
      await worker.line('Thank you!', from)
    }
    worker.signal('SIGTERM')
    expect(await worker.ended).toBe(0)
    await pool.end()
  }, 120_000)

  /** Accepts events in this process, with retries after a loss of the database. */
  function acceptingIn(pool: pg.Pool) {
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
    const store = sqlStore({ db, dialect: 'postgresql', notify: 'sallyport_due' })
    const { dispatch } = createSallyport({
      ...{ auth: testAuth, store, logger: recordingLogger() },
      events: defineEvents({ 'order.placed': { channels: { log: { text: () => 'Thank you!' } } } }),
      channels: { log: { address: ({ id }) => id, send: async () => ({ outcome: 'sent' as const }) } },
    })
    async function accept(): Promise<void> {
      while (!(await dispatch({ eventType: 'order.placed', recipient: 'ada' })).ok);
    }
    return { store, accept }
  }
})

/** A worker over a memory store, in a process with no other work. */
const IN_MEMORY = `
import { outbound } from './outbound.js'
import { storage } from './storage.js'
const sallyport = outbound(storage, process.env.APP_SECRET)
`

/** A channel whose sends never end, and which keeps no process alive. */
const HANGING = `
const hanging = {
  address: ({ id }) => id,
  send() {
    console.log('it is being sent')
    return new Promise(() => {})
  },
}
`

describe('a process over a memory store', () => {
  beforeAll(async () => {
    await project.write('memory/outbound.js', OUTBOUND)
    await project.write('memory/sandboxed.js', OUTBOUND.replace('worker: {', 'sandbox: true, $&'))
    await project.write('memory/storage.js', documented(PAGE, 'export const storage = { store: memoryStore()'))
  })

  const start = async (program: string) => {
    await project.write('memory/main.js', program)
    return project.start('memory/main.js', { APP_SECRET: secret })
  }

  it('A process waits for a delayed delivery, and exits after its worker is stopped', async () => {
    const worker = await start(`${IN_MEMORY}
      process.once('SIGTERM', () => void sallyport.stop())
      sallyport.worker.start()
      await sallyport.dispatch({ eventType: 'order.placed', recipient: 'ada' }, { delayMs: 300 })`)
    await worker.line('Thank you!')
    worker.signal('SIGTERM')
    expect(await worker.ended).toBe(0)
  })

  it('A process that only records runs stays alive to find stale runs', async () => {
    const worker = await start(`
      import { createSallyport } from 'sallyport'
      import { appSecrets } from 'sallyport/auth'
      import { memoryStore } from 'sallyport/storage/memory'
      const auth = appSecrets([process.env.APP_SECRET])
      const sallyport = createSallyport({ auth, store: memoryStore(), staleAfterMs: 60_000 })
      sallyport.worker.start()
      process.once('SIGTERM', () => void sallyport.stop())
      setTimeout(() => console.log('still there'), 300).unref()`)
    await worker.line('still there')
    worker.signal('SIGTERM')
    expect(await worker.ended).toBe(0)
  })

  it('A process in sandbox mode stays alive while its worker runs', async () => {
    const sandboxed = IN_MEMORY.replace('outbound.js', 'sandboxed.js')
    const worker = await start(`${sandboxed}
      sallyport.worker.start()
      process.once('SIGTERM', () => void sallyport.stop({ graceMs: 100 }).then(() => console.log('stopped')))
      setTimeout(() => console.log('still there'), 300).unref()`)
    await worker.line('still there')
    worker.signal('SIGTERM')
    await worker.line('stopped')
    expect(await worker.ended).toBe(0)
  })

  it('A process stays alive when its worker is started again after a stop', async () => {
    const worker = await start(`${IN_MEMORY}
      sallyport.worker.start()
      await sallyport.stop({ graceMs: 50 })
      process.once('SIGTERM', () => void sallyport.stop())
      sallyport.worker.start()
      await sallyport.dispatch({ eventType: 'order.placed', recipient: 'ada' }, { delayMs: 300 })`)
    await worker.line('Thank you!')
    worker.signal('SIGTERM')
    expect(await worker.ended).toBe(0)
  })

  it('A process stays alive until a stop gives up on a send that never ends', async () => {
    await project.write('memory/hanging.js', OUTBOUND.replace('log: log()', 'log: hanging').concat(HANGING))
    const worker = await start(`${IN_MEMORY.replace('outbound.js', 'hanging.js')}
      process.once('SIGTERM', () => void sallyport.stop({ graceMs: 50 }).then(() => console.log('stopped')))
      sallyport.worker.start()
      await sallyport.dispatch({ eventType: 'order.placed', recipient: 'ada' })`)
    await worker.line('it is being sent')
    worker.signal('SIGTERM')
    await worker.line('stopped')
    expect(await worker.ended).toBe(0)
  })

  it.each([
    ['never starts its worker', ''],
    ['called runDue() once', 'await sallyport.worker.runDue()'],
    [
      'called runDue() once with a delivery due later',
      "await sallyport.dispatch({ eventType: 'order.placed', recipient: 'ada' }, { delayMs: 60_000 }); await sallyport.worker.runDue()",
    ],
    ['has stopped its worker', 'sallyport.worker.start(); sallyport.worker.start(); await sallyport.worker.stop()'],
    ['stops without a start', 'await sallyport.stop({ graceMs: 1_000 })'],
  ])('A process exits by itself when it %s', async (_, program) => {
    expect(await (await start(IN_MEMORY + program)).ended).toBe(0)
  })
})
