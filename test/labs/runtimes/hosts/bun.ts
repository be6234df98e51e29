import { Database } from 'bun:sqlite'
import { toFetch } from 'sallyport/fetch'
import { backOffice } from './back-office.ts'
import { tryMemoryStore, trySqliteStore } from './contracts.ts'
import { loadEntries } from './entries.ts'
import { openShop } from './shop.ts'
import { fitting } from './sqlite.ts'
import { guardedWebhook, unguardedWebhook } from './webhooks.ts'

interface BunServer {
  readonly port: number
}

/** The part that is used. */
declare const Bun: {
  serve(options: {
    readonly hostname: string
    readonly port: number
    readonly fetch: (request: Request) => Promise<Response>
  }): BunServer
}

const shop = openShop(process.env)
const notFound = backOffice(shop, {
  entries: loadEntries,
  contracts: tryMemoryStore,
  'sqlite-contracts': () =>
    trySqliteStore(() => fitting(new Database(':memory:'), (statement) => statement.columnNames.length)),
  'guarded-webhook': guardedWebhook,
  'unguarded-webhook': unguardedWebhook,
})

const { port } = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: toFetch(shop.sallyport, { notFound }) })
console.log(JSON.stringify({ toFetch: port }))
