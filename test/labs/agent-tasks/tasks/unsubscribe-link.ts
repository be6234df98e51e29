import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  start(options: { smtpPort: number }): Promise<{
    url: string
    sendNews(to: string): Promise<void>
    deliver(): Promise<void>
    stop(): Promise<void>
  }>
}

export const unsubscribeLink: Task = task<Solution>(
  'unsubscribe-link',
  `
\`\`\`ts
export function start(options: { smtpPort: number }): Promise<{
  url: string
  sendNews(to: string): Promise<void>
  deliver(): Promise<void>
  stop(): Promise<void>
}>
\`\`\`

Start an HTTP server on a free port of 127.0.0.1. \`url\` is \`http://127.0.0.1:<port>\`.
\`sendNews\` mails an issue of a newsletter to the address \`to\`. The plain text of the mail has a link to unsubscribe, which begins
with \`url\`.
The link opens sallyport's page for this, which changes nothing until the person confirms it: a GET shows the page, a POST to the
same address unsubscribes.
After that, this person gets no more issues, and other people still do. \`sendNews\` does not reject then.
`,
  async ({ start }, { mailServer, atEnd }) => {
    const smtp = await mailServer()
    const { url, sendNews, deliver, stop } = await start({ smtpPort: smtp.port })
    atEnd(stop)
    const send = async (to: string) => {
      await sendNews(to)
      await deliver()
    }
    await send('ada@example.com')
    const link = smtp.mails[0]?.text.match(/http:\/\/127[^\s<>"]+/)?.[0] ?? ''
    assert.ok(link.startsWith(url), 'the mail has a link')
    const page = await fetch(link)
    assert.equal(page.status, 200)
    assert.match(await page.text(), /<form/)
    await send('ada@example.com')
    assert.equal(smtp.mails.length, 2, 'opening the page changes nothing')
    assert.ok((await fetch(link, { method: 'POST' })).ok)
    await send('ada@example.com')
    await send('bob@example.com')
    assert.deepEqual(
      smtp.mails.map(({ to }) => to),
      ['ada@example.com', 'ada@example.com', 'bob@example.com'],
    )
  },
)
