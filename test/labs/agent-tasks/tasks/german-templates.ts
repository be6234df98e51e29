import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface User {
  readonly id: string
  readonly email: string
  readonly locale: string
}

interface Solution {
  open(options: { smtpPort: number; users: readonly User[] }): {
    ship(userId: string, data: { orderId: string; name: string }): Promise<void>
    deliver(): Promise<void>
  }
}

export const germanTemplates: Task = task<Solution>(
  'german-templates',
  `
\`\`\`ts
export function open(options: { smtpPort: number; users: { id: string; email: string; locale: string }[] }): {
  ship(userId: string, data: { orderId: string; name: string }): Promise<void>
  deliver(): Promise<void>
}
\`\`\`

\`ship\` mails the event \`order.shipped\` to one of \`users\`. An id that is not among them is refused: the promise rejects.
The templates are texts in the language Liquid, not functions.
The subject is \`Order <orderId> is on its way\`, and the HTML is \`<p>Hello <name></p>\`.
For users with a German \`locale\`, such as \`de\` or \`de-AT\`, the subject is \`Bestellung <orderId> ist unterwegs\`, and the HTML is
\`<p>Hallo <name></p>\`. All others get English.
A name that contains HTML must appear in the mail as text.
`,
  async ({ open }, { mailServer }) => {
    const smtp = await mailServer()
    const user = (id: string, locale: string) => ({ id, email: `${id}@example.com`, locale })
    const users = [user('ada', 'de'), user('bob', 'de-AT'), user('eve', 'fr')]
    const { ship, deliver } = open({ smtpPort: smtp.port, users })
    for (const { id } of users) await ship(id, { orderId: 'A-1', name: `<b>${id}` })
    await assert.rejects(ship('nobody', { orderId: 'A-2', name: 'x' }))
    await deliver()
    const mails = users.map(({ email }) => smtp.mails.find(({ to }) => to === email))
    const german = 'Bestellung A-1 ist unterwegs'
    assert.deepEqual(
      mails.map((mail) => mail?.subject),
      [german, german, 'Order A-1 is on its way'],
    )
    assert.ok(mails[0]?.text.includes('<p>Hallo &lt;b&gt;ada</p>'), 'German, escaped')
    assert.ok(mails[2]?.text.includes('<p>Hello &lt;b&gt;eve</p>'), 'English, escaped')
  },
)
