import { Kysely, SqliteDialect, sql } from 'kysely'
import Database from 'libsql'
import { createTransport } from 'nodemailer'
import { createSallyport, defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { sqlStore } from 'sallyport/storage/sql'
import * as v from 'valibot'

interface Order {
  readonly id: string
  readonly email: string
}

const events = defineEvents({
  'order.placed': {
    data: v.object({ id: v.string() }),
    channels: { email: { subject: ({ data }) => `Order ${data.id}`, text: () => 'Thank you' } },
  },
})

interface Options {
  readonly file: string
  readonly smtpPort: number
}

export async function open({ file, smtpPort }: Options): Promise<{
  placeOrder(order: Order): Promise<void>
  deliver(): Promise<void>
  close(): Promise<void>
}> {
  const db = new Kysely<{ orders: Order }>({ dialect: new SqliteDialect({ database: new Database(file) }) })
  const store = sqlStore({ db, dialect: 'sqlite' })
  await store.migrate()
  await sql`create table if not exists orders (id text primary key, email text)`.execute(db)
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
  const { dispatchOrThrow, worker } = createSallyport({
    auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
    events,
    store,
    channels: { email: email(transport, { from: 'shop@example.com' }) },
  })
  return {
    placeOrder: (order) =>
      db.transaction().execute(async (trx) => {
        await trx.insertInto('orders').values(order).execute()
        const event = { eventType: 'order.placed', recipient: order.email, eventData: { id: order.id } } as const
        await dispatchOrThrow(event, { store: store.within(trx) })
      }),
    async deliver() {
      await worker.runDue()
    },
    close: () => db.destroy(),
  }
}
