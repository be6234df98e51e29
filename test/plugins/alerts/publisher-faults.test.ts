import { describe, expect, it } from 'vitest'
import { checkBudgets } from '../../../src/plugins/alerts/budgets.ts'
import type { BudgetEventFacts } from '../../../src/plugins/alerts/run-events.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { logged, pending, postRun, reported, type Store } from '../../compose/run-host.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { mailOf, reportAll, runTestApp } from './publishing.ts'

const settled = async (): Promise<void> => {
  for (let round = 0; round < 5; round++) await new Promise(setImmediate)
}

describe('a publisher that fails', () => {
  it.each<[string, (real: Store) => Partial<Store>]>([
    ['cannot be read', () => ({ findRun: async () => fail() })],
    [
      'cannot be marked as published',
      (real) => {
        let merges = 0
        return { mergeRun: async (...args) => (++merges > 1 ? fail() : real.mergeRun(...args)) }
      },
    ],
  ])('A run that %s stays pending with a log line, and is published once by the next call', async (_, faults) => {
    const clock = fakeClock()
    const real = memoryStore({ clock })
    const own = runTestApp({ clock, store: { ...real, ...faults(real) } })
    await postRun(own.sallyport, { runId: 'r1', status: 'failed' })
    await settled()
    const fields = { runId: 'r1', cause: 'TypeError', stack: expect.any(String) }
    expect(own.logger.lines).toContainEqual({ level: 'error', event: 'run_event.failed', fields })
    expect(logged(own, 'run_event.failed')).toEqual([fields])
    expect(await pending(real)).toEqual(['r1 failed'])
    const next = runTestApp({ clock, store: real })
    await next.sallyport.worker.runDue()
    expect([await reported(real), await pending(real)]).toEqual([['run.failed r1@example.com'], []])
  })
})

describe('faults of the host', () => {
  it('An event without a target, or of a removed run, is no fault', async () => {
    const clock = fakeClock()
    for (const given of [
      { runEvents: { 'run.failed': () => null as never } },
      { store: { ...memoryStore({ clock }), findRun: async () => undefined } },
    ]) {
      const own = runTestApp({ clock, ...given })
      await postRun(own.sallyport, { runId: 'r1', status: 'failed' })
      await settled()
      expect([await reported(own.store), own.logger.lines]).toEqual([[], []])
    }
  })

  it('Only events that cannot be dispatched are logged as errors', async () => {
    const odd = runTestApp({ runEvents: { 'run.failed': () => ({ recipient: 5 }) as never } })
    await postRun(odd.sallyport, { runId: 'r1', status: 'failed' })
    await settled()
    const fields = { eventType: 'run.failed', runId: 'r1', code: 'target_invalid', detail: expect.any(String) }
    expect(odd.logger.lines).toEqual([{ level: 'error', event: 'run_event.refused', fields }])
    const own = runTestApp()
    await postRun(own.sallyport, { runId: 'r1', status: 'failed' })
    await settled()
    expect(own.logger.lines).toEqual([])
  })

  it('onError receives an error of a run event function', async () => {
    const thrown = new RangeError('no total')
    const seen: unknown[] = []
    const own = runTestApp({
      hooks: { onError: (...args) => void seen.push(args) },
      runEvents: { 'run.failed': () => Promise.reject(thrown) },
    })
    await postRun(own.sallyport, { runId: 'r1', status: 'failed' })
    await settled()
    expect(seen).toEqual([[thrown, { operation: 'run_event', eventType: 'run.failed', runId: 'r1' }]])
  })

  it('An event is published although another signal of the run stays pending', async () => {
    const clock = fakeClock()
    const real = memoryStore({ clock })
    const runEvents = { ...reportAll, 'budget.exceeded': mailOf }
    const budgets = [{ name: 'b', per: 'session', soft: { tokens: 1 } }] as const
    const down = runTestApp({ clock, store: { ...real, findRun: async () => fail() }, budgets, runEvents })
    await postRun(down.sallyport, { runId: 'r1', status: 'failed', counts: { inputTokens: 1 } })
    await settled()
    expect(await pending(real)).toEqual(['r1 failed', 'r1 budget'])
    const next = runTestApp({ clock, store: real })
    await postRun(next.sallyport, { runId: 'r1', tags: ['x'] })
    await settled()
    expect([await reported(real), await pending(real)]).toEqual([['run.failed r1@example.com'], ['r1 budget']])
  })
})

describe('a dispatch with an internal error', () => {
  it('A dispatch with an internal error leaves the event pending', async () => {
    let ids = 0
    const own = runTestApp({ ids: { next: (prefix) => (prefix === 'dsp' ? fail() : `${prefix}_${++ids}`) } })
    await postRun(own.sallyport, { runId: 'r1', status: 'failed' })
    await settled()
    const fields = { eventType: 'run.failed', runId: 'r1', code: 'internal_error' }
    expect(own.logger.lines).toContainEqual({ level: 'error', event: 'run_event.failed', fields })
    expect(await pending(own.store)).toEqual(['r1 failed'])
  })
})

describe('spend in budget events', () => {
  it('A daily budget is published again the next day, and one without days is not', async () => {
    const clock = fakeClock()
    const budgets = [
      { name: 'day', per: 'user', days: 1, soft: { tokens: 10 } },
      { name: 'ever', per: 'user', soft: { tokens: 10 } },
    ] as const
    const runEvents = { 'budget.exceeded': ({ budget }: BudgetEventFacts) => ({ recipient: `${budget.name}@a.b` }) }
    const own = runTestApp({ clock, budgets, runEvents })
    for (const runId of ['r1', 'r2']) {
      await postRun(own.sallyport, { runId, userId: 'u1', counts: { inputTokens: 10 } })
      await own.sallyport.worker.runDue()
      clock.advance(86_400_000)
    }
    const [day, ever] = ['budget.exceeded day@a.b', 'budget.exceeded ever@a.b']
    expect(await reported(own.store)).toEqual([day, day, ever])
  })

  it('Spend is listed by currency and never below zero', async () => {
    const spend = { runs: 1, tokens: -1, cost: { USD: '1', EUR: '-2', CHF: '3' }, unpricedRuns: -1, unpricedTokens: -1 }
    const store = { findSpend: async () => spend, findSession: async () => undefined }
    const of = { tenant: 't', userId: 'u' }
    const { budgets } = await checkBudgets([{ name: 'b', per: 'user', soft: { tokens: 1 } }], of, 0, store)
    const cost = [
      { amount: '3', currency: 'CHF' },
      { amount: '1', currency: 'USD' },
    ]
    expect(budgets).toMatchObject([{ level: 'within', spent: { tokens: 0, cost }, unpriced: { runs: 0, tokens: 0 } }])
  })
})

function fail(): never {
  throw new TypeError('down')
}
