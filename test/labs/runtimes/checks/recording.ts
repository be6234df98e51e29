import { deepEqual, equal } from 'node:assert/strict'
import type { Run, RunAnswer, Session } from 'sallyport'
import type { Reply } from '../../../support/host-call.ts'
import { own, post, RUN, type Target } from '../target.ts'
import type { CheckGroup } from './check.ts'

/** Runs that agents report. */
export const recording: CheckGroup = {
  name: 'runs',
  checks: [
    {
      name: 'a post of a run is answered 201 if it is new and 200 if not, in any order',
      async run(target) {
        const ended = { runId: 'r1', status: 'completed', model: 'gpt-5-mini', counts: { outputTokens: 1_000_000 } }
        const first = await record(target, 's1', ended)
        deepEqual([first.status, first.json.created], [201, true])
        const late = await record(target, 's1', { runId: 'r1', status: 'running', counts: { inputTokens: 310 } })
        const { created, changed, run }: RunAnswer = late.json
        deepEqual([late.status, created, changed, run?.status], [200, false, true, 'completed'])
        deepEqual(run?.counts, { inputTokens: 310, outputTokens: 1_000_000 })
      },
    },
    {
      name: 'runs are priced and summed up',
      async run(target) {
        const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 }
        const { json } = await record(target, 's2', { runId: 'r2', status: 'completed', model: 'gpt-5', usage })
        deepEqual([json.run.cost?.amount, json.run.cost?.currency], ['11.25', 'USD'])
        const session = await own<Session>(target, 'session?id=s2')
        deepEqual([session.tree.length, session.cost], [1, [{ amount: '11.25', currency: 'USD' }]])
      },
    },
    {
      name: 'each post of a batch has its own answer',
      async run(target) {
        const runs = [
          { sessionId: 's3', run: { runId: 'b1' } },
          { sessionId: 's3', run: { runId: 7 } },
        ]
        const { status, json } = await post(target, `${RUN}/batch`, { runs })
        deepEqual([status, json.results.map((one: { status: number }) => one.status)], [200, [201, 422]])
      },
    },
    {
      name: 'concurrent posts of a run give the same run',
      async run(target) {
        const posts = Array.from({ length: 40 }, (_, seq) => ({
          runId: 'r4',
          seq,
          counts: { steps: seq },
          tags: [`${seq % 4}`],
        }))
        const answers = await Promise.all(posts.map((one) => record(target, 's4', one)))
        equal(answers.filter(({ status }) => status === 201).length, 1)
        const { json } = await record(target, 's4', { runId: 'r4', status: 'completed' })
        const run: Run = json.run
        deepEqual([run.counts?.steps, run.tags, run.status], [39, ['0', '1', '2', '3'], 'completed'])
      },
    },
  ],
}

function record(target: Target, sessionId: string, run: object): Promise<Reply> {
  return post(target, RUN, { sessionId, run })
}
