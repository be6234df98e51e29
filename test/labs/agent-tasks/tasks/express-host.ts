import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  start(options: { secret: string; print: (text: string) => void }): Promise<{ url: string; stop(): Promise<void> }>
}

export const expressHost: Task = task<Solution>(
  'express-host',
  `
\`\`\`ts
export function start(options: { secret: string; print: (text: string) => void }): Promise<{ url: string; stop(): Promise<void> }>
\`\`\`

Start an Express app on a free port of 127.0.0.1, and mount sallyport in it. \`url\` is \`http://127.0.0.1:<port>\`.
An application with \`secret\` as its bearer token posts an event to \`/api/outbound/dispatch\`. The event type is \`order.shipped\`,
and its data are \`{ orderId: string }\`.
The message \`Order <orderId> shipped\` goes to the log channel of the package. This channel writes by \`print\`, and not to the console.
Messages go out by themselves, within a few seconds.
A request without the secret is answered with 401, and data without \`orderId\` with 422.
`,
  async ({ start }, { secret, post, until, changed, atEnd }) => {
    const printed: string[] = []
    const print = (text: string): void => {
      printed.push(text)
      changed()
    }
    const token = await secret()
    const { url, stop } = await start({ secret: token, print })
    atEnd(stop)
    const dispatch = async (bearer: string, eventData: object) =>
      (
        await post(`${url}/api/outbound/dispatch`, bearer, {
          eventType: 'order.shipped',
          recipient: 'user_42',
          eventData,
        })
      ).status
    assert.equal(await dispatch(token, { orderId: 'A-1' }), 202)
    assert.equal(await dispatch('wrong', { orderId: 'A-2' }), 401)
    assert.equal(await dispatch(token, {}), 422)
    await until('the message is printed', () => printed.join('\n').includes('Order A-1 shipped'))
    assert.ok(!printed.join('\n').includes('A-2'), 'a refused event is not printed')
  },
)
