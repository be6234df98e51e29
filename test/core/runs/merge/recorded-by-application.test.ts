import { describe, expect, it } from 'vitest'
import { mergeRun } from '../../../../src/core/runs/merge/merge-run.ts'
import type { RunSource, RunState, RunUpdate } from '../../../../src/model/run.ts'
import type { IgnoredField } from '../../../../src/model/run-post.ts'

type Post = Partial<RunUpdate>

/** Fields that the last of some posts has in vain. */
function ignoredAfter(...posts: readonly (readonly [source: RunSource, post: Post])[]): readonly IgnoredField[] {
  let state: RunState | undefined
  let ignored: readonly IgnoredField[] = []
  for (const [source, post] of posts) {
    const merge = mergeRun(state, { runId: 'r', sessionId: 's', ...post }, source)
    if (merge.outcome !== 'merged') throw new Error(merge.outcome)
    state = merge.state
    ignored = merge.ignored
  }
  return ignored
}

/** Fields of an agent's post that it is told the application recorded. */
function recorded(application: Post, agent: Post): readonly string[] {
  const ignored = ignoredAfter(['application', application], ['agent', agent])
  for (const field of ignored) expect(Object.keys(field)).toEqual(['field', 'reason'])
  return ignored.filter(({ reason }) => reason === 'application_recorded').map(({ field }) => field)
}

const cost = { amount: '1', currency: 'USD', source: 'client' } as const
const share = { provider: 'p', model: 'm', counts: { steps: 1 } }

describe('fields of an agent that the application recorded', () => {
  it.each<[string, Post]>([
    ['parentRunId', { parentRunId: 'p' }],
    ['resumedFromRunId', { resumedFromRunId: 'q' }],
    ['attempt', { attempt: 2 }],
    ['provider', { provider: 'p' }],
    ['environment', { environment: 'e' }],
    ['waitingFor', { waitingFor: 'approval' }],
    ['timings.queuedAt', { timings: { queuedAt: 1 } }],
    ['timings.startedAt', { timings: { startedAt: 1 } }],
    ['timings.firstTokenAt', { timings: { firstTokenAt: 1 } }],
    ['timings.modelMs', { timings: { modelMs: 1 } }],
    ['counts.steps', { counts: { steps: 1 } }],
    ['cost', { cost }],
    ['usageByModel', { usageByModel: [share] }],
    ['metadata.k', { metadata: { k: 'v' } }],
    ['tags', { tags: ['t'] }],
  ])('An agent that posts %s as the application did is told so, and only of this', (field, post) => {
    expect(recorded(post, post)).toEqual([field])
    expect(recorded({}, post)).toEqual([])
    expect(recorded(post, {})).toEqual([])
  })

  it('Every amount and every name of a model is recorded once the application reported an amount', () => {
    const agent: Post = {
      ...{ counts: { steps: 1, messages: 2 }, cost, usageByModel: [share], countsScope: 'tree' },
      ...{ provider: 'p', model: 'm', responseModel: 'm1', environment: 'e' },
    }
    const all = [
      'cost',
      'counts.messages',
      'counts.steps',
      'countsScope',
      'model',
      'provider',
      'responseModel',
      'usageByModel',
    ]
    for (const amount of [{ counts: { toolCalls: 0 } }, { cost }, { usageByModel: [share] }])
      expect([...recorded(amount, agent)].sort()).toEqual(all)
    expect(recorded({ countsScope: 'tree' }, { ...agent, countsScope: 'self' })).toEqual(['countsScope'])
  })

  it('A user that the application named stays unknown to an agent', () => {
    expect(recorded({ userId: 'ann' }, { userId: 'ann' })).toEqual([])
  })

  it("The status and its fields are recorded once the application's status is shown", () => {
    const end: Post = {
      status: 'failed',
      timings: { endedAt: 5, durationMs: 4 },
      error: { type: 'x' },
      finishReason: 'y',
    }
    const fields = ['error', 'finishReason', 'status', 'timings.durationMs', 'timings.endedAt']
    expect([...recorded({ status: 'completed' }, end)].sort()).toEqual(fields)
    expect([...recorded(end, { ...end, status: 'completed' })].sort()).toEqual(fields)
    expect(recorded({ status: 'running' }, end)).toEqual([])
    expect(recorded({ status: 'expired' }, end)).toEqual([])
    expect(recorded({ status: 'running' }, { status: 'queued' })).toEqual(['status'])
    expect(recorded({}, { status: 'queued' })).toEqual([])
  })

  it('An application is not told what agents recorded', () => {
    const post: Post = { status: 'failed', provider: 'p', counts: { steps: 1 }, tags: ['t'], metadata: { k: 'v' } }
    expect(ignoredAfter(['agent', post], ['application', post])).toEqual([])
  })
})
