import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface State {
  readonly status: string
  readonly outcomes: readonly string[]
}

interface Solution {
  open(options: { chatUrl: string; now: () => number }): {
    post(text: string): Promise<string>
    deliver(): Promise<void>
    state(id: string): Promise<State>
  }
}

export const chatChannel: Task = task<Solution>(
  'chat-channel',
  `
\`\`\`ts
export function open(options: { chatUrl: string; now: () => number }): {
  post(text: string): Promise<string>
  deliver(): Promise<void>
  state(id: string): Promise<{ status: string; outcomes: string[] }>
}
\`\`\`

Write a channel for sallyport that posts \`{ "text": <text> }\` as JSON to \`chatUrl\`. The room is the same for every recipient.
\`post\` dispatches a message to this channel and resolves to the id of the dispatch.
An answer of 2xx means sent. After 429 or 5xx the message was certainly not sent, and sallyport tries again by its usual schedule. Any
other answer is final: the delivery has failed.
A server that does not answer within 500 ms may have taken the message. Sallyport records this as an unknown outcome.
\`state\` gives the status of the delivery and the outcome of each of its attempts, as sallyport has recorded them.
`,
  async ({ open }, { httpServer, time }) => {
    const answers = [503, 200, 400]
    const chat = await httpServer(() => {
      const status = answers.shift()
      return status === undefined ? new Promise<never>(() => {}) : { status }
    })
    const clock = time('2026-11-21T12:00:00Z')
    const { post, deliver, state } = open({ chatUrl: chat.url, now: clock.now })
    const first = await post('One')
    await deliver()
    assert.deepEqual(await state(first), { status: 'queued', outcomes: ['retry'] })
    clock.advance(2_000)
    await deliver()
    assert.deepEqual(await state(first), { status: 'sent', outcomes: ['retry', 'sent'] })
    assert.deepEqual(JSON.parse(`${chat.requests[1]?.body}`), { text: 'One' })
    const second = await post('Two')
    await deliver()
    assert.deepEqual(await state(second), { status: 'failed', outcomes: ['rejected'] })
    const third = await post('Three')
    await deliver()
    assert.deepEqual(await state(third), { status: 'queued', outcomes: ['unknown'] })
    assert.equal(chat.requests.length, 4)
  },
)
