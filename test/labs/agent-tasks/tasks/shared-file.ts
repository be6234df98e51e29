import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  open(options: { file: string; smtpPort: number }): Promise<{
    accept(to: string): Promise<void>
    work(): void
    close(): Promise<void>
  }>
}

export const sharedFile: Task = task<Solution>(
  'shared-file',
  `
\`\`\`ts
export function open(options: { file: string; smtpPort: number }): Promise<{
  accept(to: string): Promise<void>
  work(): void
  close(): Promise<void>
}>
\`\`\`

\`open\` opens one instance of a host. Several instances use the SQLite database \`file\` by libsql and Kysely, also at the same time.
The first one creates it, and each one makes sure that the tables of sallyport exist.
\`accept\` dispatches a mail with the subject \`Welcome\` to the address \`to\`. The instance that accepts it need not send it.
\`work\` begins to send in the background whatever any instance has accepted, until \`close\`. Each mail is sent once, within a few
seconds.
\`close\` ends this instance. No accepted mail is lost by it.
`,
  async ({ open }, { mailServer, file, until, atEnd }) => {
    const smtp = await mailServer()
    const options = { file: await file('outbound.db'), smtpPort: smtp.port }
    const first = await open(options)
    await first.accept('ada@example.com')
    await first.close()
    assert.equal(smtp.mails.length, 0)
    const [web, worker] = [await open(options), await open(options)]
    atEnd(() => Promise.all([web.close(), worker.close()]))
    worker.work()
    await until('a mail of an instance that ended', () => smtp.mails.length === 1)
    for (const name of ['bob', 'eve', 'kim']) await web.accept(`${name}@example.com`)
    await until('three mails of the other instance', () => smtp.mails.length === 4)
    const names = smtp.mails.map(({ to }) => to.split('@')[0])
    assert.deepEqual(names.sort(), ['ada', 'bob', 'eve', 'kim'])
    assert.equal(smtp.mails[0]?.subject, 'Welcome')
  },
)
