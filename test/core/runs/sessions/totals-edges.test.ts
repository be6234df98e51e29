import { describe, expect, it } from 'vitest'
import { toRunReport } from '../../../../src/core/runs/merge/merge-run.ts'
import { percentilesOf } from '../../../../src/core/runs/sessions/percentiles.ts'
import { totalsOfRun } from '../../../../src/core/runs/sessions/run-totals.ts'
import type { RunUpdate } from '../../../../src/model/run.ts'
import type { Totals } from '../../../../src/model/totals.ts'
import { NOW } from '../recorder.ts'

const NOTHING = { runId: 'r1', sessionId: 's1', status: 'completed' } as const

function tallied(update: Partial<RunUpdate>): Totals {
  return totalsOfRun({
    state: { runId: 'r', sessionId: 's', application: toRunReport({ ...NOTHING, ...update }) },
    derived: { ended: [], pending: [] },
  })
}

describe('times in the totals of a run', () => {
  it.each<[RunUpdate['timings'], Totals['time']]>([
    [undefined, {}],
    [{ modelMs: 7 }, { modelMs: 7 }],
    [{ toolMs: 6 }, { toolMs: 6 }],
    [{ activeMs: 5 }, { activeMs: 5 }],
    [{ durationMs: 9 }, { durationMs: 9 }],
    [
      { durationMs: 9, activeMs: 5 },
      { durationMs: 9, activeMs: 5, waitingMs: 4 },
    ],
    [
      { durationMs: 9, activeMs: 9 },
      { durationMs: 9, activeMs: 9, waitingMs: 0 },
    ],
    [
      { durationMs: 9, activeMs: 10 },
      { durationMs: 9, activeMs: 10 },
    ],
    [{ startedAt: NOW, endedAt: NOW + 3 }, { durationMs: 3 }],
  ])('The times of %j are %j', (timings, time) => {
    expect(tallied({ ...(timings && { timings }) }).time).toStrictEqual(time)
  })

  it.each<[RunUpdate['timings'], number | undefined]>([
    [{ timeToFirstTokenMs: 4 }, 4],
    [{ startedAt: NOW, firstTokenAt: NOW + 3 }, 3],
    [{ startedAt: NOW, firstTokenAt: NOW }, 0],
    [{ startedAt: NOW, firstTokenAt: NOW - 1 }, undefined],
    [{ startedAt: NOW, firstTokenAt: NOW + 3, timeToFirstTokenMs: 4 }, 4],
    [{ startedAt: NOW }, undefined],
    [{ firstTokenAt: NOW }, undefined],
  ])('The time to the first token of %j is %j', (timings = {}, ms) => {
    const expected = ms === undefined ? {} : { [`${ms}ms`]: 1 }
    expect(tallied({ timings }).firstTokens).toEqual(expected)
  })
})

describe('counts of a model', () => {
  it('A model has all counts of its run, custom counters included', () => {
    const counts = { inputTokens: 1, toolCalls: 2 }
    expect(tallied({ provider: 'p', model: 'm', counts }).models).toEqual({ p: { m: { runs: 1, counts, cost: {} } } })
    expect(tallied({ counts: { ...counts, searches: 3 } })).toMatchObject({
      counts: { ...counts, searches: 3 },
      models: { '': { '': { counts: { ...counts, searches: 3 } } } },
    })
  })
})

describe('percentiles', () => {
  it('Percentiles use each duration alone, and none that was subtracted', () => {
    const sum: Record<string, number> = {}
    for (const durationMs of [3, 3, 1_000, 2 ** 32, 2 ** 32 + 5]) {
      const { durations } = tallied({ timings: { durationMs } })
      expect(Object.values(durations)).toEqual([1])
      for (const [bucket, runs] of Object.entries(durations)) sum[bucket] = (sum[bucket] ?? 0) + runs
    }
    expect(sum['3ms']).toBe(2)
    expect(Object.values(sum).reduce((all, runs) => all + runs, 0)).toBe(5)
    expect(percentilesOf({ '3ms': 1, '4ms': 0 })).toEqual(percentilesOf({ '3ms': 1 }))
  })
})
