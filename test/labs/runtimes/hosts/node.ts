import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { toFetch } from 'sallyport/fetch'
import { toNode } from 'sallyport/node'
import { backOffice } from './back-office.ts'
import { tryMemoryStore, trySqliteStore } from './contracts.ts'
import { loadEntries } from './entries.ts'
import { nodeSqlite } from './node-sqlite.ts'
import { openShop } from './shop.ts'
import { guardedWebhook, unguardedWebhook } from './webhooks.ts'

const tasks = {
  entries: loadEntries,
  contracts: tryMemoryStore,
  'sqlite-contracts': async () => trySqliteStore(await nodeSqlite()),
  'guarded-webhook': guardedWebhook,
  'unguarded-webhook': unguardedWebhook,
}

const bare = openShop(process.env)
const mounted = toNode(bare.sallyport)
const own = getRequestListener(backOffice(bare, tasks))
const node = createServer((req, res) => {
  if (req.url?.startsWith('/own/')) void own(req, res)
  else void mounted(req, res)
})

const fetched = openShop(process.env)
const listener = getRequestListener(toFetch(fetched.sallyport, { notFound: backOffice(fetched, tasks) }))
const fetch = createServer((req, res) => void listener(req, res))

console.log(JSON.stringify({ toNode: await listening(node), toFetch: await listening(fetch) }))

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
