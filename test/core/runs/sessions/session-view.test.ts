import { describe, expect, it } from 'vitest'
import { histogramOf } from '../../../../src/core/runs/sessions/percentiles.ts'
import { viewSession } from '../../../../src/core/runs/sessions/session-view.ts'
import type { RunUpdate } from '../../../../src/model/run.ts'
import { noSpend, noTotals, type Totals } from '../../../../src/model/totals.ts'
import type { StoredSession } from '../../../../src/ports/run-store.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { record } from '../recorded.ts'
import { NOW, stillClock } from '../recorder.ts'

const MAX = Number.MAX_SAFE_INTEGER

function viewOf(totals: Partial<Totals>, more: Partial<StoredSession> = {}): ReturnType<typeof viewSession> {
  const whole = { ...noTotals(), ...totals }
  return viewSession({
    tenant: 't',
    sessionId: 's1',
    createdAt: 0,
    updatedAt: 1000,
    totals: whole,
    failures: [],
    ...more,
  })
}

const run = (runId: string, more: Partial<RunUpdate> = {}): RunUpdate => ({ sessionId: 's1', runId, ...more })

describe('the view of a session', () => {
  it('A session without runs has empty totals', () => {
    expect(viewOf({})).toEqual({
      sessionId: 's1',
      createdAt: '1970-01-01T00:00:00.000Z',
      updatedAt: '1970-01-01T00:00:01.000Z',
      runs: { total: 0, byStatus: {} },
      counts: {},
      cost: [],
      tokens: 0,
      byAgent: { tokens: 0, cost: [] },
      unpriced: { runs: 0, tokens: 0 },
      models: [],
      providers: [],
      time: {},
    })
  })

  it('A session shows the totals of its runs', async () => {
    const store = memoryStore({ clock: stillClock() })
    const cost = (amount: string, currency = 'USD') => ({ amount, currency, source: 'client' as const })
    const timings = (durationMs: number) => ({ durationMs, activeMs: 40, timeToFirstTokenMs: 7 })
    await record(store, [
      run('r1', { provider: 'b', model: 'y', status: 'running', counts: { inputTokens: 1, toolErrors: 0 } }),
      run('r2', { provider: 'b', model: 'x', status: 'completed', cost: cost('0.2'), timings: timings(60) }),
      run('r3', { provider: 'a', status: 'completed', cost: cost('0.1'), timings: timings(40), counts: { steps: 2 } }),
      run('r4', { model: 'x', cost: cost('0.000001', 'EUR'), counts: { steps: 3 } }),
      run('r5', { status: 'failed', error: { type: 'timeout' } }),
      run('r1', { seq: 5, status: 'cancelled', model: 'x' }),
    ])
    const session = await store.findSession('t', 's1')
    if (!session) throw new Error('no session')
    const at = new Date(NOW).toISOString()
    expect(viewSession(session)).toEqual({
      sessionId: 's1',
      createdAt: at,
      updatedAt: at,
      runs: { total: 5, byStatus: { completed: 2, running: 1, failed: 1, cancelled: 1 } },
      counts: { inputTokens: 1, toolErrors: 0, steps: 5 },
      cost: [
        { amount: '0.000001', currency: 'EUR' },
        { amount: '0.3', currency: 'USD' },
      ],
      tokens: 1,
      byAgent: { tokens: 0, cost: [] },
      unpriced: { runs: 1, tokens: 1 },
      models: [
        { runs: 1, counts: {}, cost: [] },
        { model: 'x', runs: 1, counts: { steps: 3 }, cost: [{ amount: '0.000001', currency: 'EUR' }] },
        { provider: 'a', runs: 1, counts: { steps: 2 }, cost: [{ amount: '0.1', currency: 'USD' }] },
        { provider: 'b', model: 'x', runs: 2, counts: { inputTokens: 1 }, cost: [{ amount: '0.2', currency: 'USD' }] },
      ],
      providers: [
        { runs: 2, counts: { steps: 3 }, cost: [{ amount: '0.000001', currency: 'EUR' }] },
        { provider: 'a', runs: 1, counts: { steps: 2 }, cost: [{ amount: '0.1', currency: 'USD' }] },
        { provider: 'b', runs: 2, counts: { inputTokens: 1 }, cost: [{ amount: '0.2', currency: 'USD' }] },
      ],
      duration: { runs: 2, p50: 40, p95: 60 },
      timeToFirstToken: { runs: 2, p50: 7, p95: 7 },
      time: { durationMs: 100, activeMs: 80, waitingMs: 20 },
      lastError: { runId: 'r5', at, error: { type: 'timeout' } },
    })
  })

  it('A session shows models that a run of another model used', async () => {
    const store = memoryStore({ clock: stillClock() })
    const usageByModel = [
      { provider: 'p', model: 'small', counts: { steps: 2 } },
      { provider: 'p', model: 'small', counts: { steps: 3 } },
      { provider: 'p', model: 'large', counts: { steps: 1 }, cost: { amount: '2', currency: 'EUR', source: 'client' } },
    ] as const
    await record(store, [run('r1', { provider: 'p', model: 'large', counts: { steps: 9 }, usageByModel })])
    const session = await store.findSession('t', 's1')
    expect(session && viewSession(session).models).toEqual([
      { provider: 'p', model: 'large', runs: 1, counts: { steps: 1 }, cost: [{ amount: '2', currency: 'EUR' }] },
      { provider: 'p', model: 'small', runs: 0, counts: { steps: 5 }, cost: [] },
    ])
  })

  it('A session does not show entries that were subtracted completely', () => {
    const gone = { runs: 0, counts: { steps: 0 }, cost: { EUR: '0' } }
    const view = viewOf({
      byStatus: { running: 0, completed: 1 },
      models: { p: { m: gone, n: { runs: 1, counts: { steps: 0 }, cost: {} } }, q: { m: gone } },
      time: { toolMs: 0, modelMs: 1 },
      durations: { '5ms': 0 },
    })
    expect(view.runs.byStatus).toEqual({ completed: 1 })
    expect(view.models).toEqual([{ provider: 'p', model: 'n', runs: 1, counts: {}, cost: [] }])
    expect(view.providers).toEqual([{ provider: 'p', runs: 1, counts: {}, cost: [] }])
    expect(view.time).toEqual({ modelMs: 1 })
    expect(view).not.toHaveProperty('duration')
    expect(view).not.toHaveProperty('lastError')
  })

  it('A session shows which part of its tokens and cost only agents reported', () => {
    const spend = (tokens: number, EUR: string) => ({ ...noSpend(), tokens, cost: { EUR } })
    const totals = { spend: spend(5, '1'), agent: { ...noTotals(), spend: spend(2, '0.5') } }
    expect(viewOf(totals)).toMatchObject({
      ...{ tokens: 7, cost: [{ amount: '1.5', currency: 'EUR' }] },
      byAgent: { tokens: 2, cost: [{ amount: '0.5', currency: 'EUR' }] },
    })
    const corrected = viewOf({ ...totals, agent: { ...noTotals(), spend: spend(-2, '-0.5') } })
    expect(corrected).toMatchObject({
      ...{ tokens: 5, cost: [{ amount: '1', currency: 'EUR' }] },
      byAgent: { tokens: 0, cost: [] },
    })
  })

  it.each<[string, Partial<Totals>]>([
    ['tokens', { spend: { ...noSpend(), tokens: MAX + 1 } }],
    ['unpriced tokens', { spend: { ...noSpend(), unpricedTokens: MAX } }],
    ['counts', { counts: { steps: 3, messages: MAX } }],
    ['counts of a model', { models: { p: { m: { runs: 1, counts: { steps: MAX * 3 }, cost: {} } } } }],
    ['times', { time: { toolMs: MAX } }],
    [
      'tokens of both sources together',
      { spend: { ...noSpend(), tokens: MAX - 1 }, agent: { ...noTotals(), spend: { ...noSpend(), tokens: 1 } } },
    ],
  ])('A session whose sum of %s stopped says so', (_, totals) => {
    expect(viewOf(totals).inexact).toBe(true)
  })

  it('A session says nothing of sums that are exact, nor of percentiles', () => {
    const spend = { ...noSpend(), tokens: MAX - 1 }
    const view = viewOf({ spend, counts: { steps: MAX - 1 }, time: { toolMs: MAX - 1 } })
    expect(view).not.toHaveProperty('inexact')
    expect(viewOf({ durations: histogramOf(MAX) })).not.toHaveProperty('inexact')
  })

  it('Numbers of a session are from 0 to 2^53 - 1', () => {
    const view = viewOf({
      spend: { runs: -1, tokens: 0, cost: { EUR: '-1' }, unpricedRuns: -2, unpricedTokens: MAX * 4 },
      byStatus: { running: -1 },
      counts: { steps: -1, messages: MAX * 2 },
      models: { p: { m: { runs: -1, counts: { steps: -1 }, cost: { EUR: '-1' } } } },
      time: { toolMs: -1, modelMs: MAX * 2 },
    })
    expect(view.runs).toEqual({ total: 0, byStatus: {} })
    expect(view.unpriced).toEqual({ runs: 0, tokens: MAX })
    expect(view.counts).toEqual({ steps: 0, messages: MAX })
    expect([view.cost, view.models, view.providers]).toEqual([[], [], []])
    expect(view.time).toEqual({ modelMs: MAX })
  })

  it('A last error that only an agent reported is marked', () => {
    const at = new Date(5).toISOString()
    expect(viewOf({}, { failures: [{ runId: 'r', at: 5, byAgent: true }] }).lastError).toEqual({
      ...{ runId: 'r', at, byAgent: true },
    })
    expect(viewOf({}, { failures: [{ runId: 'r', at: 5 }] }).lastError).toEqual({ runId: 'r', at })
  })

  it('The view of a session shares nothing with the stored session', () => {
    const error = { type: 'timeout' }
    const view = viewOf(
      {},
      {
        failures: [
          { runId: 'r2', at: 5, error },
          { runId: 'r1', at: 4 },
        ],
      },
    )
    expect(view.lastError).toEqual({ runId: 'r2', at: '1970-01-01T00:00:00.005Z', error })
    expect(view.lastError?.error).not.toBe(error)
  })
})
