import * as v from 'valibot'
import type { Sallyport } from '../../../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../../../src/compose/options.ts'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import type { RunEventFacts, RunEvents, RunEventTarget } from '../../../../src/core/runs/events/run-events.ts'
import type { Principal } from '../../../../src/model/principal.ts'
import type { RunAnswer } from '../../../../src/model/run-post.ts'
import type { EventCatalog } from '../../../../src/ports/event-catalog.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { type Composed, composed } from '../../../compose/composed.ts'
import { type FakeClock, fakeClock } from '../../../support/fake-clock.ts'
import { handled } from '../../../support/handled.ts'

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

export interface RunTestApp extends Composed<unknown> {
  readonly store: Store
}

/** A host with run events; hosts may share a store and a clock. */
export function runTestApp({
  clock = fakeClock(),
  store = memoryStore({ clock }),
  ...rest
}: Partial<SallyportOptions<unknown>> & { readonly clock?: FakeClock } = {}): RunTestApp {
  let ids = 0
  const app = `${Math.floor(clock.now())}${++apps}`
  const own = { next: (prefix: string) => `${prefix}_${app}_${++ids}` }
  return { store, ...composed(runCatalog, { clock, store, ids: own, runEvents: reportAll, ...rest }) }
}

/** Ids of two test apps on one store must differ. */
let apps = 0

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
