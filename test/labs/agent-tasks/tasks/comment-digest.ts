import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  open(options: { smtpPort: number; now: () => number }): {
    comment(comment: { post: string; author: string; to: string }): Promise<void>
    deliver(): Promise<void>
  }
}

export const commentDigest: Task = task<Solution>(
  'comment-digest',
  `
\`\`\`ts
export function open(options: { smtpPort: number; now: () => number }): {
  comment(comment: { post: string; author: string; to: string }): Promise<void>
  deliver(): Promise<void>
}
\`\`\`

\`comment\` says that \`author\` has commented on \`post\`, which belongs to the person with the mail address \`to\`.
Comments on one post are collected for ten minutes from the first one, and become one mail. Another post has its own mail.
The subject is \`<number of comments> comments on <post>\`. The text has one line for each comment, \`<author> commented\`.
Nothing is sent before the ten minutes are over.
`,
  async ({ open }, { mailServer, time }) => {
    const smtp = await mailServer()
    const clock = time('2026-11-21T12:00:00Z')
    const { comment, deliver } = open({ smtpPort: smtp.port, now: clock.now })
    const to = 'ada@example.com'
    for (const author of ['Bob', 'Eve']) await comment({ post: 'Trains', author, to })
    await comment({ post: 'Ships', author: 'Kim', to })
    clock.advance(9 * 60_000)
    await comment({ post: 'Trains', author: 'Joe', to })
    await deliver()
    assert.equal(smtp.mails.length, 0)
    clock.advance(61_000)
    await deliver()
    assert.deepEqual(smtp.mails.map(({ subject }) => subject).sort(), ['1 comments on Ships', '3 comments on Trains'])
    const trains = smtp.mails.find(({ subject }) => subject.endsWith('Trains'))
    for (const author of ['Bob', 'Eve', 'Joe']) assert.ok(trains?.text.includes(`${author} commented`))
    assert.ok(!trains?.text.includes('Kim'))
  },
)
