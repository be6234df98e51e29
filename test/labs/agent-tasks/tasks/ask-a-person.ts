import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  start(options: { smtpPort: number; pay: (orderId: string, amount: number) => Promise<void> }): Promise<{
    url: string
    refund(orderId: string, amount: number): Promise<'refunded' | 'declined'>
    stop(): Promise<void>
  }>
}

export const askAPerson: Task = task<Solution>(
  'ask-a-person',
  `
\`\`\`ts
export function start(options: {
  smtpPort: number
  pay: (orderId: string, amount: number) => Promise<void>
}): Promise<{
  url: string
  refund(orderId: string, amount: number): Promise<'refunded' | 'declined'>
  stop(): Promise<void>
}>
\`\`\`

Start a server on a free port of 127.0.0.1 with sallyport. \`url\` is \`http://127.0.0.1:<port>\`.
An agent calls \`refund\`, which asks \`boss@example.com\` by mail. The mail goes out by itself, and its text has a link that begins with
\`url\` and opens sallyport's page for the answer.
If the boss accepts, \`refund\` calls \`pay\` and resolves to \`refunded\`. If the boss declines, it resolves to \`declined\`, and
\`pay\` is not called.
The agent may call \`refund\` several times for one order, also at the same time. One mail asks for all of them, \`pay\` is called
once, and each call resolves to the same text.
Sallyport's own means decide all of this: the module keeps no list of orders.
`,
  async ({ start }, { mailServer, until, atEnd }) => {
    const smtp = await mailServer()
    const paid: string[] = []
    const pay = async (orderId: string, amount: number) => void paid.push(`${orderId}: ${amount}`)
    const { url, refund, stop } = await start({ smtpPort: smtp.port, pay })
    atEnd(stop)
    const answer = async (index: number, how: 'accept' | 'decline') => {
      await until('the mail arrives', () => smtp.mails.length > index)
      const mail = smtp.mails[index]
      assert.equal(mail?.to, 'boss@example.com')
      const link = mail.text.match(/http:\/\/127[^\s<>"]+/)?.[0] ?? ''
      assert.ok(link.startsWith(url), 'the mail has a link')
      assert.match(await (await fetch(link)).text(), /<form/)
      assert.deepEqual(paid.length, index, 'nothing is paid before the answer')
      const response = await fetch(link, { method: 'POST', body: new URLSearchParams({ answer: how }) })
      assert.ok(response.ok, `the answer is taken: ${response.status}`)
    }
    const both = Promise.all([refund('A-1', 30), refund('A-1', 30)])
    await answer(0, 'accept')
    assert.deepEqual(await both, ['refunded', 'refunded'])
    assert.equal(await refund('A-1', 30), 'refunded')
    assert.deepEqual(paid, ['A-1: 30'])
    const other = refund('A-2', 900)
    await answer(1, 'decline')
    assert.equal(await other, 'declined')
    assert.deepEqual(paid, ['A-1: 30'])
    assert.equal(smtp.mails.length, 2)
  },
)
