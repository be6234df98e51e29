import { describe, expect, it } from 'vitest'
import { mergeRun, type RunMerge } from '../../../../src/core/runs/merge/merge-run.ts'
import { viewAgentRun, viewRun } from '../../../../src/core/runs/merge/selectors.ts'
import type { DerivedRunData, RunSource, RunUpdate } from '../../../../src/model/run.ts'
import { storedAs } from '../stored.ts'

type Post = Partial<RunUpdate>
type SourcePost = readonly [source: RunSource, post: Post]
type Merged = Extract<RunMerge, { outcome: 'merged' }>

/** The last of some merges. */
function lastMerge(...posts: readonly SourcePost[]): Merged {
  let last: Merged | undefined
  for (const [source, post] of posts) {
    const merge = mergeRun(last?.state, { runId: 'r', sessionId: 's', ...post }, source)
    if (merge.outcome !== 'merged') throw new Error(merge.fields.join())
    last = merge
  }
  if (!last) throw new Error('no post')
  return last
}

describe('a merge of one source', () => {
  it('An agent creates the run with its own first post, whatever the application posted, and cannot tell', () => {
    expect(lastMerge(['agent', {}]).created).toBe(true)
    expect(lastMerge(['application', {}], ['agent', {}]).created).toBe(true)
    expect(lastMerge(['agent', {}], ['agent', { tags: ['t'] }]).created).toBe(false)
    expect(lastMerge(['agent', {}], ['application', {}]).created).toBe(false)
  })

  it('A repeated post of a source changes nothing, and the first of the other does', () => {
    const post: Post = { status: 'failed', counts: { steps: 1 } }
    expect(lastMerge(['agent', post], ['agent', post]).changed).toBe(false)
    expect(lastMerge(['agent', post], ['application', post]).changed).toBe(true)
    expect(lastMerge(['agent', post], ['application', post], ['agent', post], ['application', post]).changed).toBe(
      false,
    )
  })

  it("An agent's user is set once, and an application's is not", () => {
    const second = (source: RunSource, first: Post, then: Post): RunMerge =>
      mergeRun(lastMerge([source, first]).state, { runId: 'r', sessionId: 's', seq: 1, ...then }, source)
    const conflict = { outcome: 'conflict', fields: ['userId'] }
    expect(second('agent', { userId: 'a' }, { userId: 'b' })).toEqual(conflict)
    expect(second('agent', { userId: 'a' }, {})).toEqual(conflict)
    expect(second('agent', {}, { userId: 'a' })).toEqual(conflict)
    expect(second('agent', { userId: 'a' }, { userId: 'a' }).outcome).toBe('merged')
    expect(second('application', { userId: 'a' }, { userId: 'b' }).outcome).toBe('merged')
  })

  it('Ids that are set once conflict only within a source', () => {
    const state = lastMerge(['application', { parentRunId: 'p', attempt: 1 }]).state
    const post = { runId: 'r', sessionId: 's', parentRunId: 'q', attempt: 2 }
    expect(mergeRun(state, post, 'agent').outcome).toBe('merged')
    expect(mergeRun(state, post, 'application')).toEqual({ outcome: 'conflict', fields: ['parentRunId', 'attempt'] })
  })

  it('A field that is both outdated and recorded by the application is listed once, without its value', () => {
    const { ignored } = lastMerge(
      ['application', { model: 'mine', counts: { steps: 9 } }],
      ['agent', { seq: 5, model: 'later', environment: 'e', counts: { steps: 4 } }],
      ['agent', { seq: 1, model: 'earlier', environment: 'f', counts: { steps: 2 } }],
    )
    expect(ignored).toEqual([
      { field: 'counts.steps', reason: 'application_recorded' },
      { field: 'model', reason: 'application_recorded' },
      { field: 'environment', reason: 'superseded', kept: 'e' },
    ])
  })

  it('A principal that posts what is known already is added to those who posted', () => {
    const { changed, state } = lastMerge(['agent', { by: 'a', tags: ['t'] }], ['agent', { by: 'b', tags: ['t'] }])
    expect([changed, state.agent?.by]).toEqual([true, ['a', 'b']])
  })

  it('A state of another run is refused', () => {
    const { state } = lastMerge(['agent', {}])
    for (const other of [{ runId: 'x' }, { sessionId: 'x' }])
      expect(() => mergeRun(state, { runId: 'r', sessionId: 's', ...other }, 'agent')).toThrow('different runs')
  })
})

describe('byAgent', () => {
  const byAgent = (...posts: readonly SourcePost[]) => viewRun(storedAs(lastMerge(...posts).state)).byAgent
  const ended: Post = { status: 'failed', counts: { steps: 1 } }
  const instant = Date.parse('2026-11-21T08:00:00Z')

  it.each<[string, readonly SourcePost[], readonly string[] | undefined]>([
    ['nothing of an application', [['application', ended]], undefined],
    [
      'nothing that both reported',
      [
        ['application', ended],
        ['agent', ended],
      ],
      undefined,
    ],
    ['every value of a run of agents alone', [['agent', { ...ended, seq: 2 }]], ['/status', '/seq', '/counts']],
    ['also the status that no post stated', [['agent', { model: 'm' }]], ['/status', '/model']],
    [
      'an end',
      [
        ['application', { status: 'running' }],
        ['agent', ended],
      ],
      ['/status', '/counts'],
    ],
    [
      'no end beside that of the application',
      [
        ['application', { status: 'completed' }],
        ['agent', ended],
      ],
      ['/counts'],
    ],
    [
      'no amount beside one of the application',
      [
        ['application', { counts: { steps: 0 } }],
        ['agent', ended],
      ],
      ['/status'],
    ],
    [
      'no status that the run has anyway',
      [
        ['application', {}],
        ['agent', { status: 'running' }],
      ],
      undefined,
    ],
    [
      'the keys of metadata, escaped as in a JSON pointer',
      [
        ['application', { metadata: { plan: 'pro', gone: null } }],
        ['agent', { metadata: { plan: 'free', gone: 1, 'a/b': 1, 'a~1b': 1, 'a.b': 1, toString: 'x' } }],
      ],
      ['/metadata/a~1b', '/metadata/a~01b', '/metadata/a.b', '/metadata/toString'],
    ],
    [
      'members of the agent and the times',
      [
        ['application', { agent: { name: 'support' }, timings: { modelMs: 1 } }],
        ['agent', { agent: { id: 'admin-bot', name: 'other' }, timings: { modelMs: 2, toolMs: 3 } }],
      ],
      ['/agent/id', '/timings/toolMs'],
    ],
    [
      'a duration from the start of an agent to the end of the application',
      [
        ['application', { status: 'completed', timings: { endedAt: instant } }],
        ['agent', { timings: { startedAt: instant - 5 } }],
      ],
      ['/timings/startedAt', '/timings/durationMs'],
    ],
    [
      'fields that come whole from one source',
      [
        ['application', { status: 'running', tags: ['t'] }],
        [
          'agent',
          {
            ...{ environment: 'production', userId: 'eve', attempt: 2, tags: ['u'], parentRunId: 'p' },
            ...{ status: 'failed', finishReason: 'stop', error: { type: 'x' }, trace: { traceId: 'a', spanId: 'b' } },
          },
        ],
      ],
      [...['/status', '/parentRunId', '/attempt', '/finishReason', '/error', '/trace', '/userId', '/environment']],
    ],
  ])('lists %s', (_, posts, pointers) => {
    expect(byAgent(...posts)?.toSorted()).toEqual(pointers?.toSorted())
  })
})

describe('what a token is shown', () => {
  const cost = { amount: '3', currency: 'USD', source: 'local' } as const
  const derived: DerivedRunData = { ended: [], pending: [], cost }
  const shown = (...posts: readonly SourcePost[]) => viewAgentRun(storedAs(lastMerge(...posts).state, { derived }))
  const metered: Post = { counts: { inputTokens: 1 }, model: 'm' }

  it('A calculated cost is shown while it depends on nothing that an application named', () => {
    expect(shown(['agent', metered]).cost).toEqual(cost)
    expect(shown(['application', { tags: ['t'] }], ['agent', metered]).cost).toEqual(cost)
    expect(shown(['application', { provider: 'p' }], ['agent', metered]).cost).toBeUndefined()
    expect(shown(['application', { counts: { steps: 1 } }], ['agent', metered]).cost).toBeUndefined()
  })

  it('A run that only an application reported shows a token nothing of it', () => {
    const all: Post = { status: 'failed', counts: { steps: 1 }, tags: ['t'], userId: 'ann', metadata: { k: 'v' } }
    expect(shown(['application', all])).toEqual({ runId: 'r', sessionId: 's', status: 'running' })
    expect(shown(['application', all], ['agent', { status: 'waiting' }])).toEqual({
      ...{ runId: 'r', sessionId: 's', status: 'waiting' },
    })
  })
})
