import { describe, expect, it } from 'vitest'
import { mergeRun } from '../../src/core/runs/merge/merge-run.ts'
import type { RunSource, RunState, RunUpdate } from '../../src/model/run.ts'
import { hasMetered, meteringSource, namesModel, shownReport } from '../../src/model/shown-run.ts'

const ENDED_AT = 1_000

function merged(...posts: readonly (readonly [source: RunSource, post: Partial<RunUpdate>])[]): RunState {
  let state: RunState | undefined
  for (const [source, post] of posts) {
    const merge = mergeRun(state, { runId: 'r', sessionId: 's', ...post }, source)
    if (merge.outcome !== 'merged') throw new Error(merge.outcome)
    state = merge.state
  }
  if (state === undefined) throw new Error('no post')
  return state
}

const end = { status: 'completed', timings: { endedAt: ENDED_AT } } as const

it.each(['queuedAt', 'startedAt', 'firstTokenAt'] as const)(
  "An agent's %s after the application's end is not shown",
  (name) => {
    const at = (instant: number) =>
      shownReport(merged(['agent', { timings: { [name]: instant } }], ['application', end])).earliest
    expect(at(ENDED_AT)).toEqual({ [name]: ENDED_AT })
    expect(at(ENDED_AT + 1)).toEqual({})
  },
)

it("An agent's start after an end that its own replaced is shown", () => {
  const expired = { status: 'expired', timings: { endedAt: ENDED_AT } } as const
  const later = { status: 'completed', timings: { startedAt: 2_000, endedAt: 3_000 } } as const
  expect(shownReport(merged(['application', expired], ['agent', later])).earliest).toEqual({ startedAt: 2_000 })
})

it("An agent's instants are shown while only the agent has ended the run", () => {
  const state = merged(
    ['application', { status: 'running' }],
    ['agent', { timings: { queuedAt: 2_000 } }],
    ['agent', end],
  )
  expect(shownReport(state).earliest).toEqual({ queuedAt: 2_000 })
})

const cost = { amount: '1', currency: 'USD', source: 'client' } as const
const share = { provider: 'p', model: 'm', counts: { steps: 1 } }
const AMOUNTS: readonly Partial<RunUpdate>[] = [{ counts: { steps: 0 } }, { cost }, { usageByModel: [share] }]
const NAMES: readonly Partial<RunUpdate>[] = [{ provider: 'p' }, { model: 'm' }, { responseModel: 'm1' }]

describe('the source whose amounts a run has', () => {
  it('A report states an amount with a count, usage by model or a cost', () => {
    for (const amount of AMOUNTS) expect(hasMetered(merged(['agent', amount]).agent)).toBe(true)
    expect(hasMetered(merged(['agent', { countsScope: 'tree', model: 'm' }]).agent)).toBe(false)
    expect(hasMetered(undefined)).toBe(false)
  })

  it('A report names a model with its name, the name in the response, or its provider', () => {
    const names = (post: Partial<RunUpdate>): unknown => namesModel(shownReport(merged(['agent', post])))
    for (const name of NAMES) expect(names(name)).toBe(true)
    expect(names({ environment: 'e', counts: { steps: 1 } })).toBe(false)
  })

  it('An application that reported an amount meters the run, whatever agents report', () => {
    for (const amount of AMOUNTS) {
      expect(meteringSource(merged(['agent', { counts: { steps: 9 } }], ['application', amount]))).toBe('application')
      expect(meteringSource(merged(['application', {}], ['agent', amount]))).toBe('agent')
    }
  })

  it('Without amounts, an agent meters the run when it alone reports it or names its model', () => {
    expect(meteringSource(merged(['agent', {}]))).toBe('agent')
    expect(meteringSource(merged(['application', {}]))).toBe('application')
    expect(meteringSource(merged(['application', {}], ['agent', {}]))).toBe('application')
    for (const name of NAMES) {
      expect(meteringSource(merged(['application', {}], ['agent', name]))).toBe('agent')
      expect(meteringSource(merged(['application', name], ['agent', name]))).toBe('application')
    }
  })
})

describe('the report that a run shows', () => {
  const shown = (application: Partial<RunUpdate>, agent: Partial<RunUpdate>) =>
    shownReport(merged(['application', application], ['agent', agent]))

  it("A field has the application's value, or else the agent's", () => {
    const all = (mark: string, attempt: number): Partial<RunUpdate> => ({
      ...{ parentRunId: `parent-${mark}`, resumedFromRunId: `before-${mark}`, attempt, seq: attempt },
      ...{
        environment: mark,
        userId: mark,
        tags: [mark],
        metadata: { [mark]: 1, both: mark },
        timings: { modelMs: attempt },
      },
    })
    const [mine, theirs] = [all('mine', 1), all('theirs', 2)]
    expect(shown(mine, theirs)).toMatchObject({
      ...{ parentRunId: 'parent-mine', resumedFromRunId: 'before-mine', attempt: 1, seq: 1, tags: ['mine'] },
      latest: { environment: 'mine', userId: 'mine', 'timings.modelMs': 1 },
      metadata: { mine: 1, theirs: 1, both: 'mine' },
    })
    expect(shown({}, theirs)).toMatchObject({
      ...{ parentRunId: 'parent-theirs', resumedFromRunId: 'before-theirs', attempt: 2, seq: 2, tags: ['theirs'] },
      latest: { environment: 'theirs', userId: 'theirs', 'timings.modelMs': 2 },
      metadata: { theirs: 1, both: 'theirs' },
    })
  })

  it('A field that nobody reported is absent', () => {
    expect(shown({}, {})).toEqual({ seq: -1, earliest: {}, counts: {}, final: {}, latest: {}, metadata: {}, tags: [] })
    expect(shownReport({ runId: 'r', sessionId: 's' })).toMatchObject({ seq: -1, counts: {} })
  })

  it('The application may have posted its first report as number 0', () => {
    expect(shown({ seq: 0 }, { seq: 5 }).seq).toBe(0)
  })

  it('The fields of the end are those of the source of the status', () => {
    const ended = { status: 'failed', error: { type: 'e' }, timings: { endedAt: 3 } } as const
    expect(shown({ status: 'running' }, ended)).toMatchObject({
      status: 'failed',
      final: { endedAt: 3, error: { type: 'e' } },
    })
    expect(shown({ status: 'completed' }, ended)).toMatchObject({ status: 'completed', final: {} })
    expect(shown({ status: 'completed' }, ended).final).toEqual({})
    expect(shown({}, {})).not.toHaveProperty('status')
  })

  it('Fields of an end that were posted with another status are shown with that status', () => {
    const state = merged(
      ['application', { status: 'running' }],
      ['agent', { status: 'completed', seq: 1, error: { type: 'e' } }],
      ['agent', { status: 'failed', seq: 2 }],
    )
    expect(shownReport(state)).toMatchObject({ status: 'failed', finalWith: state.agent?.finalWith })
    expect(state.agent?.finalWith).toBeDefined()
  })

  it('Amounts come from the application once it reported one, with the names of its models', () => {
    const agent = {
      counts: { messages: 1 },
      cost,
      usageByModel: [share],
      countsScope: 'tree',
      model: 'theirs',
    } as const
    const metered = shown({ counts: { steps: 2 }, provider: 'mine' }, agent)
    expect(metered.counts).toEqual({ steps: 2 })
    expect(metered.latest).toEqual({ provider: 'mine' })
    const named = shown({ provider: 'mine', countsScope: 'self' }, agent)
    expect(named.counts).toEqual({ messages: 1 })
    expect(named.latest).toEqual({
      ...{ provider: 'mine', model: 'theirs', cost, usageByModel: [share], countsScope: 'tree' },
    })
    expect(shown({ countsScope: 'tree' }, { model: 'theirs' }).latest).toEqual({ countsScope: 'tree', model: 'theirs' })
  })

  it('The posters of both sources are listed once each, in order', () => {
    const state = merged(
      ['application', { by: 'b' }],
      ['agent', { by: 'c' }],
      ['agent', { by: 'a' }],
      ['agent', { by: 'b' }],
    )
    expect(shownReport(state).by).toEqual(['a', 'b', 'c'])
    expect(shown({ by: 'a' }, {}).by).toEqual(['a'])
    expect(shown({}, { by: 'a' }).by).toEqual(['a'])
    expect(shown({}, {})).not.toHaveProperty('by')
  })

  it('The report of a state is combined once', () => {
    const state = merged(['application', {}], ['agent', {}])
    expect(shownReport(state)).toBe(shownReport(state))
  })
})
