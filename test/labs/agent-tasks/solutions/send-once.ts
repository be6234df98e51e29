import { createTransport } from 'nodemailer'
import { createSallyport, defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { memoryStore } from 'sallyport/storage/memory'
import * as v from 'valibot'

const events = defineEvents({
  'invoice.due': {
    data: v.object({ invoice: v.string() }),
    channels: { email: { subject: ({ data }) => `Invoice ${data.invoice}`, text: () => 'It is due.' } },
  },
})

export function open({ smtpPort }: { readonly smtpPort: number }): {
  remind(invoice: string, to: string): Promise<{ repeated: boolean }>
  deliver(): Promise<void>
} {
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
  const { dispatchOrThrow, worker } = createSallyport({
    auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
    events,
    store: memoryStore(),
    channels: { email: email(transport, { from: 'shop@example.com' }) },
  })
  return {
    async remind(invoice, recipient) {
      const event = { eventType: 'invoice.due', recipient, eventData: { invoice } } as const
      const { duplicate } = await dispatchOrThrow(event, { idempotencyKey: `invoice-${invoice}` })
      return { repeated: duplicate }
    },
    async deliver() {
      await worker.runDue()
    },
  }
}
