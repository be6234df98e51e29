// Uses the types of the plugin as a host does. Only compiled, against the installed package too.
import { createSallyport, defineEvents, type HashKey, type SuppressionView } from 'sallyport'
import { log } from 'sallyport/channels/log'
import { resend } from 'sallyport/feedback/resend'
import { consent } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'

const keys: readonly HashKey[] = [{ kid: 'k', key: process.env.HASH_KEY }]
const sallyport = createSallyport({
  auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
  ...{ events: defineEvents({ news: { channels: { log: { text: 'News' } } } }), channels: { log: log() } },
  store: memoryStore(),
  links: { baseUrl: 'https://api.example.com', keys },
  plugins: [
    consent({
      ...{ keys, softBounceMs: 0, feedback: { resend: resend({ channel: 'log', secret: 'whsec_' }) } },
      page: { texts: { sv: { title: 'Avsluta' } } },
    }),
  ],
})

await sallyport.suppressions.add({ channel: 'log', address: 'a@example.com' })
await sallyport.preferences.set('r', { categories: { orders: { log: true } } })
export const suppressed: readonly SuppressionView[] = (await sallyport.suppressions.list({ reason: 'bounced' })).items
