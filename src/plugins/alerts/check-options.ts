import type { ConfigProblem } from '../../errors.ts'
import type { BudgetLimit } from '../../model/budget.ts'
import { addDecimals, negateDecimal } from '../../model/decimal.ts'
import type { Money } from '../../model/session.ts'
import { arrayOf, choice, fn, like, whole } from '../../options/checks.ts'
import {
  type Check,
  type Checks,
  type GivenOptions,
  isRecord,
  near,
  nested,
  required,
} from '../../options/read-options.ts'
import { shownName } from '../../options/shown-value.ts'
import type { Budget } from './budgets.ts'
import type { RunEvents } from './run-events.ts'

/** Options of `alerts`. */
export interface AlertOptions {
  /** Limits the spend of sessions and users, for `budgets.check` and `budget.exceeded`. Default: none. */
  readonly budgets?: readonly Budget[] | undefined
  /** Catalogue events that runs cause, each with its recipient. Only in a host that dispatches. Default: none. */
  readonly runEvents?: RunEvents | undefined
}

export const RUN_EVENTS: Checks<RunEvents> = {
  'run.completed': fn,
  'run.incomplete': fn,
  'run.failed': fn,
  'run.cancelled': fn,
  'run.expired': fn,
  'budget.exceeded': fn,
}

/**
 * Finds problems between run events, the catalogue and budgets.
 *
 * @param eventTypes `undefined`: the host only records runs.
 */
export function runEventProblems(
  runEvents: RunEvents,
  budgets: readonly Budget[],
  eventTypes: readonly string[] | undefined,
): ConfigProblem[] {
  const given = Object.entries(runEvents).flatMap(([name, target]) => (target === undefined ? [] : [name]))
  if (eventTypes === undefined)
    return given.length > 0 ? [{ field: 'runEvents', detail: 'is for dispatching: give events and channels too' }] : []
  const unknown = given
    .filter((name) => !eventTypes.includes(name))
    .map((name) => ({
      field: `runEvents.${name}`,
      detail: `is not among the events${near(name, eventTypes)}; define it with defineEvents(…)`,
    }))
  const isIdle = given.includes('budget.exceeded') && budgets.length === 0
  const idle = { field: 'runEvents.budget.exceeded', detail: 'never comes without budgets; give the option budgets' }
  return isIdle ? [...unknown, idle] : unknown
}

const MONEY: Checks<Money> = {
  amount: required(like(/^\d{1,20}(\.\d{1,20})?$/, 'must be a decimal in a string, such as "12.50"')),
  currency: required(like(/^[A-Z]{3}$/, 'must be an ISO 4217 code, such as "EUR"', shownName)),
}

const LIMIT: Checks<BudgetLimit> = { tokens: whole(0, Number.MAX_SAFE_INTEGER), cost: nested(MONEY) }

const limit: Check = nested(LIMIT, ({ tokens, cost }) =>
  tokens === undefined && cost === undefined ? [{ detail: 'has no limit; give tokens, cost or both' }] : [],
)

const days = whole(1, 366)

const BUDGET: Checks<Budget> = {
  name: required(like(/^[\x21-\x7e]{1,100}$/, 'must be 1-100 visible ASCII characters')),
  per: required(choice(['session', 'user'])),
  days: (value, given) =>
    given.per === 'session' ? 'is for per: "user"; leave it out with per: "session"' : days(value, given),
  soft: limit,
  hard: limit,
}

const budget: Check = nested(BUDGET, (given) =>
  given.soft === undefined && given.hard === undefined
    ? [{ detail: 'has no limit; give soft, hard or both' }]
    : orderProblems(given),
)

export const budgets: Check = (value, given) => {
  const fault = arrayOf(budget)(value, given)
  return Array.isArray(value) && typeof fault === 'object' ? [...fault, ...repeatedNames(value)] : fault
}

/** The soft limit must not exceed the hard one. Amounts in two currencies are not compared. */
function orderProblems({ soft, hard }: GivenOptions): ConfigProblem[] {
  if (!isLimit(soft) || !isLimit(hard)) return []
  const problems: ConfigProblem[] = []
  if (soft.tokens !== undefined && hard.tokens !== undefined && soft.tokens > hard.tokens)
    problems.push({ field: 'soft.tokens', detail: `is ${soft.tokens}; ${BELOW_HARD} of ${hard.tokens}` })
  if (soft.cost && hard.cost && soft.cost.currency === hard.cost.currency) {
    const left = addDecimals(hard.cost.amount, negateDecimal(soft.cost.amount))
    if (left.startsWith('-')) problems.push({ field: 'soft.cost', detail: BELOW_HARD })
  }
  return problems
}

const BELOW_HARD = 'must not be above the hard limit'

function isLimit(value: unknown): value is BudgetLimit {
  return value !== undefined && limit(value, {})?.length === 0
}

function repeatedNames(given: readonly unknown[]): ConfigProblem[] {
  const names = given.map((each) => (isRecord(each) ? each.name : undefined))
  return names.flatMap((name, index) =>
    typeof name === 'string' && names.indexOf(name) < index
      ? [{ field: `[${index}].name`, detail: `is the name of another budget too; give each its own` }]
      : [],
  )
}
