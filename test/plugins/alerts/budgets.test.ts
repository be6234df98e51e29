import { describe, expect, it } from 'vitest'
import { isSallyportError } from '../../../src/errors.ts'
import type { BudgetLimit } from '../../../src/model/budget.ts'
import { noSpend, noTotals, type Spend } from '../../../src/model/totals.ts'
import { type Budget, checkBudgets } from '../../../src/plugins/alerts/budgets.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { postRun } from '../../compose/run-host.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { fc } from '../../support/properties.ts'
import { runTestApp } from './publishing.ts'

const DAY = 86_400_000
const MOST = Number.MAX_SAFE_INTEGER

/** A store with one session and one user of the same spend, which records its queries. */
function spent(spend: Partial<Spend>) {
  const asked: unknown[] = []
  const sum = { ...noSpend(), ...spend }
  return {
    asked,
    store: {
      async findSession(tenant: string, sessionId: string) {
        asked.push(['session', tenant, sessionId])
        const session = { tenant, sessionId, createdAt: 0, updatedAt: 0, failures: [] }
        return sessionId === 's1' ? { ...session, totals: { ...noTotals(), spend: sum } } : undefined
      },
      async findSpend(tenant: string, userId: string, sinceDay: number) {
        asked.push(['user', tenant, userId, sinceDay])
        return userId === 'u1' ? sum : noSpend()
      },
    },
  }
}

const eur = (amount: string): BudgetLimit => ({ cost: { amount, currency: 'EUR' } })
const BOTH = { tenant: 'default', sessionId: 's1', userId: 'u1' }

async function levelOf(limits: Pick<Budget, 'soft' | 'hard'>, spend: Partial<Spend>): Promise<string | undefined> {
  const report = await checkBudgets([{ name: 'b', per: 'session', ...limits }], BOTH, 0, spent(spend).store)
  expect(report.allowed).toBe(report.budgets[0]?.level !== 'hard')
  return report.budgets[0]?.level
}

describe('a limit', () => {
  it('A limit is reached at exactly its value, the hard one before the soft one', async () => {
    const limits = { soft: { tokens: 80 }, hard: { tokens: 100 } }
    expect(await levelOf(limits, { tokens: 79 })).toBe('within')
    expect(await levelOf(limits, { tokens: 80 })).toBe('soft')
    expect(await levelOf(limits, { tokens: 99 })).toBe('soft')
    expect(await levelOf(limits, { tokens: 100 })).toBe('hard')
    expect(await levelOf({ soft: { tokens: 1 } }, { tokens: 1_000 })).toBe('soft')
    expect(await levelOf({ hard: { tokens: 0 } }, {})).toBe('hard')
  })

  it('A limit of tokens and cost is reached when either is', async () => {
    const hard = { tokens: 10, ...eur('1') }
    expect(await levelOf({ hard }, { tokens: 9, cost: { EUR: '0.99' } })).toBe('within')
    expect(await levelOf({ hard }, { tokens: 10, cost: { EUR: '0.99' } })).toBe('hard')
    expect(await levelOf({ hard }, { tokens: 9, cost: { EUR: '1' } })).toBe('hard')
  })

  it('A cost limit counts only its own currency', async () => {
    expect(await levelOf({ hard: eur('1') }, { cost: { USD: '5', EUR: '0.5' } })).toBe('within')
    expect(await levelOf({ hard: eur('1') }, { cost: { USD: '5' } })).toBe('within')
    expect(await levelOf({ hard: eur('0') }, {})).toBe('hard')
  })

  it('A cost limit is compared with the exact decimal spend', async () => {
    expect(await levelOf({ hard: eur('0.3') }, { cost: { EUR: '0.29999999999999999999' } })).toBe('within')
    expect(await levelOf({ hard: eur('0.30') }, { cost: { EUR: '0.3' } })).toBe('hard')
    const cents = fc.bigInt({ min: 0n, max: 10n ** 24n })
    const write = (value: bigint): string =>
      `${value / 100n}.${String(value % 100n).padStart(2, '0')}`.replace(/\.?0+$/, '') || '0'
    await fc.assert(
      fc.asyncProperty(cents, fc.oneof(cents, fc.bigInt({ min: -2n, max: 2n })), async (limit, other) => {
        const amount = other < 10n && other > -10n && limit + other >= 0n ? limit + other : other < 0n ? 0n : other
        const level = await levelOf(
          { hard: eur(`${limit / 100n}.${String(limit % 100n).padStart(2, '0')}`) },
          {
            cost: { EUR: amount % 100n === 0n ? String(amount / 100n) : write(amount) },
          },
        )
        expect(level).toBe(amount >= limit ? 'hard' : 'within')
      }),
    )
  })
})

describe('a report', () => {
  it('A report gives the state of every requested budget, in order', async () => {
    const budgets: Budget[] = [
      { name: 'a', per: 'user', hard: { tokens: 7 } },
      { name: 'b', per: 'session', soft: { tokens: 7 }, hard: eur('2') },
    ]
    const { store } = spent({ tokens: 7, cost: { USD: '1', EUR: '1.5' }, unpricedRuns: 2, unpricedTokens: 5 })
    const numbers = {
      spent: {
        tokens: 7,
        cost: [
          { amount: '1.5', currency: 'EUR' },
          { amount: '1', currency: 'USD' },
        ],
      },
      unpriced: { runs: 2, tokens: 5 },
    }
    const [a, b] = [
      { ...budgets[0], id: 'u1', level: 'hard', ...numbers },
      { ...budgets[1], id: 's1', level: 'soft', ...numbers },
    ]
    const { sessionId, userId, tenant } = BOTH
    expect(await checkBudgets(budgets, BOTH, 0, store)).toEqual({ allowed: false, budgets: [a, b] })
    expect(await checkBudgets(budgets, { tenant, sessionId }, 0, store)).toEqual({ allowed: true, budgets: [b] })
    expect(await checkBudgets(budgets, { tenant, userId }, 0, store)).toEqual({ allowed: false, budgets: [a] })
    expect(await checkBudgets([], BOTH, 0, store)).toEqual({ allowed: true, budgets: [] })
  })

  it('A report shows no spend that corrections made negative', async () => {
    const { store } = spent({ tokens: -1, cost: { EUR: '-0.5' }, unpricedRuns: -1, unpricedTokens: -2 })
    const { budgets } = await checkBudgets([{ name: 'b', per: 'session', hard: eur('1') }], BOTH, 0, store)
    expect(budgets).toMatchObject([
      {
        level: 'within',
        spent: { tokens: 0, cost: [] },
        unpriced: { runs: 0, tokens: 0 },
      },
    ])
  })

  it.each([
    [MOST - 1, 'within', { tokens: MOST - 1 }],
    [MOST, 'hard', { tokens: MOST, inexact: true }],
    [MOST * 3, 'hard', { tokens: MOST, inexact: true }],
  ])(
    'A spend of %d tokens is %s at the greatest limit, and says when it is not exact',
    async (tokens, level, shown) => {
      const { store } = spent({ tokens, unpricedRuns: 1, unpricedTokens: tokens })
      const both = ['user', 'session'] as const
      const limits = both.map((per): Budget => ({ name: per, per, hard: { tokens: MOST } }))
      const { budgets } = await checkBudgets(limits, BOTH, 0, store)
      const of = { level, spent: { ...shown, cost: [] }, unpriced: { runs: 1, tokens: shown.tokens } }
      expect(budgets).toEqual(limits.map((limit, at) => ({ ...limit, ...of, id: ['u1', 's1'][at] })))
    },
  )

  it('A report on an unknown user shows no spend', async () => {
    const { store } = spent({ tokens: 7 })
    const budgets: Budget[] = [
      { name: 'a', per: 'user', hard: { tokens: 1 } },
      { name: 'b', per: 'session', hard: { tokens: 1 } },
    ]
    const strangers = { tenant: 'default', sessionId: '__proto__', userId: 'constructor' }
    const nothing = { level: 'within', spent: { tokens: 0, cost: [] }, unpriced: { runs: 0, tokens: 0 } }
    expect(await checkBudgets(budgets, strangers, 0, store)).toMatchObject({
      allowed: true,
      budgets: [nothing, nothing],
    })
  })

  it('A report queries the days of a budget, today included, and each sum once', async () => {
    const { store, asked } = spent({})
    const user = { per: 'user', hard: { tokens: 1 } } as const
    const budgets: Budget[] = [
      { name: 'ever', ...user },
      { name: 'today', days: 1, ...user },
      { name: 'week', days: 7, ...user },
      { name: 'week again', days: 7, ...user },
      { name: 'session', per: 'session', hard: { tokens: 1 } },
      { name: 'session again', per: 'session', hard: { tokens: 1 } },
    ]
    await checkBudgets(budgets, BOTH, 100 * DAY - 1, store)
    expect(asked).toEqual([
      ['user', 'default', 'u1', 0],
      ['user', 'default', 'u1', 99],
      ['user', 'default', 'u1', 93],
      ['session', 'default', 's1'],
    ])
  })
})

describe('budgets.check', () => {
  const budgets: Budget[] = [
    { name: 'session', per: 'session', hard: { tokens: 100 } },
    { name: 'day', per: 'user', days: 1, soft: eur('1') },
  ]

  it('budgets.check answers from the recorded spend of the tenant', async () => {
    const { sallyport, clock } = runTestApp({ budgets, runEvents: {} })
    const cost = { amount: '1', currency: 'EUR', source: 'client' }
    await postRun(sallyport, { runId: 'r1', userId: 'u1', counts: { inputTokens: 60, outputTokens: 40 }, cost })
    expect(await sallyport.budgets.check({ sessionId: 's1', userId: 'u1' })).toMatchObject({
      allowed: false,
      budgets: [
        { name: 'session', id: 's1', level: 'hard', spent: { tokens: 100 }, unpriced: { runs: 0, tokens: 0 } },
        { name: 'day', id: 'u1', level: 'soft', spent: { cost: [{ amount: '1', currency: 'EUR' }] } },
      ],
    })
    expect(await sallyport.budgets.check({ sessionId: 's1', tenant: 't2' })).toMatchObject({ allowed: true })
    clock.advance(DAY)
    expect(await sallyport.budgets.check({ userId: 'u1' })).toMatchObject({ budgets: [{ level: 'within' }] })
  })

  it.each([
    [{}, 'a sessionId, a userId, or both'],
    [{ tenant: 't2' }, 'a sessionId, a userId, or both'],
    [{ session: 's1' }, 'field "session": is not an option; near: sessionId'],
    [{ sessionId: '' }, 'field "sessionId": is an empty string; must be a string of 1 to 2,048 characters'],
    [{ userId: 5, sessionId: null }, 'field "userId": is a number; must be a string of 1 to 2,048 characters'],
    [{ sessionId: 's1', tenant: 'a b' }, 'field "tenant"'],
    [undefined, 'must be an object'],
  ])('budgets.check refuses the argument %j', async (of, message) => {
    const { sallyport } = runTestApp({ budgets })
    const fault: unknown = await sallyport.budgets.check(of as never).catch((error: unknown) => error)
    expect(isSallyportError(fault) && fault.code).toBe('option_invalid')
    expect(String(fault)).toContain(message)
  })

  it('budgets.check rethrows an error of the store', async () => {
    const clock = fakeClock()
    const store = { ...memoryStore({ clock }), findSession: () => Promise.reject(new Error('down')) }
    const { sallyport } = runTestApp({ budgets, clock, store })
    await expect(sallyport.budgets.check({ sessionId: 's1' })).rejects.toThrow('down')
  })
})
