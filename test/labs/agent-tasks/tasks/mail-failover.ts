import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  send(options: { primary: number; backup: number; to: string }): Promise<{
    readonly status: string
    readonly asked: readonly string[]
  }>
}

export const mailFailover: Task = task<Solution>(
  'mail-failover',
  `
\`\`\`ts
export function send(options: { primary: number; backup: number; to: string }): Promise<{ status: string; asked: string[] }>
\`\`\`

\`primary\` and \`backup\` are ports of two mail servers on 127.0.0.1.
\`send\` sends one mail with the subject \`Hello\` to \`to\` through sallyport, by the provider that is named \`primary\`.
The provider that is named \`backup\` is asked in the same attempt if the primary one refuses the connection.
If the primary one refuses the mail for good, the backup is not asked.
\`status\` is that of the delivery after the attempt. \`asked\` has the names of the providers of this attempt, in the order in which
they were asked, as sallyport has recorded them.
`,
  async ({ send }, { mailServer, closedPort }) => {
    const [primary, backup] = [await mailServer(), await mailServer()]
    const both = { primary: primary.port, backup: backup.port }
    assert.deepEqual(await send({ ...both, to: 'ada@example.com' }), { status: 'sent', asked: ['primary'] })
    assert.deepEqual([primary.mails.length, backup.mails.length], [1, 0])

    const down = { primary: await closedPort(), backup: backup.port }
    assert.deepEqual(await send({ ...down, to: 'bob@example.com' }), { status: 'sent', asked: ['primary', 'backup'] })
    assert.deepEqual([backup.mails[0]?.to, backup.mails[0]?.subject], ['bob@example.com', 'Hello'])

    primary.reply = 550
    assert.deepEqual(await send({ ...both, to: 'eve@example.com' }), { status: 'failed', asked: ['primary'] })
    assert.equal(backup.mails.length, 1)
  },
)
