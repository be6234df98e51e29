import * as v from 'valibot'
import type { SallyportOptions } from '../../../src/compose/options.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { MergeRules } from '../../../src/core/runs/merge-update.ts'
import { type OutboxDeps, type SignalOutbox, signalOutbox } from '../../../src/core/runs/signal-outbox.ts'
import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import type { AlertOptions } from '../../../src/plugins/alerts/check-options.ts'
import type { AlertSignal, RunEventFacts, RunEvents, RunEventTarget } from '../../../src/plugins/alerts/run-events.ts'
import { raiseSignals } from '../../../src/plugins/alerts/signals.ts'
import type { PluginCore } from '../../../src/plugins/plugin.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { type RunHost, runHost, type Store } from '../../compose/run-host.ts'
import { countingIds, testAuth } from '../../support/deps.ts'
import type { FakeClock } from '../../support/fake-clock.ts'
import { reportTo } from '../../support/plugin-core.ts'

const open = { channels: { a: {} } }

/** An event for every end and for budgets that shows all its data; `run.incomplete` requires an `x` that is never there. */
const runCatalog: EventCatalog = defineEvents({
  'run.completed': open,
  'run.incomplete': { data: v.object({ x: v.string() }), ...open },
  'run.failed': open,
  'run.cancelled': open,
  'run.expired': open,
  'budget.exceeded': open,
  'order.shipped': open,
})

/** Every recipient has an address with the run id in it. */
export const mailOf = ({ run }: RunEventFacts): RunEventTarget => ({ recipient: `${run.runId}@example.com` })

export const reportAll: RunEvents = {
  'run.completed': mailOf,
  'run.failed': mailOf,
  'run.cancelled': mailOf,
  'run.expired': mailOf,
}

export type RunTestApp = RunHost<readonly [ReturnType<typeof alerts>]>

/** Options of a host whose only plugin is `alerts`, and of that plugin. */
type RunTestOptions = Partial<Omit<SallyportOptions<unknown>, 'plugins'>> &
  AlertOptions & { readonly clock?: FakeClock }

/** A host with run events. Default: the run events of {@link reportAll}, without budgets. */
export function runTestApp(given: RunTestOptions = {}): RunTestApp {
  const { budgets, runEvents, ...rest } = { runEvents: reportAll, ...given }
  return runHost(runCatalog, { plugins: [alerts({ budgets, runEvents })], ...rest })
}

interface AlertOutboxDeps extends Omit<OutboxDeps, 'store'> {
  readonly store: Store
  readonly dispatch: NonNullable<PluginCore['dispatch']>
}

/** The outbox of a host with alerts, which publishes only what it is asked to. */
export function alertOutbox(options: AlertOptions, { dispatch, ...deps }: AlertOutboxDeps): SignalOutbox {
  const { store, clock, logger } = deps
  const ports = { auth: testAuth, ids: countingIds(), events: runCatalog, store, clock, logger }
  // It keeps no records.
  const core: Partial<PluginCore> = { ...ports, dispatch, report: reportTo(deps) }
  const { run } = alerts(options).setup(core as PluginCore)
  if (!run) throw new Error('alerts publishes nothing')
  return signalOutbox(run, deps)
}

/** Raises signals as `alerts` does in a host that publishes them. */
export function raising(...signals: readonly AlertSignal[]): NonNullable<MergeRules['signals']> {
  const names = Object.fromEntries(signals.map((signal) => [signal, 'once' as const]))
  return (change) => raiseSignals(change, names)
}

/** A store that works until its host crashes: `dies` decides before and after every call of a method. */
export function mortal(store: Store, dies: (method: string, when: 'before' | 'after') => boolean): Store {
  let isDead = false
  const die = (method: string, when: 'before' | 'after'): void => {
    isDead ||= dies(method, when)
    if (isDead) throw new Error('dead')
  }
  const methods = Object.entries(store).map(([name, method]) => [
    name,
    async (...args: readonly unknown[]) => {
      die(name, 'before')
      const result: unknown = await Reflect.apply(method, store, args)
      die(name, 'after')
      return result
    },
  ])
  return { ...store, ...Object.fromEntries(methods) }
}
