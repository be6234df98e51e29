import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  open(options: { smtpPort: number; now: () => number }): {
    send(to: string): Promise<void>
    deliver(): Promise<void>
    retryFailed(since: Date): Promise<number>
  }
}

/** More than a page of a list. */
const COUNT = 60

export const retryFailed: Task = task<Solution>(
  'retry-failed',
  `
\`\`\`ts
export function open(options: { smtpPort: number; now: () => number }): {
  send(to: string): Promise<void>
  deliver(): Promise<void>
  retryFailed(since: Date): Promise<number>
}
\`\`\`

\`send\` mails \`Hello\` to the address \`to\`. A mail fails for good if the server refuses it with 550.
\`retryFailed\` lets sallyport try again each dispatch that was accepted at \`since\` or later and has failed, however many there are.
It resolves to their number. The next \`deliver\` sends them.
Dispatches that were sent, or that were accepted earlier, are left alone.
`,
  async ({ open }, { mailServer, time }) => {
    const smtp = await mailServer()
    const clock = time('2026-11-21T12:00:00Z')
    const { send, deliver, retryFailed } = open({ smtpPort: smtp.port, now: clock.now })
    const deliverAll = async () => {
      for (let n = 0; n < 3; n++) await deliver()
    }
    await send('sent@example.com')
    await deliver()
    smtp.reply = 550
    await send('earlier@example.com')
    await deliver()
    clock.advance(3_600_000)
    const since = new Date(clock.now())
    for (let n = 1; n <= COUNT; n++) await send(`user-${n}@example.com`)
    await deliverAll()
    assert.equal(smtp.mails.length, 1)
    smtp.reply = undefined
    assert.equal(await retryFailed(since), COUNT)
    await deliverAll()
    const to = new Set(smtp.mails.map((mail) => mail.to))
    assert.equal(to.size, COUNT + 1)
    assert.equal(smtp.mails.length, COUNT + 1)
    assert.ok(!to.has('earlier@example.com'))
  },
)
