import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

interface Solution {
  open(options: { now: () => number }): {
    record(runId: string, userId: string, tokens: number): Promise<void>
    mayRun(userId: string): Promise<boolean>
  }
}

export const tokenBudget: Task = task<Solution>(
  'token-budget',
  `
\`\`\`ts
export function open(options: { now: () => number }): {
  record(runId: string, userId: string, tokens: number): Promise<void>
  mayRun(userId: string): Promise<boolean>
}
\`\`\`

Each user may spend 10,000 tokens a day (UTC) on runs of agents.
\`record\` records a completed run of this user, with \`tokens\` input tokens, in a session of your choice.
\`mayRun\` says whether the user may begin a run now. It is \`false\` as soon as the runs of the day have reached the limit, and
\`true\` again on the next day.
Sallyport keeps the sums, and a run that is recorded twice counts once.
`,
  async ({ open }, { time }) => {
    const clock = time('2026-11-21T12:00:00Z')
    const { record, mayRun } = open({ now: clock.now })
    assert.equal(await mayRun('ada'), true)
    for (let n = 0; n < 2; n++) await record('r1', 'ada', 9_000)
    assert.equal(await mayRun('ada'), true)
    await record('r2', 'ada', 1_000)
    assert.equal(await mayRun('ada'), false)
    assert.equal(await mayRun('bob'), true)
    clock.advance(86_400_000)
    assert.equal(await mayRun('ada'), true)
  },
)
