import { createTransport } from 'nodemailer'
import { createSallyport, defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { memoryStore } from 'sallyport/storage/memory'
import { fakeClock } from 'sallyport/testing'
import * as v from 'valibot'

const events = defineEvents({
  'comment.added': {
    data: v.object({ post: v.string(), author: v.string() }),
    digest: { windowMs: 600_000, key: ({ data }) => data.post },
    channels: {
      email: {
        subject: ({ data, events }) => `${events.length} comments on ${data.post}`,
        text: ({ events }) => events.map(({ author }) => `${author} commented`).join('\n'),
      },
    },
  },
})

interface Options {
  readonly smtpPort: number
  readonly now: () => number
}

export function open({ smtpPort, now }: Options): {
  comment(comment: { post: string; author: string; to: string }): Promise<void>
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
  })
  return {
    async comment({ to, ...eventData }) {
      await dispatchOrThrow({ eventType: 'comment.added', recipient: to, eventData })
    },
    async deliver() {
      await worker.runDue()
    },
  }
}
