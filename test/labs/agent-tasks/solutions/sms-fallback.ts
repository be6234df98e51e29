import { createTransport } from 'nodemailer'
import { createSallyport, defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { sms } from 'sallyport/channels/sms'
import { memoryStore } from 'sallyport/storage/memory'

export interface User {
  readonly id: string
  readonly email: string
  readonly phone: string
}

const text = () => 'Your table is ready'

const events = defineEvents({
  'table.ready': { route: 'first', channels: { email: { subject: text, text }, sms: { text } } },
})

interface Options {
  readonly smtpPort: number
  readonly smsUrl: string
}

export function open({ smtpPort, smsUrl }: Options): {
  notify(user: User): Promise<void>
  deliver(): Promise<void>
} {
  const users = new Map<string, User>()
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
  const { dispatchOrThrow, worker } = createSallyport({
    auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
    events,
    store: memoryStore(),
    recipients: { find: async (id) => users.get(id) },
    channels: {
      email: email(transport, { from: 'shop@example.com' }),
      sms: sms({ accountSid: 'AC1', authToken: 'secret', from: '+15005550006', baseUrl: smsUrl }),
    },
  })
  return {
    async notify(user) {
      users.set(user.id, user)
      await dispatchOrThrow({ eventType: 'table.ready', recipient: user.id })
    },
    async deliver() {
      await worker.runDue()
    },
  }
}
