import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../../src/core/json/canonical-json.ts'
import { joinReports } from '../../../../src/core/runs/merge/join-runs.ts'
import { mergeRun, type RunMerge, toRunReport } from '../../../../src/core/runs/merge/merge-run.ts'
import { endsBeforeStart, finalOf, viewRun } from '../../../../src/core/runs/merge/selectors.ts'
import { statusNamed } from '../../../../src/core/runs/status-names.ts'
import type { RunReport, RunState, RunUpdate } from '../../../../src/model/run.ts'
import { isFinal, statusOfRun } from '../../../../src/model/run-status.ts'
import { shownReport } from '../../../../src/model/shown-run.ts'
import { fc, runs, TIMEOUT_MS } from '../../../support/properties.ts'
import { expectedRun } from '../oracle.ts'
import { shuffled, update, updates } from '../posts.ts'
import { storedAs } from '../stored.ts'

/** Per law; a full run tries 21,000 sequences in all. On failure the seed and the path to repeat it with are printed. */
const RUNS = { numRuns: runs(3500) }

function merged(current: RunState | undefined, post: RunUpdate): Extract<RunMerge, { outcome: 'merged' }> {
  const merge = mergeRun(current, post)
  if (merge.outcome !== 'merged') throw new Error(`conflict in ${merge.fields.join()}`)
  return merge
}

function mergeAll(posts: readonly RunUpdate[]): RunState {
  const [first, ...rest] = posts
  if (!first) throw new Error('no posts')
  return rest.reduce((state, post) => merged(state, post).state, merged(undefined, first).state)
}

function stateOf(post: RunUpdate): RunState {
  return { runId: post.runId, sessionId: post.sessionId, application: toRunReport(post) }
}

function reportOf(posts: readonly RunUpdate[]): RunReport {
  return shownReport(mergeAll(posts))
}

const same = (a: unknown, b: unknown) => expect(canonicalJson(a)).toBe(canonicalJson(b))

describe('laws of mergeRun', { timeout: TIMEOUT_MS }, () => {
  it('Posts give the same run in every order, with repeats anywhere', () => {
    fc.assert(
      fc.property(shuffled, ([posts, others]) => {
        const state = mergeAll(posts)
        same(mergeAll(others), state)
        same(viewRun(storedAs(mergeAll(others))), viewRun(storedAs(state)))
      }),
      RUNS,
    )
  })

  it('joinReports is commutative, associative and idempotent', () => {
    fc.assert(
      fc.property(updates, updates, updates, (first, second, third) => {
        const [a, b, c] = [reportOf(first), reportOf(second), reportOf(third)]
        same(joinReports(a, b), joinReports(b, a))
        same(joinReports(joinReports(a, b), c), joinReports(a, joinReports(b, c)))
        expect(joinReports(a, a)).toBe(a)
        same(joinReports(joinReports(a, b), b), joinReports(a, b))
        expect(joinReports(a, structuredClone(a))).toBe(a)
      }),
      RUNS,
    )
  })

  it('A post that was merged before changes nothing', () => {
    fc.assert(
      fc.property(updates, (posts) => {
        const state = mergeAll(posts)
        for (const post of posts) {
          const again = merged(state, structuredClone(post))
          expect(again.changed).toBe(false)
          expect(again.state).toBe(state)
        }
      }),
      RUNS,
    )
  })

  it('A final run never reopens and never expires', () => {
    fc.assert(
      fc.property(updates, (posts) => {
        let state: RunState | undefined
        for (const post of posts) {
          const before = state && statusOfRun(state)
          state = merged(state, post).state
          if (before !== undefined && isFinal(before)) expect(isFinal(statusOfRun(state))).toBe(true)
          if (before === 'expired') expect(['queued', 'running', 'waiting']).not.toContain(statusOfRun(state))
        }
      }),
      RUNS,
    )
  })

  it('A merged run equals the result of an oracle over all posts', () => {
    fc.assert(
      fc.property(updates, (posts) => {
        const state = mergeAll(posts)
        const report = shownReport(state)
        const run = viewRun(storedAs(state))
        const at = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text))
        same(expectedRun(posts), {
          status: run.status,
          model: run.model,
          agentName: run.agent?.name,
          agentVersion: run.agent?.version,
          cost: run.cost,
          toolMs: run.timings?.toolMs,
          waitingFor: run.waitingFor,
          queuedAt: at(run.timings?.queuedAt),
          startedAt: at(run.timings?.startedAt),
          endedAt: at(run.timings?.endedAt),
          reportedDurationMs: finalOf(report, 'durationMs'),
          error: run.error,
          finishReason: run.finishReason,
          inputTokens: run.counts?.inputTokens,
          outputTokens: run.counts?.outputTokens,
          steps: run.counts?.steps,
          usageDoubt: run.usageDoubt,
          tags: run.tags ?? [],
          k: run.metadata?.k,
          toString: run.metadata && Object.hasOwn(run.metadata, 'toString') ? run.metadata.toString : undefined,
          parentRunId: run.parentRunId,
          attempt: run.attempt,
        })
        expect(endsBeforeStart(report)).toBe(
          (finalOf(report, 'endedAt') ?? Infinity) < (report.earliest.startedAt ?? 0),
        )
      }),
      RUNS,
    )
  })

  it('`ignored` lists exactly the posted fields that the run does not show', () => {
    fc.assert(
      fc.property(updates, update, (posts, post) => {
        const merge = merged(mergeAll(posts), post)
        const run = viewRun(storedAs(merge.state))
        const hidden: string[] = []
        const look = (field: string, reported: unknown, shown: unknown) => {
          if (reported !== undefined && canonicalJson(reported) !== canonicalJson(shown)) hidden.push(field)
        }
        look('status', post.status, run.status)
        look('model', post.model, run.model)
        look('agent.name', post.agent?.name, run.agent?.name)
        look('cost', post.cost, run.cost)
        look('counts.steps', post.counts?.steps, run.counts?.steps)
        look('error', post.error, run.error)
        look('finishReason', post.finishReason, run.finishReason)
        look('timings.durationMs', post.timings?.durationMs, finalOf(shownReport(merge.state), 'durationMs'))
        const fields = merge.ignored.map(({ field }) => field)
        expect(hidden.filter((field) => !fields.includes(field))).toEqual([])
        const looked = /^(status|model|agent\.name|cost|counts\.steps|error|finishReason|timings\.durationMs)$/
        expect(fields.filter((field) => looked.test(field) && !hidden.includes(field))).toEqual([])
      }),
      RUNS,
    )
  })

  it('mergeRun changes no argument and shares nothing with the update', () => {
    fc.assert(
      fc.property(updates, update, (posts, post) => {
        const state = mergeAll(posts)
        const before = canonicalJson([state, post])
        const merge = merged(state, post)
        same([state, post], JSON.parse(before))
        const after = canonicalJson(merge.state)
        if (post.cost) Object.assign(post.cost, { amount: 'changed' })
        if (post.error) Object.assign(post.error, { type: 'changed' })
        if (post.tags) Object.assign(post.tags, ['changed'])
        if (post.counts) Object.assign(post.counts, { steps: -1 })
        expect(canonicalJson(merge.state)).toBe(after)
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('mergeRun', () => {
  const post: RunUpdate = { runId: 'r1', sessionId: 's1' }

  it('A state and an update of different runs are a programming error', () => {
    for (const other of [{ sessionId: 's2' }, { runId: 'r2' }])
      expect(() => mergeRun(stateOf(post), { ...post, ...other })).toThrow(TypeError)
  })

  it('Different ids that are set once conflict in either order', () => {
    const ids = [{ parentRunId: 'q' }, { resumedFromRunId: 'q' }, { attempt: 3 }]
    const full = { ...post, parentRunId: 'p', resumedFromRunId: 'f', attempt: 1 }
    for (const other of ids) {
      const conflict = { outcome: 'conflict', fields: Object.keys(other) }
      expect(mergeRun(stateOf(full), { ...full, ...other })).toEqual(conflict)
      expect(mergeRun(stateOf({ ...full, ...other }), full)).toEqual(conflict)
    }
  })

  it('Final fields of an update without a final status are ignored', () => {
    const update = { ...post, timings: { endedAt: 1e12, durationMs: 3 }, error: { type: 'x' }, finishReason: 'stop' }
    const ignored = ['timings.endedAt', 'timings.durationMs', 'error', 'finishReason'].map((field) => ({
      field,
      reason: 'not_final',
    }))
    for (const status of [{}, { status: 'waiting' }] as const) {
      const first = merged(undefined, { ...update, ...status })
      expect(first.ignored).toEqual(ignored)
      expect(first.state.application?.final).toEqual({})
      expect(merged(stateOf({ ...post, ...status }), { ...update, ...status })).toMatchObject({
        ignored,
        changed: false,
      })
    }
  })

  it('A late final status replaces expired, and a late open status does not', () => {
    const expired = stateOf({ ...post, status: 'expired', seq: 9, timings: { endedAt: 1e12 } })
    expect(statusOfRun(merged(expired, { ...post, status: 'running', seq: 10 }).state)).toBe('expired')
    expect(statusOfRun(merged(expired, { ...post, status: 'completed' }).state)).toBe('completed')
  })

  it('The status waiting goes back to running only with a greater seq', () => {
    const waiting = stateOf({ ...post, status: 'waiting', seq: 1 })
    expect(statusOfRun(merged(waiting, { ...post, status: 'running', seq: 1 }).state)).toBe('waiting')
    expect(statusOfRun(merged(waiting, { ...post, status: 'running', seq: 2 }).state)).toBe('running')
  })

  it('Aliases of statuses are recognised in any case and with either dash', () => {
    const names = {
      PENDING: 'queued',
      'In-Progress': 'running',
      'input-required': 'waiting',
      ok: 'completed',
      aborted: 'cancelled',
    }
    for (const [name, status] of Object.entries(names)) expect(statusNamed(name)).toBe(status)
    for (const name of ['interrupted', 'expired', '', 'toString']) expect(statusNamed(name)).toBeUndefined()
  })
})
