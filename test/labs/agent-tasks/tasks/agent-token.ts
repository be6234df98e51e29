import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  start(options: { secret: string }): Promise<{
    url: string
    issueToken(): Promise<string>
    stop(): Promise<void>
  }>
}

export const agentToken: Task = task<Solution>(
  'agent-token',
  `
\`\`\`ts
export function start(options: { secret: string }): Promise<{
  url: string
  issueToken(): Promise<string>
  stop(): Promise<void>
}>
\`\`\`

Start a server on a free port of 127.0.0.1 with sallyport. \`url\` is \`http://127.0.0.1:<port>\`, and dispatches are posted to
\`/api/outbound/dispatch\`. The events \`ticket.escalated\` and \`ticket.closed\` have no data.
An application with \`secret\` may dispatch both events to anybody.
\`issueToken\` gives a token for an agent, which is not an application: it lasts ten minutes at most.
With this token as its bearer token, the agent may dispatch \`ticket.escalated\` to \`team@example.com\`, and nothing else to anybody
else. It may do so three times in all; the fourth dispatch is refused. Refusals are answered with 403.
`,
  async ({ start }, { secret, post, atEnd }) => {
    const app = await secret()
    const { url, issueToken, stop } = await start({ secret: app })
    atEnd(stop)
    const dispatch = async (bearer: string, eventType: string, recipient: string) =>
      (await post(`${url}/api/outbound/dispatch`, bearer, { eventType, recipient })).status
    assert.equal(await dispatch(app, 'ticket.closed', 'ada@example.com'), 202)
    const token = await issueToken()
    assert.equal(await dispatch(token, 'ticket.closed', 'team@example.com'), 403)
    assert.equal(await dispatch(token, 'ticket.escalated', 'ada@example.com'), 403)
    for (let n = 1; n <= 3; n++) assert.equal(await dispatch(token, 'ticket.escalated', 'team@example.com'), 202)
    assert.equal(await dispatch(token, 'ticket.escalated', 'team@example.com'), 403)
    assert.equal(await dispatch(await issueToken(), 'ticket.escalated', 'team@example.com'), 202)
    const { exp = 0 } = JSON.parse(`${Buffer.from(`${token.split('.')[1]}`, 'base64url')}`) as { exp?: number }
    assert.ok(exp - Date.now() / 1_000 <= 601, 'the token lasts ten minutes at most')
  },
)
