import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import type { AlertOptions } from '../../../src/plugins/alerts/check-options.ts'
import { full } from '../../options/host-rows.ts'
import {
  FUNCTION,
  HOLE,
  OBJECT,
  type OptionRow,
  outside,
  type PluginOptionRows,
  row,
  TEXT,
  UNSTORABLE,
} from '../../options/option-rows.ts'

const budget = {
  name: 'b',
  per: 'user',
  days: 1,
  soft: { tokens: 1, cost: { amount: '1', currency: 'EUR' } },
  hard: { tokens: 2 },
} as const
const alerting = {
  budgets: [budget],
  runEvents: { 'run.failed': () => undefined },
} satisfies AlertOptions
const sallyport = createSallyport({ ...full, plugins: [alerts(alerting)] })

const TOKENS = outside(0, Number.MAX_SAFE_INTEGER)

const alertRow = (type: string, bad: OptionRow['bad'], at?: string): OptionRow =>
  row('sallyport/plugins alerts', type, alerts, alerting, bad, at === undefined ? {} : { at })

const ALERTS: readonly OptionRow[] = [
  alertRow('AlertOptions', { budgets: [{}, 'x', [5], [budget, budget], HOLE], runEvents: OBJECT }),
  alertRow(
    'RunEvents',
    Object.fromEntries(
      ['run.completed', 'run.incomplete', 'run.failed', 'run.cancelled', 'run.expired', 'budget.exceeded'].map(
        (name) => [name, FUNCTION],
      ),
    ),
    'runEvents',
  ),
  alertRow(
    'Budget',
    {
      name: [...TEXT, '', 'a b'],
      per: ['day', 7],
      days: outside(1, 366),
      soft: [...OBJECT, {}],
      hard: [...OBJECT, {}],
    },
    'budgets[0]',
  ),
  alertRow('BudgetLimit', { tokens: TOKENS, cost: OBJECT }, 'budgets[0].soft'),
  alertRow('Money', { amount: [1, '-1', 'x'], currency: [7, 'eur'] }, 'budgets[0].soft.cost'),
]

export const alertsOptions: PluginOptionRows = {
  rows: [
    ...ALERTS,
    row(
      'sallyport budgets.check',
      'BudgetQuestion',
      (of: { sessionId: string }) => sallyport.budgets.check(of),
      { sessionId: 's' },
      { sessionId: UNSTORABLE, userId: UNSTORABLE },
    ),
  ],
}
