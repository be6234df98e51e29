import { describe, expect, it } from 'vitest'
import { liftRun } from '../../src/core/runs/lift-run.ts'
import { rollUpSession } from '../../src/core/runs/session-view.ts'
import type { RunUpdate, Session } from '../../src/model/run.ts'

const SESSION = { tenant: 't', sessionId: 's1', createdAt: 0, updatedAt: 1000 }

function roll(...runs: Omit<RunUpdate, 'sessionId'>[]): Session {
  const stored = runs.map((run) => ({
    tenant: 't',
    state: liftRun({ ...run, sessionId: 's1' }),
    createdAt: 0,
    updatedAt: 0,
    revision: 1,
  }))
  return rollUpSession(SESSION, stored)
}

describe('a session', () => {
  it('without runs has no counts', () => {
    expect(roll()).toEqual({
      sessionId: 's1',
      createdAt: '1970-01-01T00:00:00.000Z',
      updatedAt: '1970-01-01T00:00:01.000Z',
      runs: { total: 0, byStatus: {} },
      counts: {},
    })
  })

  it('counts its runs by status and sums what they tell', () => {
    const session = roll(
      { runId: 'a', status: 'completed', counts: { inputTokens: 10, toString: 1 } },
      { runId: 'b', status: 'completed', counts: { inputTokens: 5, steps: 2 } },
      { runId: 'c' },
    )
    expect(session.runs).toEqual({ total: 3, byStatus: { completed: 2, running: 1 } })
    expect(session.counts).toEqual({ inputTokens: 15, steps: 2, toString: 1 })
  })

  it('does not count twice what a run tells for its whole tree, whatever the order', () => {
    const tree = [
      { runId: 'top', countsScope: 'tree', counts: { inputTokens: 100 } },
      { runId: 'child', parentRunId: 'top', counts: { inputTokens: 60, toolCalls: 3 } },
      { runId: 'grandchild', parentRunId: 'child', counts: { inputTokens: 20, toolCalls: 4 } },
      { runId: 'other', counts: { inputTokens: 1 } },
      { runId: 'orphan', parentRunId: 'elsewhere', counts: { inputTokens: 2 } },
    ] as const
    const counts = { inputTokens: 103, toolCalls: 7 }
    expect(roll(...tree).counts).toEqual(counts)
    expect(roll(...[...tree].reverse()).counts).toEqual(counts)
  })

  it('adds up runs that tell for themselves alone, parents and children', () => {
    const session = roll({ runId: 'a', counts: { steps: 1 } }, { runId: 'b', parentRunId: 'a', counts: { steps: 2 } })
    expect(session.counts).toEqual({ steps: 3 })
  })

  it('does not hang on runs that are each other’s parents, or their own', () => {
    const circle = { countsScope: 'tree', counts: { steps: 1 } } as const
    expect(roll({ runId: 'a', parentRunId: 'a', ...circle }).counts).toEqual({ steps: 1 })
    const session = roll({ runId: 'a', parentRunId: 'b', ...circle }, { runId: 'b', parentRunId: 'a', ...circle })
    expect(session.runs.total).toBe(2)
    expect(session.counts.steps).toBeGreaterThan(0)
  })

  it('rolls up a chain of 20,000 runs', () => {
    const chain = Array.from({ length: 20_000 }, (_, n) => ({
      runId: `r${n}`,
      ...(n > 0 && { parentRunId: `r${n - 1}` }),
      ...(n === 0 && { countsScope: 'tree' as const }),
      counts: { steps: 1 },
    }))
    expect(roll(...chain.reverse()).counts).toEqual({ steps: 1 })
  })
})
