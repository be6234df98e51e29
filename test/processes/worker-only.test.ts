import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../src/auth/app-secret.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { createSallyport } from '../../src/sallyport/create-sallyport.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { type PostgresServer, postgresServer } from '../queues/postgres-server.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { documented } from '../support/documented.ts'
import { type RecipeProject, recipeProject } from '../support/recipe-project.ts'

const PAGE = 'docs/operating.md'
const LOSSES = 20
const { secret } = await generateAppSecret({ env: 'test' })

let project: RecipeProject
beforeAll(async () => {
  project = await recipeProject()
}, 120_000)
afterAll(() => project.remove())

/** As the guide has it, but that it looks more often. */
const OUTBOUND = documented(PAGE, '// outbound.ts').replace('channels: { log: log() },', '$& worker: { pollMs: 50 },')

/** Its queue reconnects by a timer of its own, which may keep a process alive where the worker does not. */
const STORAGE = documented(PAGE, 'postgresQueue({')

describe.each([
  ['that its queue wakes', STORAGE],
  ['that looks by itself', STORAGE.replace('{ store, queue, open', '{ store, open')],
])('a process that works and does not serve, %s,', (_, storage) => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await postgresServer()
  })
  afterAll(() => server.remove())

  it(`lives through ${LOSSES} losses of its database, delivers after each, and ends at SIGTERM`, async () => {
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

  /** Accepts events in this process, as often as it takes after a loss. */
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

/** A worker over a store in memory, in a process that has nothing else to do. */
const IN_MEMORY = `
import { outbound } from './outbound.js'
import { storage } from './storage.js'
const sallyport = outbound(storage, process.env.APP_SECRET)
`

/** A channel that never ends, and keeps nothing alive. */
const HANGING = `
const hanging = {
  address: ({ id }) => id,
  send() {
    console.log('it is being sent')
    return new Promise(() => {})
  },
}
`

describe('a process over a store in memory', () => {
  beforeAll(async () => {
    await project.write('memory/outbound.js', OUTBOUND)
    await project.write('memory/sandboxed.js', OUTBOUND.replace('worker: {', 'sandbox: true, $&'))
    await project.write('memory/storage.js', documented(PAGE, 'export const storage = { store: memoryStore()'))
  })

  const start = async (program: string) => {
    await project.write('memory/main.js', program)
    return project.start('memory/main.js', { APP_SECRET: secret })
  }

  it('stays for what is due later, and ends once the worker was stopped', async () => {
    const worker = await start(`${IN_MEMORY}
      process.once('SIGTERM', () => void sallyport.stop())
      sallyport.worker.start()
      await sallyport.dispatch({ eventType: 'order.placed', recipient: 'ada' }, { delayMs: 300 })`)
    await worker.line('Thank you!')
    worker.signal('SIGTERM')
    expect(await worker.ended).toBe(0)
  })

  it('stays where it only records runs and looks for stale ones', async () => {
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

  it('stays in sandbox mode too', async () => {
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

  it('stays when it was started again after a stop', async () => {
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

  it('stays for a stop that waits for a send which never ends', async () => {
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
    ['had it run once', 'await sallyport.worker.runDue()'],
    [
      'had it run once with something due later',
      "await sallyport.dispatch({ eventType: 'order.placed', recipient: 'ada' }, { delayMs: 60_000 }); await sallyport.worker.runDue()",
    ],
    ['has stopped it', 'sallyport.worker.start(); sallyport.worker.start(); await sallyport.worker.stop()'],
    ['has stopped without a start', 'await sallyport.stop({ graceMs: 1_000 })'],
  ])('ends by itself when it %s', async (_, program) => {
    expect(await (await start(IN_MEMORY + program)).ended).toBe(0)
  })
})
