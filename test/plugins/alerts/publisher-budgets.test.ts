import { describe, expect, it } from 'vitest'
import type { Budget } from '../../../src/plugins/alerts/budgets.ts'
import type { BudgetEventFacts, RunEvents } from '../../../src/plugins/alerts/run-events.ts'
import type { PriceBook } from '../../../src/ports/price-book.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { AGENT, APPLICATION, logged, pending, postRun, reported, type Store } from '../../compose/run-host.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { fc, runs } from '../../support/properties.ts'
import { mortal, runTestApp } from './publishing.ts'

const DAY = 86_400_000

const perSession: Budget = { name: 'session', per: 'session', soft: { tokens: 80 }, hard: { tokens: 100 } }
const perUser: Budget = { name: 'user', per: 'user', soft: { tokens: 80 }, hard: { tokens: 100 } }
const perDay: Budget = { name: 'day', per: 'user', days: 2, hard: { cost: { amount: '1.00', currency: 'EUR' } } }

/** The recipient names the limit. */
const limitOf = ({ budget: { name, level, id } }: BudgetEventFacts) => ({ recipient: `${name}.${level}.${id}@a.b` })
const publishBudgets: RunEvents = { 'budget.exceeded': limitOf }

interface Given {
  readonly budgets?: readonly Budget[]
  readonly runEvents?: RunEvents
  readonly clock?: FakeClock
  readonly store?: Store
  readonly prices?: PriceBook
}

const app = ({ budgets = [perSession, perUser], runEvents = publishBudgets, ...rest }: Given = {}) =>
  runTestApp({ budgets, runEvents, ...rest })

const exceeded = async (store: Store): Promise<string[]> =>
  (await reported(store)).map((each) => each.replace(/^budget\.exceeded (.*)@a\.b$/, '$1'))

describe('budget events', () => {
  it('Each reached limit is published once, for the session and for the user', async () => {
    const { sallyport, store } = app()
    const spend = async (runId: string, inputTokens: number): Promise<string[]> => {
      await postRun(sallyport, { runId, userId: 'u1', counts: { inputTokens } })
      await sallyport.worker.runDue()
      return exceeded(store)
    }
    expect(await spend('r1', 79)).toEqual([])
    expect(await spend('r1', 80)).toEqual(['session.soft.s1', 'user.soft.u1'])
    expect(await spend('r2', 10)).toEqual(['session.soft.s1', 'user.soft.u1'])
    const all = ['session.hard.s1', 'session.soft.s1', 'user.hard.u1', 'user.soft.u1']
    expect(await spend('r3', 10)).toEqual(all)
    expect(await spend('r4', 1_000)).toEqual(all)
    expect(await pending(store)).toEqual([])
  })

  it('A post that reaches both limits causes an event for each level', async () => {
    const { sallyport, store } = app({ budgets: [perSession] })
    await postRun(sallyport, { runId: 'r1', status: 'completed', counts: { inputTokens: 200 } })
    await sallyport.worker.runDue()
    expect(await exceeded(store)).toEqual(['session.hard.s1', 'session.soft.s1'])
  })

  it('A post that changes only the calculated amount, or only its currency, is checked against the budgets', async () => {
    const prices: PriceBook = {
      price: ({ model }) => ({
        ...{ amount: model === 'small' ? '0.10' : '2.00', version: 'v1' },
        currency: model === 'abroad' ? 'USD' : 'EUR',
      }),
    }
    const inDollars: Budget = { name: 'dollars', per: 'session', hard: { cost: { amount: '1.00', currency: 'USD' } } }
    const { sallyport, store } = app({ budgets: [perDay, inDollars], prices })
    const post = async (model: string, seq: number): Promise<string[]> => {
      await postRun(sallyport, { runId: 'r1', userId: 'u1', counts: { inputTokens: 10 }, model, seq })
      await sallyport.worker.runDue()
      return exceeded(store)
    }
    expect(await post('small', 1)).toEqual([])
    expect(await post('large', 2)).toEqual(['day.hard.u1'])
    expect(await post('abroad', 3)).toEqual(['day.hard.u1', 'dollars.hard.s1'])
  })

  it('A budget event has the budget state and the run', async () => {
    const { sallyport, store } = app({
      budgets: [perSession],
      runEvents: { 'budget.exceeded': () => ({ recipient: 'jane@example.com' }) },
    })
    await postRun(sallyport, { runId: 'r1', counts: { inputTokens: 60, outputTokens: 30 } })
    await sallyport.worker.runDue()
    const { items } = await store.listDispatches({ tenant: 'default', sessionId: 's1', limit: 10 })
    expect(items).toHaveLength(1)
    const spent = { tokens: 90, cost: [] }
    const budget = { ...perSession, id: 's1', level: 'soft', spent, unpriced: { runs: 1, tokens: 90 } }
    expect(items[0]?.deliveries[0]?.content).toEqual({
      data: { budget, run: await sallyport.runs.get({ sessionId: 's1', runId: 'r1' }) },
    })
  })

  it('Budgets of other sessions, users and tenants are separate', async () => {
    const { sallyport, store } = app({ budgets: [perSession] })
    for (const [session, tenant] of [
      ['s1', 'default'],
      ['s2', 'default'],
      ['s1', 't2'],
    ] as const) {
      const run = { runId: `${session}.${tenant}`, counts: { inputTokens: 80 } }
      await postRun(sallyport, run, { id: 'app', tenant }, session)
    }
    await sallyport.worker.runDue()
    expect(await exceeded(store)).toEqual(['session.soft.s1', 'session.soft.s2'])
    expect(await reported(store, 't2')).toEqual(['budget.exceeded session.soft.s1@a.b'])
  })

  it('Two budgets of one session both have events', async () => {
    const { sallyport, store } = app({ budgets: [perSession, { ...perSession, name: 'other' }] })
    await postRun(sallyport, { runId: 'r1', counts: { inputTokens: 80 } })
    await sallyport.worker.runDue()
    expect(await exceeded(store)).toEqual(['other.soft.s1', 'session.soft.s1'])
  })

  it('A limit that could not be published is tried again, and the others are published once', async () => {
    let isBroken = true
    const runEvents: RunEvents = {
      'budget.exceeded': (facts) => {
        if (isBroken && facts.budget.level === 'hard') throw new Error('no')
        return limitOf(facts)
      },
    }
    const { sallyport, store } = app({ budgets: [perSession], runEvents })
    await postRun(sallyport, { runId: 'r1', counts: { inputTokens: 100 } })
    await sallyport.worker.runDue()
    expect([await exceeded(store), await pending(store)]).toEqual([['session.soft.s1'], ['r1 budget']])
    isBroken = false
    await sallyport.worker.runDue()
    expect([await exceeded(store), await pending(store)]).toEqual([['session.hard.s1', 'session.soft.s1'], []])
  })

  it('A user whom a run of another session names has no spend from this run', async () => {
    let asked = 0
    const runEvents: RunEvents = { 'budget.exceeded': () => void asked++ }
    const { sallyport } = app({ budgets: [perUser], runEvents })
    await postRun(sallyport, { runId: 'top', userId: 'u1', counts: { inputTokens: 80 } }, APPLICATION, 's2')
    await sallyport.worker.runDue()
    expect(asked).toBe(1)
    await postRun(sallyport, { runId: 'r1', parentRunId: 'top', counts: { inputTokens: 1 } })
    await sallyport.worker.runDue()
    expect(asked).toBe(1)
  })

  it('Any characters in ids keep budgets apart', async () => {
    const { sallyport, store } = app({
      budgets: [perUser],
      runEvents: { 'budget.exceeded': () => ({ recipient: 'jane@example.com' }) },
    })
    const users = ['u', 'u ', ' u', 'u ever', '__proto__', 'constructor', 'ü', 'x'.repeat(200), `${'x'.repeat(199)}y`]
    for (const [index, userId] of users.entries())
      await postRun(sallyport, { runId: `r${index}`, userId, counts: { inputTokens: 80 } })
    await sallyport.worker.runDue()
    expect(await reported(store)).toHaveLength(users.length)
  })

  it('A daily budget is published once a day while it is reached', async () => {
    const { sallyport, store, clock } = app({ budgets: [perDay] })
    const spend = async (runId: string, amount: string): Promise<number> => {
      const cost = { amount, currency: 'EUR', source: 'client' }
      await postRun(sallyport, { runId, userId: 'u1', cost })
      await sallyport.worker.runDue()
      return (await reported(store)).length
    }
    expect(await spend('r1', '0.999')).toBe(0)
    clock.advance(DAY)
    expect(await spend('r2', '0.001')).toBe(1)
    expect(await spend('r3', '5')).toBe(1)
    clock.advance(DAY)
    expect(await spend('r4', '0.01')).toBe(2)
    clock.advance(DAY)
    expect(await spend('r5', '0.01')).toBe(2)
  })

  it('A budget without days is published once', async () => {
    const { sallyport, store, clock } = app({ budgets: [perUser] })
    for (const runId of ['r1', 'r2', 'r3']) {
      await postRun(sallyport, { runId, userId: 'u1', counts: { inputTokens: 80 } })
      await sallyport.worker.runDue()
      clock.advance(DAY)
    }
    expect(await exceeded(store)).toEqual(['user.hard.u1', 'user.soft.u1'])
  })

  it('The budget of a session that was erased and used again is published again', async () => {
    const { sallyport, store, clock } = app({ budgets: [perSession] })
    const spend = async (runId: string): Promise<number> => {
      await postRun(sallyport, { runId, counts: { inputTokens: 80 } })
      await sallyport.worker.runDue()
      return (await reported(store)).length
    }
    expect(await spend('r1')).toBe(1)
    clock.advance(1)
    await sallyport.runs.prune({ status: 'running', olderThan: 0 })
    expect(await spend('r1')).toBe(2)
    await sallyport.runs.erase({ sessionId: 's1' })
    clock.advance(1)
    expect(await spend('r1')).toBe(3)
  })

  it('The budget of a user who is named later is published', async () => {
    const { sallyport, store } = app({ budgets: [perUser] })
    await postRun(sallyport, { runId: 'r1', counts: { inputTokens: 80 } })
    await sallyport.worker.runDue()
    expect(await exceeded(store)).toEqual([])
    await postRun(sallyport, { runId: 'r1', userId: 'u1' })
    await sallyport.worker.runDue()
    expect(await exceeded(store)).toEqual(['user.soft.u1'])
  })

  it('The budget of a user whom only an ancestor names is published in either order', async () => {
    const posts = [
      { runId: 'top', userId: 'u1' },
      { runId: 'middle', parentRunId: 'top' },
      { runId: 'leaf', parentRunId: 'middle', counts: { inputTokens: 80 } },
    ]
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [2, 0, 1],
      [1, 2, 0],
    ]) {
      const { sallyport, store } = app({ budgets: [perUser] })
      for (const index of order) {
        await postRun(sallyport, posts[index] ?? {})
        await sallyport.worker.runDue()
      }
      expect({ order, exceeded: await exceeded(store) }).toEqual({ order, exceeded: ['user.soft.u1'] })
    }
  })

  it('A merge during the budget check keeps the signal pending', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    let isFirst = true
    const runEvents: RunEvents = {
      'budget.exceeded': async (facts) => {
        if (isFirst) {
          isFirst = false
          // Recorded by a host that crashes before it publishes.
          await postRun(dying, { runId: 'r1', counts: { inputTokens: 100 } })
        }
        return limitOf(facts)
      },
    }
    const findRun: Store['findRun'] = () => Promise.reject(new Error('dead'))
    const dying = app({ clock, store: { ...store, findRun }, budgets: [perSession] }).sallyport
    const { sallyport } = app({ clock, store, runEvents, budgets: [perSession] })
    await postRun(sallyport, { runId: 'r1', counts: { inputTokens: 80 } })
    // No `publishPending` yet.
    const deaf = { ...store, listRuns: (): Promise<never> => Promise.reject(new Error('down')) }
    await app({ clock, store: deaf }).sallyport.worker.runDue()
    await sallyport.worker.runDue()
    await sallyport.worker.runDue()
    expect(await exceeded(store)).toEqual(['session.hard.s1', 'session.soft.s1'])
    expect(await pending(store)).toEqual([])
  })

  it('A post without spend does not check the budgets', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    let looks = 0
    const findSession: Store['findSession'] = (...args) => {
      looks++
      return store.findSession(...args)
    }
    const { sallyport } = app({ clock, store: { ...store, findSession } })
    const posts = [{}, { status: 'waiting' }, { tags: ['x'] }, { status: 'completed' }, { status: 'completed' }]
    for (const post of posts) await postRun(sallyport, { runId: 'r1', ...post })
    await sallyport.worker.runDue()
    expect(looks).toBe(0)
    await postRun(sallyport, { runId: 'r1', counts: { inputTokens: 1 } })
    await sallyport.worker.runDue()
    expect(looks).toBe(1)
  })

  it('Budgets are checked again after the store failed', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    let isDown = true
    const findSession: Store['findSession'] = (...args) =>
      isDown ? Promise.reject(new TypeError('down')) : store.findSession(...args)
    const { sallyport, ...rest } = app({ clock, store: { ...store, findSession }, budgets: [perSession] })
    await postRun(sallyport, { runId: 'r1', counts: { inputTokens: 80 } })
    await sallyport.worker.runDue()
    expect(logged(rest, 'run_event.failed')[0]).toEqual({
      eventType: 'budget.exceeded',
      runId: 'r1',
      cause: 'TypeError',
      stack: expect.any(String),
    })
    expect(await pending(store)).toEqual(['r1 budget'])
    isDown = false
    await sallyport.worker.runDue()
    expect([await exceeded(store), await pending(store)]).toEqual([['session.soft.s1'], []])
  })
})

describe('budget events in any order of posts', () => {
  const posts = fc.array(
    fc.record({
      runId: fc.constantFrom('r1', 'r2', 'r3'),
      inputTokens: fc.constantFrom(1, 30, 45, 80, 120),
    }),
    { minLength: 1, maxLength: 7 },
  )

  it('Exactly the limits that are reached in the end are published, once each', async () => {
    await fc.assert(
      fc.asyncProperty(posts, fc.boolean(), async (given, isAtOnce) => {
        const clock = fakeClock()
        const store = memoryStore({ clock })
        const apps = [app({ clock, store }), app({ clock, store })]
        const record = async ({ runId, inputTokens }: (typeof given)[number], index: number) => {
          const principal = runId === 'r3' ? { ...AGENT, userId: 'u1' } : APPLICATION
          await postRun(
            apps[index % 2]?.sallyport as never,
            { runId, userId: 'u1', counts: { inputTokens } },
            principal,
          )
        }
        if (isAtOnce) await Promise.all(given.map(record))
        else for (const [index, each] of given.entries()) await record(each, index)
        await Promise.all(apps.map(({ sallyport }) => sallyport.worker.runDue()))
        const greatest = new Map<string, number>()
        for (const { runId, inputTokens } of given) greatest.set(runId, Math.max(greatest.get(runId) ?? 0, inputTokens))
        const sum = [...greatest.values()].reduce((a, b) => a + b, 0)
        const levels = [...(sum >= 100 ? ['hard'] : []), ...(sum >= 80 ? ['soft'] : [])]
        expect(await exceeded(store)).toEqual([
          ...levels.map((level) => `session.${level}.s1`),
          ...levels.map((level) => `user.${level}.u1`),
        ])
        expect(await pending(store)).toEqual([])
      }),
      { numRuns: runs(40) },
    )
  })

  it('Wherever a host crashes, the next publishes the rest, and nothing twice', async () => {
    const live = async (diesAt: number, at: 'before' | 'after') => {
      const clock = fakeClock()
      const store = memoryStore({ clock })
      let calls = 0
      const counted = mortal(store, (_, moment) => moment === at && ++calls === diesAt)
      const given = { clock, budgets: [perSession, perUser], runEvents: publishBudgets, sandbox: true }
      const first = runTestApp({ ...given, store: counted }).sallyport
      const next = runTestApp({ ...given, store }).sallyport
      for (const inputTokens of [80, 100]) {
        const post = { runId: 'r1', userId: 'u1', counts: { inputTokens } }
        await postRun(first, post).catch(() => postRun(next, post))
        await first.endpoints.deliver()
      }
      await next.worker.runDue()
      return { calls, reported: await exceeded(store), left: await pending(store) }
    }
    const all = ['session.hard.s1', 'session.soft.s1', 'user.hard.u1', 'user.soft.u1']
    for (const at of ['before', 'after'] as const) {
      const { calls } = await live(0, at)
      expect(calls).toBeGreaterThan(15)
      for (let diesAt = 0; diesAt <= calls; diesAt++) {
        const { reported, left } = await live(diesAt, at)
        expect({ at, diesAt, reported, left }).toEqual({ at, diesAt, reported: all, left: [] })
      }
    }
  })
})
