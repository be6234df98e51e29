import { CompiledQuery, Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { expect, it } from 'vitest'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'

it('A delivery with a damaged record is logged with its ids, calls onFailed, and is shown as failed', async () => {
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: new Database(':memory:') }) })
  const lines: unknown[] = []
  const failed: unknown[] = []
  const email = recordingChannel()
  const store = sqlStore({ db, dialect: 'sqlite', timeoutMs: UNHURRIED_MS })
  await store.migrate()
  const sallyport = createSallyport({
    ...{ auth: { verify: async () => ({ refused: 'invalid_token' }) }, store, channels: { email } },
    events: defineEvents({ hello: { channels: { email: { text: () => 'Hello' } } } }),
    recipients: { find: async (id) => ({ id, email: 'jane@example.com' }) },
    logger: { log: (level, event, fields) => void lines.push({ level, event, fields }) },
    hooks: { onFailed: (event) => void failed.push(event) },
  })
  const ids: string[] = []
  for (let at = 0; at < 2; at++) {
    const result = await sallyport.dispatch({ eventType: 'hello', recipient: 'jane' })
    if (!result.ok) throw new Error(result.body.code)
    ids.push(result.body.dispatchId)
  }
  const [dispatchId = ''] = ids
  await db.executeQuery(
    CompiledQuery.raw(`update sallyport_states set body = '[{"jane' where dispatch_id = '${dispatchId}'`),
  )
  expect(await sallyport.worker.runDue()).toMatchObject({ sent: 1 })
  const place = { dispatchId, channel: 'email' }
  expect(failed).toMatchObject([{ ...place, status: 'failed', reason: 'record_unreadable' }])
  const line = lines.find((one) => Object(one).event === 'delivery.unreadable')
  expect(line).toMatchObject({ level: 'error', fields: { ...place, detail: expect.stringContaining('doctor') } })
  expect(JSON.stringify(lines)).not.toContain('jane')
  expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({
    status: 'failed',
    deliveries: [{ channel: 'email', status: 'failed', reason: 'record_unreadable' }],
  })
  const { items } = await sallyport.dispatches.list({ reason: 'record_unreadable' })
  expect(items.map((one) => one.dispatchId)).toEqual([dispatchId])
})
