import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Plan {
  readonly channel: string
  readonly content: Readonly<Record<string, unknown>>
}

interface Solution {
  plan(data: Readonly<Record<string, unknown>>): Promise<readonly Plan[]>
}

export const conditions: Task = task<Solution>(
  'conditions',
  `
\`\`\`ts
export function plan(data: Record<string, unknown>): Promise<{ channel: string; content: Record<string, unknown> }[]>
\`\`\`

Define an event \`order.paid\` with the data \`{ orderId: string, total: number }\` and two channels.
The channel \`email\` has the subject \`Order <orderId> paid\` and the text \`Thank you\`. It is for every order with a total above 0.
The channel \`sms\` has the text \`<orderId>: <total> paid\`. It is for orders with a total of 100 or more.
\`plan\` lists the messages that this event with \`data\` becomes for \`user_42\`, who has a mail address and a phone. Each has the
name of the channel and the rendered content.
Sallyport decides and renders, without a server, and nothing is sent or stored.
For data that the event does not allow, the promise rejects with an error that has the \`code\` of sallyport's refusal.
`,
  async ({ plan }) => {
    const email = (orderId: string) => ({
      channel: 'email',
      content: { subject: `Order ${orderId} paid`, text: 'Thank you' },
    })
    assert.deepEqual(await plan({ orderId: 'A-1', total: 99 }), [email('A-1')])
    assert.deepEqual(await plan({ orderId: 'A-2', total: 100 }), [
      email('A-2'),
      { channel: 'sms', content: { text: 'A-2: 100 paid' } },
    ])
    assert.deepEqual(await plan({ orderId: 'A-3', total: 0 }), [])
    await assert.rejects(plan({ orderId: 'A-4', total: 'many' }), { code: 'validation_failed' })
  },
)
