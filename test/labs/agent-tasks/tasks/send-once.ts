import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  open(options: { smtpPort: number }): {
    remind(invoice: string, to: string): Promise<{ readonly repeated: boolean }>
    deliver(): Promise<void>
  }
}

export const sendOnce: Task = task<Solution>(
  'send-once',
  `
\`\`\`ts
export function open(options: { smtpPort: number }): {
  remind(invoice: string, to: string): Promise<{ repeated: boolean }>
  deliver(): Promise<void>
}
\`\`\`

\`remind\` mails a reminder with the subject \`Invoice <invoice>\` to the address \`to\`.
A job may call it several times for one invoice, also at the same time. Exactly one mail is sent for each invoice.
\`repeated\` is \`false\` for the call that caused the mail, and \`true\` for all others.
Sallyport's own means decide this: the module keeps no list of invoices.
`,
  async ({ open }, { mailServer }) => {
    const smtp = await mailServer()
    const { remind, deliver } = open({ smtpPort: smtp.port })
    const calls = Array.from({ length: 5 }, () => remind('I-1', 'ada@example.com'))
    const repeated = (await Promise.all(calls)).map((answer) => answer.repeated)
    assert.equal(repeated.filter((one) => !one).length, 1, 'one call of five caused the mail')
    await deliver()
    assert.deepEqual(await remind('I-1', 'ada@example.com'), { repeated: true })
    assert.deepEqual(await remind('I-2', 'ada@example.com'), { repeated: false })
    await deliver()
    assert.deepEqual(
      smtp.mails.map(({ subject }) => subject),
      ['Invoice I-1', 'Invoice I-2'],
    )
  },
)
