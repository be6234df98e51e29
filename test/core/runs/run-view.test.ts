import { describe, expect, it } from 'vitest'
import { toRunReport } from '../../../src/core/runs/merge/merge-run.ts'
import { viewRun } from '../../../src/core/runs/merge/selectors.ts'
import type { Run, RunState, RunUpdate } from '../../../src/model/run.ts'
import { NOW } from './recorder.ts'
import { storedAs } from './stored.ts'

function view(update: Partial<RunUpdate>): Run {
  const state = stateOf({ runId: 'r1', sessionId: 's1', ...update })
  return viewRun(storedAs(state, { createdAt: NOW, updatedAt: NOW + 1, lastSeenAt: NOW + 2, revision: 2 }))
}

function stateOf(update: RunUpdate): RunState {
  return { runId: update.runId, sessionId: update.sessionId, application: toRunReport(update) }
}

describe('viewRun', () => {
  it('A viewed run has no tenant, no empty objects and no unknown values', () => {
    expect(view({ agent: {}, timings: {}, counts: {}, tags: [], metadata: { gone: null } })).toEqual({
      runId: 'r1',
      sessionId: 's1',
      status: 'running',
      createdAt: '2026-11-21T08:00:00.000Z',
      updatedAt: '2026-11-21T08:00:00.001Z',
      lastSeenAt: '2026-11-21T08:00:00.002Z',
      revision: 2,
    })
  })

  it('A viewed run keeps posted 0 and false', () => {
    const run = view({
      seq: 0,
      counts: { steps: 0 },
      timings: { toolMs: 0 },
      metadata: { no: false, zero: 0, empty: '' },
    })
    expect(run).toMatchObject({
      seq: 0,
      counts: { steps: 0 },
      timings: { toolMs: 0 },
      metadata: { no: false, zero: 0, empty: '' },
    })
  })

  it('A viewed run has its posted duration, or the time from start to end, or none', () => {
    const startedAt = NOW - 5000
    expect(
      view({ status: 'completed', timings: { startedAt, endedAt: NOW, durationMs: 4321 } }).timings?.durationMs,
    ).toBe(4321)
    expect(view({ status: 'completed', timings: { startedAt, endedAt: NOW } }).timings?.durationMs).toBe(5000)
    expect(view({ status: 'expired', timings: { startedAt, endedAt: NOW } }).timings?.durationMs).toBe(5000)
    expect(view({ status: 'completed', timings: { startedAt } }).timings).toEqual({
      startedAt: '2026-11-21T07:59:55.000Z',
    })
    expect(view({ status: 'completed', timings: { endedAt: NOW } }).timings).not.toHaveProperty('durationMs')
  })

  it('A viewed run shares nothing with the stored run', () => {
    const state = stateOf({
      runId: 'r1',
      sessionId: 's1',
      status: 'failed',
      error: { type: 'x' },
      cost: { amount: '1', currency: 'EUR', source: 'client' },
      trace: { traceId: 'a', spanId: 'b' },
      usageByModel: [{ provider: 'p', model: 'm', counts: { steps: 1 } }],
      counts: { steps: 1 },
      metadata: { k: 1 },
      tags: ['a'],
    })
    const before = structuredClone(state)
    const scribble = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      for (const member of Object.values(value)) scribble(member)
      Object.assign(value, { scribble: true, 0: 'scribble' })
    }
    scribble(viewRun(storedAs(state)))
    expect(state).toEqual(before)
  })
})
