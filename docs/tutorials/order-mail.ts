import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { createTransport } from 'nodemailer'
import PostalMime from 'postal-mime'
import { createSallyport, defineEvents, isSallyportError } from 'sallyport'
import { appSecrets, generateAppSecret } from 'sallyport/auth'
import { email } from 'sallyport/channels/email'
import { sqlStore } from 'sallyport/storage/sql'
import { SMTPServer } from 'smtp-server'
import * as v from 'valibot'

interface Order {
  readonly id: string
  readonly customer: string
}

interface Tables {
  readonly orders: Order
  readonly stock: { readonly item: string; readonly pieces: number }
}

const file = new Database(process.env.ORDERS_FILE ?? ':memory:', { timeout: 0 })
file.exec('pragma journal_mode = wal; pragma synchronous = full')
const database: SqliteDatabase = {
  prepare: (sql) => file.prepare(sql),
  close: () => void file.close(),
}
const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
const store = sqlStore({ db, dialect: 'sqlite' })
await store.migrate()
file.exec(`
  create table if not exists orders (id text primary key, customer text not null);
  create table if not exists stock (item text primary key, pieces integer not null);
  insert or replace into stock values ('lamp', 1);
`)

const mailServer = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  async onData(stream, _session, answer) {
    const mail = await PostalMime.parse(await text(stream))
    console.log(`  mail to ${mail.to?.[0]?.address}: ${mail.subject}`)
    answer()
  },
})
mailServer.listen(0, '127.0.0.1')
await once(mailServer.server, 'listening')
const { port } = mailServer.server.address() as AddressInfo

const { sha256 } = await generateAppSecret()
const sallyport = createSallyport({
  auth: appSecrets([{ sha256 }]),
  events: defineEvents({
    'order.placed': {
      data: v.object({ orderId: v.string() }),
      channels: {
        email: {
          subject: ({ data }) => `Your order ${data.orderId}`,
          text: () => 'Thank you! We pack your lamp now.',
        },
      },
    },
  }),
  store,
  channels: {
    email: email(createTransport({ host: '127.0.0.1', port, ignoreTLS: true }), {
      from: 'orders@example.com',
    }),
  },
  logger: { log: () => {} },
})

async function placeOrder(order: Order): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('orders').values(order).execute()
    const event = {
      eventType: 'order.placed',
      recipient: order.customer,
      eventData: { orderId: order.id },
    } as const
    await sallyport.dispatchOrThrow(event, {
      store: store.within(trx),
      idempotencyKey: `order-${order.id}`,
    })
    const lamps = trx.updateTable('stock').where('item', '=', 'lamp').where('pieces', '>', 0)
    const { numUpdatedRows } = await lamps
      .set(({ eb }) => ({ pieces: eb('pieces', '-', 1) }))
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw new Error('the lamp is sold out')
  })
}

async function order(title: string, customer: string): Promise<void> {
  console.log(title)
  await placeOrder({ id: randomUUID(), customer }).catch((error) =>
    console.log(`  ${isSallyportError(error) ? error.code : error.message}`),
  )
  await show()
}

async function show(): Promise<void> {
  const orders = await db.selectFrom('orders').selectAll().execute()
  const { items } = await sallyport.dispatches.list()
  console.log(
    `  orders: ${orders.length}; messages: ${items.map(({ status }) => status).join(', ') || 'none'}`,
  )
}

console.log('What an earlier process has left is sent first')
await sallyport.worker.runDue()
await show()
await order('A refused recipient', 'not an address')
await order('A good order', 'ada@example.com')
if (process.argv[2] === 'crash') process.kill(process.pid, 'SIGKILL')
await order('The second order of the last lamp', 'bob@example.com')

console.log('The worker sends')
await sallyport.worker.runDue()
await show()

await sallyport.stop()
await db.destroy()
mailServer.close()
