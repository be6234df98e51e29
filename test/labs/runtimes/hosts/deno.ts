import { toFetch } from 'sallyport/fetch'
import { backOffice } from './back-office.ts'
import { tryMemoryStore, trySqliteStore } from './contracts.ts'
import { loadEntries } from './entries.ts'
import { nodeSqlite } from './node-sqlite.ts'
import { openShop } from './shop.ts'
import { guardedWebhook, unguardedWebhook } from './webhooks.ts'

interface ServeOptions {
  readonly hostname: string
  readonly port: number
  readonly onListen: (address: { readonly port: number }) => void
}

/** The part that is used. */
declare const Deno: {
  readonly env: { get(name: string): string | undefined }
  serve(options: ServeOptions, handler: (request: Request) => Promise<Response>): unknown
}

const shop = openShop({ APP_SECRET: Deno.env.get('APP_SECRET'), SESSION_KEYS: Deno.env.get('SESSION_KEYS') })
const notFound = backOffice(shop, {
  entries: loadEntries,
  contracts: tryMemoryStore,
  'sqlite-contracts': async () => trySqliteStore(await nodeSqlite()),
  'guarded-webhook': guardedWebhook,
  'unguarded-webhook': unguardedWebhook,
})

const onListen = ({ port }: { readonly port: number }) => console.log(JSON.stringify({ toFetch: port }))
Deno.serve({ hostname: '127.0.0.1', port: 0, onListen }, toFetch(shop.sallyport, { notFound }))
