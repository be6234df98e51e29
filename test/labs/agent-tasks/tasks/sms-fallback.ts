import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  open(options: { smtpPort: number; smsUrl: string }): {
    notify(user: { id: string; email: string; phone: string }): Promise<void>
    deliver(): Promise<void>
  }
}

export const smsFallback: Task = task<Solution>(
  'sms-fallback',
  `
\`\`\`ts
export function open(options: { smtpPort: number; smsUrl: string }): {
  notify(user: { id: string; email: string; phone: string }): Promise<void>
  deliver(): Promise<void>
}
\`\`\`

\`notify\` sends \`Your table is ready\` to the user, first by mail.
An SMS with this text follows only if the mail has failed for good, for example because the server refuses the address with 550.
A mail that was sent, or that is tried again later, causes no SMS.
SMS go out by the API of Twilio, which listens at \`smsUrl\` instead of its usual address. The account is \`AC1\`, its auth token
\`secret\`, the sender \`+15005550006\`.
The host calls \`notify\` with the user's id as the recipient, so sallyport must find the addresses of this user.
`,
  async ({ open }, { mailServer, httpServer }) => {
    const smtp = await mailServer()
    const twilio = await httpServer(() => ({ status: 201, body: '{"sid":"SM1"}' }))
    const { notify, deliver } = open({ smtpPort: smtp.port, smsUrl: twilio.url })
    const user = (id: string, phone: string) => ({ id, email: `${id}@example.com`, phone })
    const deliverAll = async () => {
      for (let i = 0; i < 3; i++) await deliver()
    }

    await notify(user('ada', '+4915100000001'))
    await deliverAll()
    assert.equal(smtp.mails.length, 1)

    smtp.reply = 451
    await notify(user('bob', '+4915100000002'))
    await deliver()
    assert.equal(twilio.requests.length, 0, 'no SMS follows a mail that is sent, or tried again')

    smtp.reply = 550
    await notify(user('eve', '+4915100000003'))
    await deliverAll()
    const sent = twilio.requests.map(({ body }) => new URLSearchParams(body))
    const toEve = sent.filter((form) => form.get('To') === '+4915100000003')
    assert.deepEqual(
      toEve.map((form) => form.get('Body')),
      ['Your table is ready'],
    )
  },
)
