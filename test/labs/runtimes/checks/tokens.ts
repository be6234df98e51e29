import { deepEqual, equal } from 'node:assert/strict'
import { DISPATCH, own, post, RUN, type Target } from '../target.ts'
import type { Check, CheckGroup } from './check.ts'

/** Session tokens, issued and verified in the runtime. */
export const tokens: CheckGroup = {
  name: 'tokens',
  checks: [
    ...['HS256', 'ES256', 'EdDSA'].map(
      (kid): Check => ({
        name: `tokens of ${kid} are valid for their session only`,
        async run(target) {
          const token = await issue(target, { kid, sessionId: `of ${kid}`.replace(' ', '-') })
          const mine = await post(target, RUN, { sessionId: `of-${kid}`, run: { runId: kid } }, { token })
          deepEqual([mine.status, mine.json.created], [201, true])
          const other = await post(target, RUN, { sessionId: 'other', run: { runId: kid } }, { token })
          deepEqual([other.status, other.json.code], [403, 'insufficient_scope'])
        },
      }),
    ),
    {
      name: 'tokens dispatch only what they grant',
      async run(target) {
        const grants = { dispatch: { events: ['order.shipped'], channels: ['paper'], recipients: ['ada'] } }
        const token = await issue(target, { kid: 'ES256', sessionId: 'granted', grants })
        const event = { eventType: 'order.shipped', eventData: { orderId: 'A', total: 1 } }
        const ada = await post(target, DISPATCH, { ...event, recipient: 'ada' }, { token })
        deepEqual([ada.status, ada.json.sessionId], [202, 'granted'])
        const bob = await post(target, DISPATCH, { ...event, recipient: 'bob' }, { token })
        deepEqual([bob.status, bob.json.code], [403, 'insufficient_scope'])
      },
    },
    {
      name: 'tampered tokens are refused',
      async run(target) {
        const token = await issue(target, { kid: 'EdDSA', sessionId: 's' })
        const [head, , signature] = token.split('.')
        const claims = Buffer.from(JSON.stringify({ sid: 'other' })).toString('base64url')
        const { status, json } = await post(target, RUN, {}, { token: `${head}.${claims}.${signature}` })
        deepEqual([status, json.code], [401, 'invalid_token'])
      },
    },
  ],
}

async function issue(target: Target, options: object): Promise<string> {
  const token = await own<unknown>(target, 'token', options)
  equal(typeof token, 'string')
  return String(token)
}
