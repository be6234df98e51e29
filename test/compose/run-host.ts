import type { Sallyport } from '../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../src/compose/options.ts'
import type { Principal } from '../../src/model/principal.ts'
import type { RunAnswer } from '../../src/model/run-post.ts'
import type { Plugin } from '../../src/plugins/plugin.ts'
import type { EventCatalog } from '../../src/ports/event-catalog.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import type { RecordingLogger } from '../support/deps.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { handled } from '../support/handled.ts'
import { type Composed, composed } from './composed.ts'

export type Store = SallyportOptions<unknown>['store']

export interface RunHost<Plugins extends readonly Plugin[]> extends Composed<unknown, Plugins> {
  readonly store: Store
}

/** A host of runs. Hosts may share a store and a clock: their ids differ. */
export function runHost<const Plugins extends readonly Plugin[]>(
  events: EventCatalog,
  {
    clock = fakeClock(),
    store = memoryStore({ clock }),
    ...rest
  }: Partial<SallyportOptions<unknown, Plugins>> & { readonly clock?: FakeClock },
): RunHost<Plugins> {
  let ids = 0
  const host = `${Math.floor(clock.now())}${++hosts}`
  const own = { next: (prefix: string) => `${prefix}_${host}_${++ids}` }
  return { store, ...composed<unknown, Plugins>(events, { clock, store, ids: own, ...rest }) }
}

let hosts = 0

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
export function logged({ logger }: { readonly logger: RecordingLogger }, event: string): readonly object[] {
  return logger.lines.filter((line) => line.event === event).map(({ fields }) => fields)
}

/** Runs everything that needs no clock. */
export async function turns(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise(setImmediate)
}
