import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTransport } from 'nodemailer'
import { createSallyport, defineEvents, isSallyportError } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { toNode } from 'sallyport/node'
import { approvals } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'

const events = defineEvents({
  'refund.approval': {
    critical: true,
    channels: { email: { subject: () => 'Refund?', text: ({ links }) => `Answer: ${links?.answer}` } },
  },
})

interface Options {
  readonly smtpPort: number
  readonly pay: (orderId: string, amount: number) => Promise<void>
}

export async function start({ smtpPort, pay }: Options): Promise<{
  url: string
  refund(orderId: string, amount: number): Promise<'refunded' | 'declined'>
  stop(): Promise<void>
}> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
  const sallyport = createSallyport({
    auth: { verify: async () => ({ refused: 'invalid_token' }) },
    events,
    store: memoryStore(),
    channels: { email: email(transport, { from: 'shop@example.com' }) },
    links: { baseUrl: url, keys: [{ kid: '1', key: crypto.getRandomValues(new Uint8Array(32)) }] },
    plugins: [approvals({ events: { 'refund.approval': { approvers: () => ['boss@example.com'] } } })],
  })
  server.on('request', toNode(sallyport))
  sallyport.worker.start()
  return {
    url,
    async refund(orderId, amount) {
      const runId = `refund-${orderId}`
      const of = { sessionId: 'refunds', approvalId: runId }
      const action = { name: 'refund', args: { orderId, amount } }
      const message = `Refund ${amount} for the order ${orderId}?`
      await sallyport.approvals.request({ ...of, runId, eventType: 'refund.approval', message, action })
      const { status } = await sallyport.approvals.wait(of)
      if (status !== 'accepted') return 'declined'
      try {
        // One use takes the action; the uses of all other calls are refused.
        await sallyport.approvals.consume({ ...of, action, useId: crypto.randomUUID() })
      } catch (error) {
        if (isSallyportError(error) && error.code === 'approval_consumed') return 'refunded'
        throw error
      }
      await pay(orderId, amount)
      return 'refunded'
    },
    async stop() {
      await sallyport.stop()
      server.close()
    },
  }
}
