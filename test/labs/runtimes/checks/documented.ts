import { deepEqual } from 'node:assert/strict'
import { DISPATCH, post } from '../target.ts'
import type { CheckGroup } from './check.ts'

/** The host on the page of a runtime. */
export const documentedHost: CheckGroup = {
  name: 'page',
  checks: [
    {
      name: 'the documented host accepts only the secret of its environment',
      async run(target) {
        const body = { eventType: 'order.shipped', recipient: 'ada' }
        const known = await post(target, DISPATCH, body)
        const stranger = await post(target, DISPATCH, body, { token: 'sp_live_nonsense' })
        deepEqual([known.status, known.json.status, stranger.status], [202, 'queued', 401])
      },
    },
  ],
}
