import { describe, expect, it } from 'vitest'
import type { RunSource, RunUpdate } from '../../../../src/model/run.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { recordPosts } from '../recorded.ts'
import { stillClock } from '../recorder.ts'

type Post = readonly [source: RunSource, runId: string, post: Partial<RunUpdate>]

async function recorded(posts: readonly Post[]) {
  const store = memoryStore({ clock: stillClock() })
  const runs = await recordPosts(
    store,
    posts.map(([source, runId, post]) => ({ source, update: { sessionId: 's1', runId, ...post } })),
  )
  return { store, runs }
}

/** The runs whose amounts go no further up. */
async function topsAfter(...posts: readonly Post[]) {
  const { runs } = await recorded(posts)
  return Object.fromEntries(runs.flatMap(({ state, derived: { top } }) => (top ? [[state.runId, top]] : [])))
}

/** Tokens of applications and of agents below each of some runs, and in the session. */
async function tokensAfter(runIds: readonly string[], ...posts: readonly Post[]) {
  const { store } = await recorded(posts)
  const session = await store.findSession('t', 's1')
  const below: Record<string, readonly [application: number, agent: number]> = {}
  for (const runId of runIds) {
    // The descendants of a run are shown to a merge of one below it.
    const key = { tenant: 't', sessionId: 's1', runId: 'new', parentRunId: runId }
    const { result } = await store.mergeRun(key, (snapshot) => ({ result: snapshot }))
    const { descendants } = (result.newAncestors ?? result.ancestors)[0] ?? {}
    below[runId] = [descendants?.spend.tokens ?? 0, descendants?.agent?.spend.tokens ?? 0]
  }
  return { ...below, session: [session?.totals.spend.tokens ?? 0, session?.totals.agent?.spend.tokens ?? 0] }
}

const mine = (tokens: number, more: Partial<RunUpdate> = {}): Partial<RunUpdate> => ({
  counts: { inputTokens: tokens },
  ...more,
})

describe('links of two sources', () => {
  it('Tokens of an application go up along its own parents alone, and those of agents along both', async () => {
    const posts: readonly Post[] = [
      ['application', 'top', {}],
      ['application', 'named', mine(1, { parentRunId: 'top' })],
      ['application', 'linked', mine(10)],
      ['agent', 'linked', { parentRunId: 'top' }],
      ['agent', 'agents', mine(100, { parentRunId: 'named' })],
    ]
    expect(await tokensAfter(['top', 'named'], ...posts)).toEqual({
      top: [1, 100],
      named: [0, 100],
      session: [11, 100],
    })
  })

  it("Tokens move when the application names a parent after an agent, also the agent's parent", async () => {
    const posts: readonly Post[] = [
      ['application', 'child', mine(1)],
      ['agent', 'child', { parentRunId: 'p' }],
      ['agent', 'grandchild', mine(10, { parentRunId: 'child' })],
    ]
    expect(await tokensAfter(['p', 'q'], ...posts)).toEqual({ p: [0, 10], q: [0, 0], session: [1, 10] })
    const toSame: Post = ['application', 'child', { parentRunId: 'p' }]
    expect(await tokensAfter(['p', 'q'], ...posts, toSame)).toEqual({ p: [1, 10], q: [0, 0], session: [1, 10] })
    const toOther: Post = ['application', 'child', { parentRunId: 'q' }]
    expect(await tokensAfter(['p', 'q'], ...posts, toOther)).toEqual({ p: [0, 0], q: [1, 10], session: [1, 10] })
  })

  it('A circle that an agent closes stops the tokens of agents alone', async () => {
    const posts: readonly Post[] = [
      ['application', 'a', mine(1, { parentRunId: 'b' })],
      ['agent', 'b', mine(10, { parentRunId: 'a' })],
    ]
    expect(await topsAfter(...posts)).toEqual({ b: true })
    expect(await tokensAfter(['a', 'b'], ...posts)).toEqual({ a: [0, 0], b: [1, 0], session: [1, 10] })
    expect(await topsAfter(...[...posts].reverse())).toEqual({ a: 'agent' })
    expect(await tokensAfter(['a', 'b'], ...[...posts].reverse())).toEqual({ a: [0, 10], b: [1, 0], session: [1, 10] })
  })

  it('A circle of the parents of agents stops both, until the application names one of them', async () => {
    const circle: readonly Post[] = [
      ['application', 'a', {}],
      ['agent', 'a', { parentRunId: 'b' }],
      ['application', 'b', mine(1)],
      ['agent', 'b', { parentRunId: 'a' }],
    ]
    expect(await topsAfter(...circle)).toEqual({ b: true })
    expect(await tokensAfter(['a', 'b'], ...circle)).toEqual({ a: [0, 0], b: [0, 0], session: [1, 0] })
    const named: Post = ['application', 'b', { parentRunId: 'a' }]
    expect(await topsAfter(...circle, named)).toEqual({ b: 'agent' })
    expect(await tokensAfter(['a', 'b'], ...circle, named)).toEqual({ a: [1, 0], b: [0, 0], session: [1, 0] })
  })

  it('A run below one where the tokens of agents stop goes no further, also in a later circle', async () => {
    const posts: readonly Post[] = [
      ['agent', 'z', { parentRunId: 'w' }],
      ['agent', 'w', { parentRunId: 'y' }],
      ['application', 'y', { parentRunId: 'z' }],
      ['application', 'w', { parentRunId: 'x' }],
      ['agent', 'x', mine(1, { parentRunId: 'y' })],
    ]
    expect(await topsAfter(...posts)).toEqual({ y: 'agent' })
    expect(await tokensAfter(['y', 'z'], ...posts)).toEqual({ y: [0, 1], z: [0, 0], session: [0, 1] })
  })

  it('A circle that the application closes stops the tokens of both', async () => {
    const posts: readonly Post[] = [
      ['application', 'a', mine(1, { parentRunId: 'b' })],
      ['application', 'b', mine(10, { parentRunId: 'a' })],
      ['agent', 'below', mine(100, { parentRunId: 'b' })],
    ]
    expect(await tokensAfter(['a', 'b'], ...posts)).toEqual({ a: [0, 0], b: [1, 100], session: [11, 100] })
  })

  it('A run above a circle of agents still passes on what its application reported', async () => {
    const posts: readonly Post[] = [
      ['application', 'top', {}],
      ['application', 'a', mine(1, { parentRunId: 'top' })],
      ['agent', 'b', mine(10, { parentRunId: 'a' })],
      ['agent', 'top', { parentRunId: 'b' }],
      ['application', 'late', mine(100, { parentRunId: 'a' })],
      ['agent', 'late2', mine(1000, { parentRunId: 'a' })],
    ]
    expect(await tokensAfter(['top', 'a', 'b'], ...posts)).toEqual({
      ...{ top: [101, 1010], a: [100, 1010], b: [0, 0] },
      session: [101, 1010],
    })
  })
})
