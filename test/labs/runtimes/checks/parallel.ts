import { deepEqual, equal } from 'node:assert/strict'
import { until } from '../../chaos/until.ts'
import { dispatch, own } from '../target.ts'
import type { CheckGroup } from './check.ts'
import { delivered, sentTo } from './dispatching.ts'

const MANY = 60

/** Concurrent requests. */
export const parallel: CheckGroup = {
  name: 'parallel',
  checks: [
    {
      name: 'concurrent requests with one idempotency key make one dispatch',
      async run(target) {
        const answers = await atOnce(() => dispatch(target, 'one', { headers: { 'idempotency-key': 'k-one' } }))
        deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]))
        const ids = new Set<string>(answers.map(({ json }) => json.dispatchId))
        equal(ids.size, 1)
        for (const id of ids) await delivered(target, id)
        equal((await sentTo(target, 'one')).length, 1)
      },
    },
    {
      name: 'concurrent requests are all accepted, and each is delivered once',
      async run(target) {
        const answers = await atOnce(() => dispatch(target, 'many'))
        equal(new Set(answers.map(({ json }) => json.dispatchId)).size, MANY)
        if (!target.waitsUntil) await own(target, 'run-due')
        await until('the deliveries', async () => (await sentTo(target, 'many')).length >= MANY, 10_000)
        equal((await sentTo(target, 'many')).length, MANY)
      },
    },
  ],
}

function atOnce<Answer>(ask: () => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: MANY }, ask))
}
