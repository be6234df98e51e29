import { createTransport } from 'nodemailer'
import * as v from 'valibot'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { appSecrets, generateAppSecret } from '../../../src/auth/index.ts'
import { email } from '../../../src/channels/email.ts'
import { jsonLogic } from '../../../src/engines/json-logic.ts'
import { liquid } from '../../../src/engines/liquid.ts'
import { createSallyport, defineEvents } from '../../../src/index.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { openSqlite } from '../../storage/databases.ts'

const HOST = 'http://localhost'

interface SqliteHost {
  /** Its operations, by name. */
  readonly works: Readonly<Record<string, () => Promise<unknown>>>
  close(): Promise<void>
}

/**
 * A host on SQLite with one operation of each kind. Each has run once before, so that nothing is initialised during the
 * measurement.
 */
export async function sqliteHost(): Promise<SqliteHost> {
  const database = await openSqlite()
  const store = sqlStore({ db: database.connect(), dialect: 'sqlite' })
  await store.migrate()
  const { secret } = await generateAppSecret({ env: 'figures' })
  const sallyport = createSallyport({
    auth: appSecrets([secret]),
    store,
    channels: { email: email(createTransport({ jsonTransport: true }), { from: 'shop@example.com' }) },
    events: defineEvents(
      {
        'order.shipped': {
          data: v.object({ orderId: v.string(), total: v.number() }),
          channels: {
            email: {
              when: { '>': [{ var: 'data.total' }, 0] },
              subject: 'Order {{ data.orderId }}',
              text: 'On its way.',
            },
          },
        },
      },
      { templates: liquid(), conditions: jsonLogic() },
    ),
    logger: { log() {} },
  })
  const handle = toFetch(sallyport)

  async function post(path: string, body: unknown): Promise<void> {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const answer = await handle(new Request(HOST + path, { method: 'POST', headers, body: JSON.stringify(body) }))
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
    await answer.text()
  }

  const dispatch = {
    eventType: 'order.shipped',
    recipient: 'ada@example.com',
    eventData: { orderId: 'A-1', total: 12 },
  }
  const run = (runId: string) => ({
    sessionId: 'session-1',
    run: { runId, status: 'completed', model: 'claude-sonnet-4-5' },
  })
  const works: SqliteHost['works'] = {
    dispatch: () => post('/api/outbound/dispatch', dispatch),
    'run post': () => post('/api/agents/session/run', run('run-2')),
    delivery: () => sallyport.worker.runDue(),
  }
  await works.dispatch?.()
  await post('/api/agents/session/run', run('run-1'))
  await works.delivery?.()
  return { works, close: () => database.close() }
}
