import { createTransport } from 'nodemailer'
import { createSallyport, defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { liquid } from 'sallyport/liquid'
import { memoryStore } from 'sallyport/storage/memory'
import * as v from 'valibot'

const events = defineEvents(
  {
    'order.shipped': {
      data: v.object({ orderId: v.string(), name: v.string() }),
      channels: {
        email: {
          subject: 'Order {{ data.orderId }} is on its way',
          html: '<p>Hello {{ data.name }}</p>',
          locales: {
            de: { subject: 'Bestellung {{ data.orderId }} ist unterwegs', html: '<p>Hallo {{ data.name }}</p>' },
          },
        },
      },
    },
  },
  { templates: liquid() },
)

export interface User {
  readonly id: string
  readonly email: string
  readonly locale: string
}

interface Options {
  readonly smtpPort: number
  readonly users: readonly User[]
}

export function open({ smtpPort, users }: Options): {
  ship(userId: string, data: { orderId: string; name: string }): Promise<void>
  deliver(): Promise<void>
} {
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
  const { dispatchOrThrow, worker } = createSallyport({
    auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
    events,
    store: memoryStore(),
    recipients: { find: async (id) => users.find((user) => user.id === id) },
    channels: { email: email(transport, { from: 'shop@example.com' }) },
  })
  return {
    async ship(recipient, eventData) {
      await dispatchOrThrow({ eventType: 'order.shipped', recipient, eventData })
    },
    async deliver() {
      await worker.runDue()
    },
  }
}
