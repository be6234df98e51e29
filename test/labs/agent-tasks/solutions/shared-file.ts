import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { createTransport } from 'nodemailer'
import { createSallyport, defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { sqlStore } from 'sallyport/storage/sql'

const events = defineEvents({
  welcome: { channels: { email: { subject: () => 'Welcome', text: () => 'Welcome' } } },
})

interface Options {
  readonly file: string
  readonly smtpPort: number
}

export async function open({ file, smtpPort }: Options): Promise<{
  accept(to: string): Promise<void>
  work(): void
  close(): Promise<void>
}> {
  const database = new Database(file, { timeout: 0 })
  database.exec('pragma journal_mode = wal')
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) })
  const store = sqlStore({ db, dialect: 'sqlite' })
  await store.migrate()
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
  const sallyport = createSallyport({
    auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
    events,
    store,
    channels: { email: email(transport, { from: 'shop@example.com' }) },
  })
  return {
    async accept(recipient) {
      await sallyport.dispatchOrThrow({ eventType: 'welcome', recipient })
    },
    work: () => sallyport.worker.start(),
    async close() {
      await sallyport.stop()
      await db.destroy()
    },
  }
}
