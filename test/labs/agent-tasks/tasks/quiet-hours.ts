import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  open(options: { smtpPort: number; now: () => number }): {
    send(eventType: 'news.published' | 'login.code', to: string): Promise<void>
    deliver(): Promise<void>
  }
}

export const quietHours: Task = task<Solution>(
  'quiet-hours',
  `
\`\`\`ts
export function open(options: { smtpPort: number; now: () => number }): {
  send(eventType: 'news.published' | 'login.code', to: string): Promise<void>
  deliver(): Promise<void>
}
\`\`\`

\`send\` mails an event to the address \`to\`. The subject is the event type.
Nobody gets mail between 22:00 and 08:00 in Vienna (\`Europe/Vienna\`). A mail of this time goes out at 08:00.
Login codes cannot wait: they are sent at once, at any time.
`,
  async ({ open }, { mailServer, time }) => {
    const smtp = await mailServer()
    const clock = time('2026-11-21T20:59:00Z')
    const { send, deliver } = open({ smtpPort: smtp.port, now: clock.now })
    const subjects = () => smtp.mails.map(({ subject }) => subject)
    await send('news.published', 'ada@example.com')
    await deliver()
    assert.deepEqual(subjects(), ['news.published'], 'one minute before the quiet hours')
    clock.advance(2 * 60_000)
    await send('news.published', 'bob@example.com')
    await send('login.code', 'bob@example.com')
    await deliver()
    assert.deepEqual(subjects(), ['news.published', 'login.code'])
    clock.advance(9.5 * 3_600_000)
    await deliver()
    assert.equal(smtp.mails.length, 2)
    clock.advance(3_600_000)
    await deliver()
    assert.deepEqual(subjects(), ['news.published', 'login.code', 'news.published'])
  },
)
