import { isRecord, near, numberFault } from './core/definition-checks.ts'
import type { Budget, BudgetLimit } from './core/run-events/budgets.ts'
import { RUN_EVENT_NAMES } from './core/run-events/run-events.ts'
import type { ConfigProblem } from './errors.ts'
import { addDecimals, negateDecimal } from './model/decimal.ts'
import type { SallyportOptions } from './options.ts'

/** What is wrong with what is made of runs: their events, budgets and exporters. */
export function runProblems({
  events,
  runEvents,
  budgets,
  exporters,
}: Pick<SallyportOptions<unknown>, 'events' | 'runEvents' | 'budgets' | 'exporters'>): ConfigProblem[] {
  return [
    ...runEventProblems(runEvents, events.eventTypes, budgets),
    ...listProblems('budgets', budgets, budgetProblems),
    ...repeatedNames(budgets),
    ...listProblems('exporters', exporters, exporterProblems),
  ]
}

/** What a host gives may be anything, whatever its type says. */
type Given = Readonly<Record<string, unknown>>

function runEventProblems(given: unknown, eventTypes: readonly string[], budgets: unknown): ConfigProblem[] {
  if (given === undefined) return []
  if (!isRecord(given)) return [{ field: 'runEvents', detail: 'is an object of functions' }]
  const names: readonly string[] = RUN_EVENT_NAMES
  return Object.entries(given as Given).flatMap(([name, event]) => {
    const field = `runEvents.${name}`
    if (!names.includes(name)) return [{ field, detail: `is not one of ${names.join(', ')}${near(name, names)}` }]
    if (event === undefined) return []
    if (typeof event !== 'function') return [{ field, detail: 'is not a function' }]
    const problems: ConfigProblem[] = []
    if (!eventTypes.includes(name)) problems.push({ field, detail: `is not among the events${near(name, eventTypes)}` })
    if (name === 'budget.exceeded' && !(Array.isArray(budgets) && budgets.length > 0))
      problems.push({ field, detail: 'never comes without budgets' })
    return problems
  })
}

function listProblems(
  field: string,
  given: unknown,
  problemsOf: (field: string, entry: Given) => ConfigProblem[],
): ConfigProblem[] {
  if (given === undefined) return []
  if (!Array.isArray(given)) return [{ field, detail: 'is a list' }]
  return [...given].flatMap((entry: unknown, index) => {
    const place = `${field}[${index}]`
    return isObject(entry) ? problemsOf(place, entry) : [{ field: place, detail: 'is not an object' }]
  })
}

function exporterProblems(field: string, exporter: Given): ConfigProblem[] {
  return typeof exporter.export === 'function' ? [] : [{ field, detail: 'has no export' }]
}

const BUDGET_FIELDS = ['name', 'per', 'days', 'soft', 'hard'] satisfies (keyof Budget)[]
const LIMIT_FIELDS = ['tokens', 'cost'] satisfies (keyof BudgetLimit)[]
const MONEY_FIELDS = ['amount', 'currency']
const NAME = /^[\x21-\x7e]{1,100}$/
const AMOUNT = /^\d{1,20}(\.\d{1,20})?$/
const CURRENCY = /^[A-Z]{3}$/
const MAX_DAYS = 366

function budgetProblems(field: string, budget: Given): ConfigProblem[] {
  const { name, per, days, soft, hard } = budget
  const problems = unknownFields(field, budget, BUDGET_FIELDS)
  if (typeof name !== 'string' || !NAME.test(name))
    problems.push({ field: `${field}.name`, detail: 'is 1-100 visible ASCII characters' })
  if (per !== 'session' && per !== 'user') problems.push({ field: `${field}.per`, detail: 'is "session" or "user"' })
  if (days !== undefined) {
    const fault = per === 'session' ? 'goes with per: "user" alone' : numberFault(days, [1, MAX_DAYS])
    if (fault !== undefined) problems.push({ field: `${field}.days`, detail: fault })
  }
  if (soft === undefined && hard === undefined) problems.push({ field, detail: 'has no limit: soft, hard or both' })
  const faults = [...limitProblems(`${field}.soft`, soft), ...limitProblems(`${field}.hard`, hard)]
  if (faults.length > 0) return [...problems, ...faults]
  return [...problems, ...orderProblems(`${field}.soft`, soft as BudgetLimit, hard as BudgetLimit)]
}

function limitProblems(field: string, limit: unknown): ConfigProblem[] {
  if (limit === undefined) return []
  if (!isObject(limit)) return [{ field, detail: 'is { tokens, cost }' }]
  const { tokens, cost } = limit
  const problems = unknownFields(field, limit, LIMIT_FIELDS)
  if (tokens === undefined && cost === undefined) problems.push({ field, detail: 'has neither tokens nor cost' })
  const fault = tokens === undefined ? undefined : numberFault(tokens, [0, Number.MAX_SAFE_INTEGER])
  if (fault !== undefined) problems.push({ field: `${field}.tokens`, detail: fault })
  return [...problems, ...moneyProblems(`${field}.cost`, cost)]
}

function moneyProblems(field: string, money: unknown): ConfigProblem[] {
  if (money === undefined) return []
  if (!isObject(money)) return [{ field, detail: 'is { amount, currency }' }]
  const { amount, currency } = money
  const problems = unknownFields(field, money, MONEY_FIELDS)
  if (typeof amount !== 'string' || !AMOUNT.test(amount))
    problems.push({ field: `${field}.amount`, detail: 'is a decimal in a string, such as "12.50"' })
  if (typeof currency !== 'string' || !CURRENCY.test(currency))
    problems.push({ field: `${field}.currency`, detail: 'is an ISO 4217 code, such as "EUR"' })
  return problems
}

/** A warning that comes after the end of it is none. Amounts in two currencies cannot be compared. */
function orderProblems(field: string, soft?: BudgetLimit, hard?: BudgetLimit): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  if (soft?.tokens !== undefined && hard?.tokens !== undefined && soft.tokens > hard.tokens)
    problems.push({ field: `${field}.tokens`, detail: 'is above the hard limit' })
  if (soft?.cost && hard?.cost && soft.cost.currency === hard.cost.currency) {
    const left = addDecimals(hard.cost.amount, negateDecimal(soft.cost.amount))
    if (left.startsWith('-')) problems.push({ field: `${field}.cost`, detail: 'is above the hard limit' })
  }
  return problems
}

function repeatedNames(budgets: unknown): ConfigProblem[] {
  if (!Array.isArray(budgets)) return []
  const names = budgets.map((budget: unknown) => (isObject(budget) ? budget.name : undefined))
  return names.flatMap((name, index) =>
    typeof name === 'string' && names.indexOf(name) < index
      ? [{ field: `budgets[${index}].name`, detail: 'is the name of another budget too' }]
      : [],
  )
}

function unknownFields(field: string, given: Given, known: readonly string[]): ConfigProblem[] {
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  return unknown.map((name) => ({ field: `${field}.${name}`, detail: `is not an option${near(name, known)}` }))
}

function isObject(value: unknown): value is Given {
  return isRecord(value)
}
