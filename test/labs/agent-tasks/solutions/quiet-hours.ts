import { createTransport } from 'nodemailer'
import { createSallyport, defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { quietHours } from 'sallyport/policy'
import { memoryStore } from 'sallyport/storage/memory'
import { fakeClock } from 'sallyport/testing'

const mail = (subject: string) => ({ email: { subject: () => subject, text: () => subject } })

const events = defineEvents({
  'news.published': { channels: mail('news.published') },
  'login.code': { critical: true, channels: mail('login.code') },
})

interface Options {
  readonly smtpPort: number
  readonly now: () => number
}

export function open({ smtpPort, now }: Options): {
  send(eventType: 'news.published' | 'login.code', to: string): Promise<void>
  deliver(): Promise<void>
} {
  const clock = { ...fakeClock(), now }
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
  const { dispatchOrThrow, worker } = createSallyport({
    auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
    events,
    clock,
    store: memoryStore({ clock }),
    channels: { email: email(transport, { from: 'shop@example.com' }) },
    policy: quietHours({ from: '22:00', to: '08:00', timeZone: 'Europe/Vienna' }),
  })
  return {
    async send(eventType, recipient) {
      await dispatchOrThrow({ eventType, recipient })
    },
    async deliver() {
      await worker.runDue()
    },
  }
}
