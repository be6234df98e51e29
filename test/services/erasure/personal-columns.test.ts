import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import { handleSessionRunWithDefaults } from '../../../src/compose/defaults.ts'
import type { Column } from '../../../src/storage/engine/columns.ts'
import {
  isShared,
  STATE_MEMBERS,
  type StoredDelivery,
  type StoredEntry,
} from '../../../src/storage/engine/dispatches/stored-deliveries.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { TABLES, type Table } from '../../../src/storage/sql/tables/tables.ts'
import { databaseKinds } from '../../storage/databases.ts'
import { acceptance, delivery, HOUR } from '../../storage/storing.ts'
import { countingIds } from '../../support/deps.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { eraseAll, erasureApp, fill, PERSON, secretsIn } from './erasing.ts'

/** Text columns without data of a person: ids, names that a host gives, states, totals. Every text column is here, or is declared personal. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  dispatches: ['dispatch_id', 'tenant', 'made_by', 'event_type', 'session_id', 'route', 'plugins'],
  states: ['dispatch_id', 'outcomes'],
  contents: ['delivery_id', 'dispatch_id'],
  jobs: ['delivery_id', 'dispatch_id', 'tenant', 'channel', 'waits_for', 'fence', 'begun'],
  listed: ['tenant', 'status', 'dispatch_id'],
  digests: ['delivery_id'],
  members: ['delivery_id', 'dispatch_id'],
  plan_sources: ['dispatch_id'],
  idempotency_keys: ['tenant', 'name', 'fingerprint'],
  counters: ['tenant', 'times'],
  sessions: ['tenant', 'session_id', 'totals'],
  runs: ['tenant', 'session_id', 'run_id', 'parent_run_id', 'status', 'provider', 'model', 'derived'],
  run_tags: ['tenant', 'session_id', 'run_id'],
  run_sums: ['tenant', 'session_id', 'run_id'],
  spends: ['tenant', 'spend'],
  revocations: ['tenant', 'covers', 'covered'],
  plugin_records: ['kind', 'tenant', 'key', 'a', 'b', 'c', 'd'],
}

const COLUMNS = Object.entries<Table>(TABLES).flatMap(([table, { columns }]) =>
  Object.entries<Column>(columns).map(([column, { kind, personal = false }]) => ({ table, column, kind, personal })),
)
/** Plugins keep what is theirs, so tests of each tell what its records hold. */
const OF_PLUGINS = 'plugin_records.body'
const PERSONAL = COLUMNS.filter(({ personal }) => personal)
  .map(({ table, column }) => `${table}.${column}`)
  .filter((name) => name !== OF_PLUGINS)
const PERSONAL_MEMBERS = Object.entries(STATE_MEMBERS).flatMap(([name, is]) => (is === 'personal' ? [name] : []))

describe('personal columns', () => {
  it('Each text column is declared personal, or listed as without data of a person', () => {
    const texts = COLUMNS.filter(({ kind, personal }) => ['key', 'text', 'json', 'list'].includes(kind) && !personal)
    const listed = Object.entries(OTHERS).flatMap(([table, names]) => names.map((name) => `${table}.${name}`))
    expect(texts.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(listed.sort())
  })
})

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`personal columns in ${kind.name}`, () => {
    it('Data of a person is in personal columns and members alone, and an erasure removes it', async () => {
      const database = await kind.open()
      const db = database.connect()
      const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
      const store = sqlStore({ db, dialect: kind.name, clock, timeoutMs: UNHURRIED_MS })
      const app = erasureApp(store, clock)
      await fill(app)
      await recordRuns(store, clock)
      // The app's policy and condition leave none of these.
      const limits = [{ key: PERSON.id, max: 100, windowMs: HOUR }]
      const trace = [{ rule: '==', path: 'data.street', actual: 'Lovelace Road', result: true }]
      const deliveries = [
        delivery('limited-a', { deferred: true, delayMs: HOUR, trace }),
        delivery('limited-b', { status: 'held', limits }),
      ]
      await store.accept(acceptance('limited', { recipient: PERSON.id, route: 'first', deliveries }))

      const before = await found()
      expect([...before.columns].filter((name) => name !== OF_PLUGINS).sort()).toEqual([...PERSONAL].sort())
      expect([...before.members].sort()).toEqual([...PERSONAL_MEMBERS].sort())
      await eraseAll(app)
      await app.sallyport.runs.erase({ userId: PERSON.id })
      const after = await found()
      expect([...after.columns, ...after.members]).toEqual([])
      expect(after.text).toContain('grace')
      await app.sallyport.stop({ graceMs: 0 })
      await database.close()

      /** The columns of all tables of the database, and the members of states, that hold data of the person. */
      async function found() {
        const columns = new Set<string>()
        const members = new Set<string>()
        let text = ''
        const tables = await db.introspection.getTables()
        for (const { name } of tables) {
          const { rows } = await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(`select * from ${name}`))
          for (const [column, value] of rows.flatMap((row) => Object.entries(row))) {
            text += `${value}\n`
            const short = `${name.replace('sallyport_', '')}.${column}`
            if (secretsIn(String(value)).length > 0) columns.add(short)
            if (short === 'states.body' || short === 'digests.body')
              for (const one of membersIn(String(value))) members.add(one)
          }
        }
        expect(tables.length).toBe(Object.keys(TABLES).length + 1)
        return { columns, members, text }
      }
    })
  })

function membersIn(body: string): readonly string[] {
  const read: StoredDelivery | readonly StoredEntry[] = JSON.parse(body)
  const entries = (Array.isArray(read) ? read : [read]).filter((entry) => !isShared(entry))
  return entries.flatMap((entry) =>
    Object.entries(entry).flatMap(([name, value]) => (secretsIn(JSON.stringify(value)).length > 0 ? [name] : [])),
  )
}

/** Runs of the person and of the person's agent, and of another. */
async function recordRuns(store: ReturnType<typeof sqlStore>, clock: FakeClock): Promise<void> {
  const deps = { clock, ids: countingIds(), logger: { log() {} }, store }
  async function record(userId: string | undefined, run: object): Promise<void> {
    const principal = { id: 'app', tenant: 'default', ...(userId !== undefined && { sessionId: 's1', userId }) }
    const auth = { verify: async () => principal }
    const post = { headers: { authorization: 'Bearer app' }, body: { sessionId: 's1', run } }
    const { status, body } = await handleSessionRunWithDefaults(post, { ...deps, auth })
    expect([[200, 201].includes(status), body]).toEqual([true, expect.anything()])
  }
  const usage = { inputTokens: 10 }
  await record(undefined, { runId: 'r1', status: 'running', userId: 'grace' })
  const own = { userId: PERSON.id, tags: ['Ada King'], metadata: { name: 'Ada King' }, usage }
  await record(undefined, { runId: 'r2', parentRunId: 'r1', status: 'failed', ...own })
  await record(PERSON.id, { runId: 'r3', status: 'completed', usage })
  await record(undefined, { runId: 'r4', status: 'running', userId: 'grace' })
  await record(PERSON.id, { runId: 'r4', status: 'running' })
}
