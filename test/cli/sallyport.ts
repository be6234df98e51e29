import process from 'node:process'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { everyPlugin } from '../support/every-plugin.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { rejectingChannel } from './rejecting-channel.ts'

/** The module of a host: a Sallyport over the SQLite file of an environment variable. Every mail is rejected. */
export const sallyport = (): Sallyport<unknown> => {
  const db = new Kysely<unknown>({
    dialect: new SqliteDialect({ database: new Database(process.env.CLI_TEST_FILE ?? '') }),
  })
  return createSallyport<unknown>({
    auth: { verify: async () => ({ refused: 'invalid_token' }) },
    events: defineEvents({ hello: { channels: { email: { subject: () => 'Hello', text: () => 'Hello' } } } }),
    store: sqlStore({
      db,
      dialect: 'sqlite',
      timeoutMs: UNHURRIED_MS,
      clock: { now: () => Date.now() + Number(process.env.CLI_TEST_AHEAD_MS ?? 0) },
    }),
    channels: { email: rejectingChannel },
    recipients: { find: async (id) => ({ id, email: 'jane@example.com' }) },
    logger: { log() {} },
    plugins: [...everyPlugin(), { name: 'present', setup: () => ({}) }],
  })
}
