import { actionsOf } from '../../core/actions/call-action.ts'
import { SallyportError } from '../../errors.ts'
import { type Checks, nested, readOptions } from '../../options/read-options.ts'
import type { Plugin } from '../plugin.ts'
import { BUDGET_ACTIONS } from './actions.ts'
import { type AlertOptions, budgets as budgetList, RUN_EVENTS, runEventProblems } from './check-options.ts'
import { publishSignal } from './publish-signal.ts'
import { type Budgets, budgetsOf } from './read-budgets.ts'
import type { AlertSignal } from './run-events.ts'
import { raiseSignals, signalNames } from './signals.ts'

/** Members that {@link alerts} adds to a Sallyport. */
export interface AlertsApi {
  readonly budgets: Budgets
}

const CHECKS: Checks<AlertOptions> = { budgets: budgetList, runEvents: nested(RUN_EVENTS) }

/**
 * Notifies of runs that end and of budgets that are reached, and answers whether a run may begin: `sallyport.budgets.check()`,
 * `GET /api/agents/budgets`.
 *
 * @example
 * ```ts
 * const plugins = [
 *   alerts({
 *     budgets: [{ name: 'daily', per: 'user', days: 1, hard: { cost: { amount: '5.00', currency: 'EUR' } } }],
 *     runEvents: { 'run.failed': () => ({ recipient: 'ops@example.com' }) },
 *   }),
 * ]
 * ```
 *
 * @throws {SallyportError} `option_invalid`, with all problems of the options. `createSallyport` refuses a run event that its catalogue lacks.
 */
export function alerts(options: AlertOptions = {}): Plugin<'alerts', AlertsApi> {
  const { budgets = [], runEvents = {} } = readOptions('alerts', options, CHECKS)
  return {
    name: 'alerts',
    setup(core) {
      const { store, clock, dispatch } = core
      const problems = runEventProblems(runEvents, budgets, core.events?.eventTypes)
      if (problems.length > 0) throw new SallyportError('config_invalid', 'alerts', problems)
      const service = budgetsOf({ budgets, store, clock })
      const names = signalNames(runEvents)
      return {
        api: { budgets: service },
        actions: actionsOf(BUDGET_ACTIONS, service),
        ...(dispatch &&
          Object.keys(names).length > 0 && {
            run: {
              names,
              signals: (change) => raiseSignals(change, names),
              publish: (run, signal) =>
                publishSignal(run, signal as AlertSignal, { ...core, dispatch, events: runEvents, budgets }),
            },
          }),
      }
    },
  }
}
