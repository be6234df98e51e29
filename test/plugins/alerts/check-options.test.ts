import { describe, expect, it } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { isSallyportError } from '../../../src/errors.ts'
import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { testAuth } from '../../support/deps.ts'
import { said } from '../../support/reported.ts'
import { runTestApp } from './publishing.ts'

/** The problems of an error with this code, as `field: detail`. */
function problemsOf(call: () => unknown, code: string): readonly string[] {
  try {
    call()
  } catch (error) {
    if (!isSallyportError(error)) throw error
    expect(error.code).toBe(code)
    return error.problems.map(({ field, detail }) => `${field}: ${detail}`)
  }
  return []
}

/** The problems of the options. If there are none, a host with them starts. */
function problems(options: object): readonly string[] {
  const found = problemsOf(() => alerts(options), 'option_invalid')
  if (found.length === 0) expect(startProblems(options)).toEqual([])
  return found
}

/** The problems that stop the start of a host, with valid options. */
function startProblems(options: object): readonly string[] {
  return problemsOf(() => runTestApp({ runEvents: undefined, ...options }), 'config_invalid')
}

const noRecipient = () => undefined
const hard = { tokens: 100 }
const budget = { name: 'b', per: 'session', hard }
const eur = (amount: unknown, currency: unknown = 'EUR') => ({ cost: { amount, currency } })

describe('run events', () => {
  it('Run events are functions under names of the catalogue', () => {
    expect(problems({ runEvents: { 'run.failed': noRecipient, 'run.completed': undefined } })).toEqual([])
    expect(
      problems({ runEvents: { 'run.faild': noRecipient, __proto__: noRecipient, toString: noRecipient } }),
    ).toEqual([
      expect.stringMatching(/^runEvents.run.faild: is not an option; near: run.failed/),
      expect.stringMatching(/^runEvents.toString: is not an option; the options are: run.completed, /),
    ])
    expect(problems({ runEvents: { 'run.failed': 'jane' } })).toEqual([
      'runEvents.run.failed: is a string; must be a function',
    ])
    for (const [runEvents, what] of [
      [[], 'an empty array'],
      [null, 'null'],
      [noRecipient, 'a function'],
      ['run.failed', 'a string'],
    ])
      expect(problems({ runEvents })).toEqual([`runEvents: is ${what}; must be an object of options`])
  })

  it('A run event that the catalogue lacks stops the start, with suggestions', () => {
    const events = { eventTypes: ['run.faild'], find: () => undefined }
    expect(startProblems({ events, runEvents: { 'run.failed': noRecipient } })).toEqual([
      'plugins.alerts.runEvents.run.failed: is not among the events; near: run.faild; define it with defineEvents(…)',
    ])
    expect(startProblems({ events, runEvents: { 'run.failed': undefined } })).toEqual([])
  })

  it('The run event budget.exceeded requires budgets', () => {
    const runEvents = { 'budget.exceeded': noRecipient }
    const detail = 'plugins.alerts.runEvents.budget.exceeded: never comes without budgets; give the option budgets'
    expect(startProblems({ runEvents })).toEqual([detail])
    expect(startProblems({ runEvents, budgets: [] })).toEqual([detail])
    expect(startProblems({ runEvents, budgets: [budget] })).toEqual([])
  })

  it('A run event in a host that only records runs stops the start', () => {
    const startOf = (options: object): readonly string[] =>
      problemsOf(
        () => createSallyport({ auth: testAuth, store: memoryStore(), plugins: [alerts(options)] }),
        'config_invalid',
      )
    expect(startOf({ runEvents: { 'run.failed': noRecipient, 'run.expired': noRecipient } })).toEqual([
      'plugins.alerts.runEvents: is for dispatching: give events and channels too',
    ])
    for (const runEvents of [undefined, {}, { 'run.failed': undefined }])
      expect(startOf({ runEvents, budgets: [budget] })).toEqual([])
  })
})

describe('budgets', () => {
  const of = (...budgets: object[]): readonly string[] => problems({ budgets })

  it('Budgets of every valid form are accepted', () => {
    const both = { soft: { tokens: 0, ...eur('12.50') }, hard: { tokens: 0, ...eur('12.5') } }
    expect(
      of(budget, { name: '!~', per: 'user', days: 366, ...both }, { name: 'c', per: 'user', days: 1, hard }),
    ).toEqual([])
    expect(of({ ...budget, soft: { ...eur('5', 'USD') }, hard: { ...eur('1') } })).toEqual([])
    expect(of({ ...budget, soft: undefined, days: undefined })).toEqual([])
  })

  it('Budgets must be a list of objects', () => {
    expect(problems({ budgets: {} })).toEqual(['budgets: is an object; must be a list'])
    expect(problems({ budgets: [null, 5, []] })).toEqual([
      'budgets[0]: is null; must be an object of options',
      'budgets[1]: is a number; must be an object of options',
      'budgets[2]: is an empty array; must be an object of options',
    ])
  })

  it('A budget has only known fields and a unique name', () => {
    expect(of({ ...budget, day: 1, name: '' }, { ...budget, name: 'ü' }, { ...budget, name: 'x'.repeat(101) })).toEqual(
      [
        'budgets[0].day: is not an option; near: days',
        'budgets[0].name: is an empty string; must be 1-100 visible ASCII characters',
        ...[1, 2].map((at) => `budgets[${at}].name: must be 1-100 visible ASCII characters`),
      ],
    )
    expect(of({ ...budget, name: 'a b' }, { per: 'session', hard })).toHaveLength(2)
    expect(of(budget, { ...budget, name: 'c' }, budget)).toEqual([
      'budgets[2].name: is the name of another budget too; give each its own',
    ])
    expect(of({ ...budget, per: 'day' })).toEqual(['budgets[0].per: is "day"; must be one of session, user'])
  })

  it('Only a budget per user may have days', () => {
    const user = { ...budget, per: 'user' }
    expect(of({ ...budget, days: 1 })).toEqual([
      'budgets[0].days: is for per: "user"; leave it out with per: "session"',
    ])
    for (const days of [0, 367, 1.5, '1', null])
      expect(of({ ...user, days })).toEqual([`budgets[0].days: is ${said(days)}; must be a whole number from 1 to 366`])
  })

  it('A budget has at least one limit, of tokens or cost', () => {
    expect(of({ name: 'b', per: 'session' })).toEqual(['budgets[0]: has no limit; give soft, hard or both'])
    expect(of({ ...budget, hard: {} })).toEqual(['budgets[0].hard: has no limit; give tokens, cost or both'])
    expect(of({ ...budget, hard: 100 })).toEqual(['budgets[0].hard: is a number; must be an object of options'])
    expect(of({ ...budget, soft: { token: 1, tokens: 1 } })).toEqual([
      'budgets[0].soft.token: is not an option; near: tokens',
    ])
    for (const tokens of [-1, 1.5, '1', 2 ** 53, null])
      expect(of({ ...budget, hard: { tokens } })).toEqual([
        `budgets[0].hard.tokens: is ${said(tokens)}; must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`,
      ])
    const decimal = 'must be a decimal in a string, such as "12.50"'
    for (const amount of ['-1', '1e3', '.5', '1.', 'x', '1'.repeat(21)])
      expect(of({ ...budget, hard: eur(amount) })).toEqual([`budgets[0].hard.cost.amount: ${decimal}`])
    expect(of({ ...budget, hard: eur(1) })).toEqual([`budgets[0].hard.cost.amount: is a number; ${decimal}`])
    expect(of({ ...budget, hard: eur('') })).toEqual([`budgets[0].hard.cost.amount: is an empty string; ${decimal}`])
    for (const [currency, what] of [
      ['eur', '"eur"'],
      ['EURO', '"EURO"'],
      ['', 'an empty string'],
      [978, '978'],
      [undefined, 'undefined'],
    ])
      expect(of({ ...budget, hard: { cost: { amount: '1', currency } } })).toEqual([
        `budgets[0].hard.cost.currency: is ${what}; must be an ISO 4217 code, such as "EUR"`,
      ])
    expect(of({ ...budget, hard: { cost: 5 } })).toEqual([
      'budgets[0].hard.cost: is a number; must be an object of options',
    ])
    expect(of({ ...budget, hard: { cost: { amount: '1', currency: 'EUR', per: 1 } } })).toEqual([
      'budgets[0].hard.cost.per: is not an option; the options are: amount, currency',
    ])
  })

  it('A soft limit must not be above the hard limit', () => {
    expect(of({ ...budget, soft: { tokens: 101 } })).toEqual([
      'budgets[0].soft.tokens: is 101; must not be above the hard limit of 100',
    ])
    expect(of({ ...budget, soft: { tokens: 100 } })).toEqual([])
    const ancestors = { soft: eur('10.01'), hard: eur('10') }
    expect(of({ ...budget, ...ancestors })).toEqual(['budgets[0].soft.cost: must not be above the hard limit'])
    expect(of({ ...budget, soft: eur('9.99'), hard: eur('10') })).toEqual([])
  })
})

describe('options', () => {
  it('All problems of the options are reported at once', () => {
    const wrong = { runEvents: { x: noRecipient }, budgets: [{}], budget: [] }
    expect(problems(wrong).map((problem) => problem.split(':')[0])).toEqual([
      'budget',
      'budgets[0].name',
      'budgets[0].per',
      'budgets[0]',
      'runEvents.x',
    ])
  })

  it('Options are an object, and may be left out', () => {
    expect(problemsOf(() => alerts(), 'option_invalid')).toEqual([])
    expect(problems([])).toEqual(['undefined: is an empty array; must be an object of options'])
  })
})
