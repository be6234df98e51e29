import assert from 'node:assert/strict'
import { createSallyport, defineEvents } from 'sallyport'
import { webhook } from 'sallyport/channels/webhook'
import { memoryStore } from 'sallyport/storage/memory'
import { Webhook } from 'standardwebhooks'
import { type Task, task } from '../task.ts'

interface Received {
  readonly id: string
  readonly type: string
  readonly data: unknown
}

interface Solution {
  receive(secret: string, headers: Readonly<Record<string, string>>, body: string): Received | undefined
}

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

export const verifyWebhook: Task = task<Solution>(
  'verify-webhook',
  `
\`\`\`ts
export function receive(
  secret: string,
  headers: Record<string, string>,
  body: string,
): { id: string; type: string; data: unknown } | undefined
\`\`\`

Your program receives webhooks that another company sends by sallyport. \`secret\` begins with \`whsec_\`, the names of \`headers\`
are in lower case, and \`body\` is the raw text of the request.
\`receive\` gives the event type, the event's data, and the id by which you can recognise a repeated request.
It gives \`undefined\` if the body was changed, a header is missing, the signature was made with another secret, or the request is an
hour old.
`,
  async ({ receive }, { httpServer }) => {
    const target = await httpServer(() => ({ status: 204 }))
    const { dispatchOrThrow, worker } = createSallyport({
      auth: { verify: async () => ({ id: 'test', tenant: 'default' }) },
      store: memoryStore(),
      events: defineEvents({ 'order.shipped': { channels: { webhook: {} } } }),
      channels: { webhook: webhook({ secret: SECRET, allowHttp: true, allowPrivateNetworks: true }) },
      recipients: { find: async (id) => ({ id, url: target.url }) },
    })
    await dispatchOrThrow({ eventType: 'order.shipped', recipient: 'shop_7', eventData: { orderId: 'A-1' } })
    await worker.runDue()
    const [request] = target.requests
    assert.ok(request)
    const headers = request.headers as Record<string, string>
    const { body } = request
    const id = `${headers['webhook-id']}`
    assert.deepEqual(receive(SECRET, headers, body), { id, type: 'order.shipped', data: { orderId: 'A-1' } })
    assert.equal(receive(SECRET, headers, body.replace('A-1', 'A-2')), undefined, 'a changed body')
    assert.equal(receive(`whsec_${Buffer.alloc(32, 2).toString('base64')}`, headers, body), undefined, 'another secret')
    const { 'webhook-signature': _, ...unsigned } = headers
    assert.equal(receive(SECRET, unsigned, body), undefined, 'no signature')
    const at = new Date(Date.now() - 3_600_000)
    const old = {
      'webhook-id': id,
      'webhook-timestamp': `${Math.floor(at.getTime() / 1_000)}`,
      'webhook-signature': new Webhook(SECRET).sign(id, at, body),
    }
    assert.equal(receive(SECRET, old, body), undefined, 'an hour old')
  },
)
