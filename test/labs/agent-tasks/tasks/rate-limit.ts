import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  start(options: { secrets: readonly string[]; perMinute: number }): Promise<{ url: string; stop(): Promise<void> }>
}

export const rateLimit: Task = task<Solution>(
  'rate-limit',
  `
\`\`\`ts
export function start(options: { secrets: string[]; perMinute: number }): Promise<{ url: string; stop(): Promise<void> }>
\`\`\`

Start a server on a free port of 127.0.0.1 with sallyport. \`url\` is \`http://127.0.0.1:<port>\`.
Each of \`secrets\` belongs to one application, which posts the event \`ping\`, without data, to \`/api/outbound/dispatch\`.
Each secret may make \`perMinute\` requests in a minute. One more is answered with 429 and a \`Retry-After\` header.
The requests of one secret do not count for another.
`,
  async ({ start }, { secret, post, atEnd }) => {
    const secrets = [await secret(), await secret()]
    const { url, stop } = await start({ secrets, perMinute: 5 })
    atEnd(stop)
    const ping = (token: string | undefined) =>
      post(`${url}/api/outbound/dispatch`, `${token}`, { eventType: 'ping', recipient: 'ada@example.com' })
    for (let n = 1; n <= 5; n++) assert.equal((await ping(secrets[0])).status, 202, `request ${n}`)
    const refused = await ping(secrets[0])
    assert.equal(refused.status, 429)
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    assert.equal((await ping(secrets[1])).status, 202, 'another secret')
  },
)
