import { describe, expect, it } from 'vitest'
import type { RunSource, RunUpdate } from '../../../../src/model/run.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { recordPosts } from '../recorded.ts'
import { NOW, stillClock } from '../recorder.ts'

type Post = readonly [source: RunSource, runId: string, post: Partial<RunUpdate>]

/** The failures of a session after some posts. */
async function failuresAfter(...posts: readonly Post[]) {
  const store = memoryStore({ clock: stillClock() })
  const posted = posts.map(([source, runId, post]) => ({ source, update: { sessionId: 's1', runId, ...post } }))
  await recordPosts(store, posted)
  return (await store.findSession('t', 's1'))?.failures
}

const FAILED = { status: 'failed' } as const

describe('failures that agents report', () => {
  it('A failure that only an agent reported says so, until the application reports it too', async () => {
    const byAgent: Post = ['agent', 'r', { ...FAILED, error: { type: 'timeout' } }]
    expect(await failuresAfter(byAgent)).toEqual([{ runId: 'r', at: NOW, byAgent: true, error: { type: 'timeout' } }])
    const both = await failuresAfter(byAgent, ['application', 'r', { ...FAILED, error: { type: 'refused' } }])
    expect(both).toEqual([{ runId: 'r', at: NOW, error: { type: 'refused' } }])
    expect(await failuresAfter(byAgent, ['application', 'r', { status: 'completed' }])).toEqual([])
  })

  it("A failure names the application's user, and the agent's where it is another", async () => {
    const failuresOf = async (user: string | undefined, ofAgent: string | undefined) => {
      const named: Partial<RunUpdate> = user === undefined ? {} : { userId: user }
      const agents: Partial<RunUpdate> = ofAgent === undefined ? {} : { userId: ofAgent }
      return failuresAfter(['application', 'r', named], ['agent', 'r', { ...FAILED, ...agents }])
    }
    const failure = { runId: 'r', at: NOW, byAgent: true }
    expect(await failuresOf('ann', 'cleo')).toEqual([{ ...failure, userId: 'ann', agentUserId: 'cleo' }])
    expect(await failuresOf('ann', 'ann')).toEqual([{ ...failure, userId: 'ann' }])
    expect(await failuresOf('ann', undefined)).toEqual([{ ...failure, userId: 'ann' }])
    expect(await failuresOf(undefined, 'cleo')).toEqual([{ ...failure, userId: 'cleo' }])
    expect(await failuresOf(undefined, undefined)).toEqual([failure])
  })

  it('Failures of agents push out none of an application, and the reverse', async () => {
    const many = (source: RunSource, of: string): Post[] =>
      Array.from({ length: 12 }, (_, at) => [source, `${of}${at}`, FAILED])
    const failures =
      (await failuresAfter(...many('application', 'a'), ...many('agent', 'b'), ...many('application', 'c'))) ?? []
    expect(failures.filter(({ byAgent }) => byAgent).map(({ runId }) => runId)).toEqual(
      Array.from({ length: 10 }, (_, at) => `b${11 - at}`),
    )
    expect(failures.filter(({ byAgent }) => !byAgent).map(({ runId }) => runId)).toEqual(
      Array.from({ length: 10 }, (_, at) => `c${11 - at}`),
    )
  })

  it('A run that fails later is listed, and a changed failure leaves the others unchanged', async () => {
    const first: Post = ['application', 'r1', FAILED]
    const second: readonly Post[] = [
      ['application', 'r2', { status: 'running' }],
      ['application', 'r2', FAILED],
    ]
    expect(await failuresAfter(first, ...second)).toEqual([
      { runId: 'r2', at: NOW },
      { runId: 'r1', at: NOW },
    ])
    const changed: Post = ['application', 'r1', { ...FAILED, seq: 2, error: { type: 'x' } }]
    expect(await failuresAfter(first, ...second, changed)).toEqual([
      { runId: 'r2', at: NOW },
      { runId: 'r1', at: NOW, error: { type: 'x' } },
    ])
  })
})
