import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTransport } from 'nodemailer'
import { createSallyport, defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { toNode } from 'sallyport/node'
import { consent } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'

const events = defineEvents({
  'issue.published': {
    category: 'newsletter',
    channels: { email: { subject: () => 'News', text: ({ links }) => `Unsubscribe: ${links?.unsubscribe}` } },
  },
})

export async function start({ smtpPort }: { readonly smtpPort: number }): Promise<{
  url: string
  sendNews(to: string): Promise<void>
  deliver(): Promise<void>
  stop(): Promise<void>
}> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const keys = [{ kid: '1', key: crypto.getRandomValues(new Uint8Array(32)) }]
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
  const sallyport = createSallyport({
    auth: { verify: async () => ({ refused: 'invalid_token' }) },
    events,
    store: memoryStore(),
    channels: { email: email(transport, { from: 'shop@example.com' }) },
    links: { baseUrl: url, keys },
    plugins: [consent({ keys })],
  })
  server.on('request', toNode(sallyport))
  return {
    url,
    async sendNews(recipient) {
      await sallyport.dispatchOrThrow({ eventType: 'issue.published', recipient })
    },
    async deliver() {
      await sallyport.worker.runDue()
    },
    async stop() {
      await sallyport.stop()
      server.close()
    },
  }
}
