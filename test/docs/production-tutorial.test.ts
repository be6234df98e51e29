import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../src/auth/app-secret.ts'
import { MIGRATION_NAMES } from '../../src/storage/sql/tables/migration-names.ts'
import { openPostgresql, type PostgresDatabase } from '../storage/databases.ts'
import { ROOT } from '../support/entries.ts'
import { freePort } from '../support/free-port.ts'
import { postgresUrl } from '../support/postgres-server.ts'
import { type Program, startNode } from '../support/program.ts'
import { postgresPort } from '../support/shared-postgres.ts'
import { until } from '../support/until.ts'
import { codeFile } from './tutorials.ts'

const root = fileURLToPath(ROOT)
const { secret } = await generateAppSecret({ env: 'test' })
const programs: Program[] = []

let database: PostgresDatabase
let admin: pg.Client
let port: number
let base: string
beforeAll(async () => {
  database = await openPostgresql('template1')
  admin = new pg.Client({ connectionString: postgresUrl(await postgresPort()) })
  await admin.connect()
  port = await freePort()
  base = `http://127.0.0.1:${port}`
})
afterAll(async () => {
  for (const program of programs) program.signal('SIGKILL')
  await Promise.all(programs.map(({ ended }) => ended))
  await admin.end()
  await database.close()
})

function start(command: string): Program {
  const env = { DATABASE_URL: database.url, APP_SECRET: secret, PORT: String(port) }
  const program = startNode(['--import', 'tsx', codeFile('production'), command], root, env)
  programs.push(program)
  return program
}

async function health(path: string): Promise<string> {
  const response = await fetch(base + path)
  return `${response.status} ${await response.text()}`
}

const READY = '200 {"store":"ready"}'

async function dispatch(recipient: string): Promise<Response> {
  return fetch(`${base}/api/outbound/dispatch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ eventType: 'order.shipped', recipient }),
  })
}

/** Ends every connection to the database, and lets none in until it is `true` again. */
async function allowConnections(isAllowed: boolean): Promise<void> {
  const name = new URL(database.url).pathname.slice(1)
  await admin.query(`alter database "${name}" allow_connections ${isAllowed}`)
  if (isAllowed) return
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
}

async function connections(): Promise<number> {
  const name = new URL(database.url).pathname.slice(1)
  const { rows } = await admin.query('select count(*)::int as count from pg_stat_activity where datname = $1', [name])
  return rows[0].count
}

describe('the tutorial of production', () => {
  it('A process that needs the tables does not start before the migration', async () => {
    const web = start('web')
    expect(await web.line('The database has no tables of this store')).toContain('npx sallyport migrate')
    expect(await web.ended).toBe(1)
  })

  it('The migration creates the tables once', async () => {
    const first = start('migrate')
    expect([await first.ended, first.lines]).toEqual([0, [`migrated: ${MIGRATION_NAMES.join(', ')}`]])
    const second = start('migrate')
    expect([await second.ended, second.lines]).toEqual([0, ['migrated: nothing to do']])
  })

  it('The web process accepts, the worker sends, and the health checks tell them apart', async () => {
    const web = start('web')
    await web.line('web listens')
    expect(await health('/healthz')).toBe(READY)
    expect(await health('/healthz/delivery')).toBe('503 {"workersAlive":0,"oldestDueMs":0}')

    // An event that was accepted before there is a worker waits for it.
    expect((await dispatch('ada@example.com')).status).toBe(202)
    const worker = start('worker')
    await worker.line('to:       ada@example.com')
    await until(async () => (await health('/healthz/delivery')) === '200 {"workersAlive":1,"oldestDueMs":0}')

    // The loss of the database ends no process.
    await allowConnections(false)
    expect(await health('/healthz')).toBe('503 {"store":"unavailable"}')
    expect(await health('/healthz/delivery')).toBe('503 {"store":"unavailable"}')
    const refused = await dispatch('bob@example.com')
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true])
    await allowConnections(true)
    await until(async () => (await health('/healthz')) === READY)
    expect((await dispatch('eve@example.com')).status).toBe(202)
    await worker.line('to:       eve@example.com')

    worker.signal('SIGTERM')
    expect(await worker.ended).toBe(0)
    expect(await health('/healthz')).toBe(READY)
    expect(await health('/healthz/delivery')).toBe('503 {"workersAlive":0,"oldestDueMs":0}')
    const printed = worker.lines.join('\n')
    expect(printed).toContain("name: 'sallyport.delivery.ended'")
    expect(printed).toContain("name: 'sallyport.worker.alive'")
    expect(printed).toMatch(/"event":"delivery\.sent".*"alert":false/)

    web.signal('SIGTERM')
    expect(await web.ended).toBe(0)
    expect(web.lines.join('\n')).toContain("name: 'sallyport.dispatch.accepted'")
    await until(async () => (await connections()) === 0)
  })

  it('Pruning keeps what is young, and another command is an error', async () => {
    const prune = start('prune')
    expect([await prune.ended, prune.lines]).toEqual([0, ['pruned: 0 dispatches']])
    const unknown = start('serve')
    await unknown.line('usage: production.ts migrate | prune | web | worker')
    expect(await unknown.ended).toBe(1)
  })
})
