import { createTransport } from 'nodemailer'
import { createSallyport, defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { memoryStore } from 'sallyport/storage/memory'
import { fakeClock } from 'sallyport/testing'

const events = defineEvents({ hello: { channels: { email: { subject: () => 'Hello', text: () => 'Hello' } } } })

interface Options {
  readonly smtpPort: number
  readonly now: () => number
}

export function open({ smtpPort, now }: Options): {
  send(to: string): Promise<void>
  deliver(): Promise<void>
  retryFailed(since: Date): Promise<number>
} {
  const clock = { ...fakeClock(), now }
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, ignoreTLS: true })
  const { dispatchOrThrow, dispatches, worker } = createSallyport({
    auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
    events,
    clock,
    store: memoryStore({ clock }),
    channels: { email: email(transport, { from: 'shop@example.com' }) },
  })
  return {
    async send(recipient) {
      await dispatchOrThrow({ eventType: 'hello', recipient })
    },
    async deliver() {
      await worker.runDue()
    },
    async retryFailed(since) {
      let count = 0
      for (let cursor: string | undefined; ; ) {
        const page = await dispatches.list({ status: 'failed', since, ...(cursor && { cursor }) })
        for (const { dispatchId } of page.items) await dispatches.retry(dispatchId)
        count += page.items.length
        cursor = page.nextCursor
        if (cursor === undefined) return count
      }
    },
  }
}
