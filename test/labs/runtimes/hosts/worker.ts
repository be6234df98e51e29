import { env } from 'cloudflare:workers'
import { toFetch } from 'sallyport/fetch'
import { backOffice } from './back-office.ts'
import { openShop } from './shop.ts'
import { guardedWebhook, unguardedWebhook } from './webhooks.ts'

const shop = openShop(env)
const tasks = { 'guarded-webhook': guardedWebhook, 'unguarded-webhook': unguardedWebhook }

const worker: { readonly fetch: ReturnType<typeof toFetch> } = {
  fetch: toFetch(shop.sallyport, { notFound: backOffice(shop, tasks) }),
}

// biome-ignore lint/style/noDefaultExport: a worker module needs one
export default worker
