import * as v from 'valibot'
import type { Sallyport } from '../../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../../src/compose/options.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { MergeRules } from '../../../src/core/runs/merge-update.ts'
import { type OutboxDeps, type SignalOutbox, signalOutbox } from '../../../src/core/runs/signal-outbox.ts'
import type { Principal } from '../../../src/model/principal.ts'
import type { RunAnswer } from '../../../src/model/run-post.ts'
import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import type { AlertOptions } from '../../../src/plugins/alerts/check-options.ts'
import type { AlertSignal, RunEventFacts, RunEvents, RunEventTarget } from '../../../src/plugins/alerts/run-events.ts'
import { raiseSignals } from '../../../src/plugins/alerts/signals.ts'
import type { PluginCore } from '../../../src/plugins/plugin.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { type Composed, composed } from '../../compose/composed.ts'
import { countingIds, testAuth } from '../../support/deps.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { handled } from '../../support/handled.ts'
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

export type Store = SallyportOptions<unknown>['store']

export interface RunTestApp extends Composed<unknown, readonly [ReturnType<typeof alerts>]> {
  readonly store: Store
}

/** Options of a host whose only plugin is `alerts`, and of that plugin. */
type RunTestOptions = Partial<Omit<SallyportOptions<unknown>, 'plugins'>> &
  AlertOptions & { readonly clock?: FakeClock }

/** A host with run events; hosts may share a store and a clock. Default: the run events of {@link reportAll}, without budgets. */
export function runTestApp({
  clock = fakeClock(),
  store = memoryStore({ clock }),
  ...given
}: RunTestOptions = {}): RunTestApp {
  const { budgets, runEvents, ...rest } = { runEvents: reportAll, ...given }
  let ids = 0
  const app = `${Math.floor(clock.now())}${++apps}`
  const own = { next: (prefix: string) => `${prefix}_${app}_${++ids}` }
  const plugins = [alerts({ budgets, runEvents })] as const
  return { store, ...composed(runCatalog, { clock, store, ids: own, plugins, ...rest }) }
}

/** Ids of two test apps on one store must differ. */
let apps = 0

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

export const APPLICATION: Principal = { id: 'app', tenant: 'default' }
export const AGENT: Principal = { id: 'agent', tenant: 'default', sessionId: 's1' }

/** Posts about a run of the session s1. */
export async function postRun(
  { endpoints }: Pick<Sallyport, 'endpoints'>,
  run: object,
  principal: Principal = APPLICATION,
  sessionId = 's1',
): Promise<RunAnswer> {
  const answer = await handled(endpoints, 'session_run', principal, { headers: {}, body: { sessionId, run } })
  if (!answer.ok) throw new Error(answer.body.code)
  return answer.body as RunAnswer
}

/** The dispatches in order, as `event recipient`. */
export async function reported(store: Store, tenant = 'default'): Promise<readonly string[]> {
  const { items } = await store.listDispatches({ tenant, limit: 10_000 })
  return items.map(({ eventType, recipient }) => `${eventType} ${recipient}`).sort()
}

/** The pending signals, as `runId signal`. */
export async function pending(store: Store): Promise<readonly string[]> {
  const { items } = await store.listRuns({ pending: true, limit: 10_000 })
  return items.flatMap(({ state, derived }) => derived.pending.map((signal) => `${state.runId} ${signal}`))
}

/** Log events with their identifying fields. */
export function logged({ logger }: Pick<RunTestApp, 'logger'>, event: string): readonly object[] {
  return logger.lines.filter((line) => line.event === event).map(({ fields }) => fields)
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

/** Runs everything that needs no clock. */
export async function turns(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise(setImmediate)
}
