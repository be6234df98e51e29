import { toFetch } from 'sallyport/fetch'
import { backOffice } from './back-office.ts'
import { tryMemoryStore } from './contracts.ts'
import { openShop, type ShopEnvironment } from './shop.ts'
import { guardedWebhook, unguardedWebhook } from './webhooks.ts'

let answer: ReturnType<typeof toFetch> | undefined

/** With `nodejs_compat`. Opened by its first request, because workers get their environment with it. */
// biome-ignore lint/style/noDefaultExport: a worker module needs one
export default {
  fetch(request: Request, env: ShopEnvironment, context: unknown): Promise<Response> {
    answer ??= open(env)
    return answer(request, env, context)
  },
}

function open(env: ShopEnvironment): ReturnType<typeof toFetch> {
  const shop = openShop(env)
  const tasks = { contracts: tryMemoryStore, 'guarded-webhook': guardedWebhook, 'unguarded-webhook': unguardedWebhook }
  return toFetch(shop.sallyport, { notFound: backOffice(shop, tasks) })
}
