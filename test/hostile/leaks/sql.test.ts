import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { databaseKinds, type TestDatabase } from '../../storage/databases.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { textOf } from './collecting.ts'
import { openTestApp } from './test-app.ts'

/** Columns with a unique index, so that the database refuses a row and quotes it. */
const REFUSALS = [
  { table: 'dispatches', column: 'recipient' },
  { table: 'contents', column: 'body' },
  { table: 'runs', column: 'session_id' },
] as const

/** Wraps a store and records all errors that it throws. */
function recordErrors<Store extends object>(store: Store, thrown: string[]): Store {
  return new Proxy(store, {
    get(target, member) {
      const own: unknown = Reflect.get(target, member)
      if (typeof own !== 'function') return own
      return async (...args: unknown[]) => {
        try {
          return await Reflect.apply(own, target, args)
        } catch (error) {
          thrown.push(textOf(error))
          throw error
        }
      }
    },
  })
}

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`refused rows in ${kind.name}`, async () => {
    const database = kind.absent ? undefined : await kind.open()
    afterAll(() => database?.close())

    it.each(REFUSALS)('A database error that quotes $column of $table stays hidden', async ({ table, column }) => {
      const { dialect } = database as TestDatabase
      const db = (database as TestDatabase).connect()
      const prefix = `${table}_`
      const store = sqlStore({ db, dialect, prefix, timeoutMs: UNHURRIED_MS })
      await store.migrate()
      const thrown: string[] = []
      const app = await openTestApp({ rest: { store: recordErrors(store, thrown) } })
      const { canaries, post, collected, sallyport, clock } = app
      const body = {
        eventType: 'order',
        recipient: `u-${canaries.word('recipient as sent')}`,
        eventData: { note: canaries.word('event data') },
      }
      const run = { sessionId: canaries.word('session id'), run: { tags: [canaries.word('run: content')] } }
      const send = async (): Promise<unknown[]> => [
        await post('dispatch', { body, headers: { 'idempotency-key': canaries.word('idempotency key') } }),
        await post('session_run', { body: { ...run, run: { ...run.run, runId: `r${clock.now()}` } } }),
      ]
      const before = await send()
      expect(before).toMatchObject([{ status: 202 }, { status: 201 }])
      const length = dialect === 'mariadb' && sql.raw('(100)')
      const on = sql`${sql.table(`${prefix}${table}`)} (${sql.ref(column)}${length || sql.raw('')})`
      await sql`create unique index ${sql.ref(`${prefix}own`)} on ${on}`.execute(db)
      clock.advance(1)
      const refused = await send()
      expect(refused).toContainEqual(expect.objectContaining({ status: 503 }))
      await sql`drop table ${sql.table(`${prefix}jobs`)}`.execute(db)
      await send()
      for (const call of [
        () => sallyport.worker.runDue(),
        () => sallyport.dispatches.list({ recipient: body.recipient }),
      ])
        await call().then(
          (given) => collected.keep('call', given),
          (thrown) => collected.keep('call', thrown),
        )
      expect([...collected.events]).toContain('request.failed')
      const quoted = canaries.in(thrown.join('\n'))
      if (dialect !== 'sqlite') expect(quoted).not.toEqual([])
    })
  })
