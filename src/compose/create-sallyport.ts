import { answering } from '../core/answers/fault.ts'
import type { HandlerResult } from '../core/answers/result.ts'
import { withHeartbeat } from '../core/delivery/heartbeat.ts'
import { createWorker, type Worker } from '../core/delivery/worker.ts'
import { EXPIRES_IN_MS } from '../core/dispatch/accept-dispatch.ts'
import { type DispatchDeps, planAndAccept } from '../core/dispatch/handle-dispatch.ts'
import { createPublisher, type RunEventPublisher } from '../core/runs/events/publisher.ts'
import { sweepStale } from '../core/runs/sweep-stale.ts'
import type { DispatchAnswer, DispatchInput, EventTypeOf } from '../model/dispatch.ts'
import type { SallyportStore } from '../ports/sallyport-store.ts'
import { localQueue } from '../queues/local.ts'
import { budgetsOf } from '../services/budgets.ts'
import { type DispatchCallOptions, dispatchFromHost, dispatchOrThrow, hostPrincipal } from '../services/dispatch.ts'
import { createDispatches, type Dispatches } from '../services/dispatches.ts'
import { viewEvents } from '../services/event-catalog-view.ts'
import { type Preferences, preferencesOf } from '../services/preferences.ts'
import { runsOf } from '../services/runs.ts'
import { sessionsOf } from '../services/sessions.ts'
import { statisticsOf } from '../services/statistics.ts'
import { type Suppressions, suppressionsOf } from '../services/suppressions.ts'
import { tokenServices } from '../services/tokens.ts'
import { isRunsOnly, readConfig } from './check-config.ts'
import { consentOf } from './consent.ts'
import { type ReadyPorts, withDefaults } from './defaults.ts'
import {
  backgroundWork,
  callActions,
  deliverDue,
  dispatchActions,
  endpointsOf,
  recordActions,
  stopOf,
} from './endpoints.ts'
import { withErrorDetails } from './error-details.ts'
import { withMaintenance } from './maintenance.ts'
import { measuringOf, withCounts } from './measuring.ts'
import { watchMemory } from './memory-stores.ts'
import { watchForWorker } from './missing-worker.ts'
import type { RunsOnlyOptions, SallyportOptions } from './options.ts'
import { createRunsOnly, type RunsOnlySallyport } from './runs-only.ts'

/** Sallyport in a host: {@link RunsOnlySallyport} with dispatching. Reads throw errors of the store. */
export interface Sallyport<Events = Record<string, unknown>> extends RunsOnlySallyport {
  /** Sends accepted deliveries. Nothing is sent before `start()` or `runDue()` is called. */
  readonly worker: Worker
  readonly store: SallyportStore
  /**
   * Accepts an event from the host, as an application. Returns the answers of the endpoint and never throws; a refusal is logged as
   * `dispatch.refused`.
   */
  dispatch<Type extends EventTypeOf<Events>>(
    event: DispatchInput<Events, Type>,
    options?: DispatchCallOptions,
  ): Promise<HandlerResult<DispatchAnswer>>
  /**
   * {@link dispatch} for code in which a refusal is an error, such as a transaction that must roll back.
   *
   * @example
   * ```ts
   * await sallyport.dispatchOrThrow({ eventType: 'order.placed', recipient: 'user_42' }, { store: store.within(trx) })
   * ```
   *
   * @throws {SallyportError} The refusal, by a rejection: its `code`, `status` and `errors`.
   */
  dispatchOrThrow<Type extends EventTypeOf<Events>>(
    event: DispatchInput<Events, Type>,
    options?: DispatchCallOptions,
  ): Promise<DispatchAnswer>
  readonly dispatches: Dispatches
  readonly preferences: Preferences
  readonly suppressions: Suppressions
}

/**
 * Creates a Sallyport from its ports. Without `events` and `channels` it only records runs, and `POST /api/outbound/dispatch` is
 * answered 404 `not_found`.
 *
 * @throws {SallyportError} `config_invalid`, with all problems at once: an option that is unknown, missing, of another type or out
 * of range, events without channels or channels without events, an event that does not fit its channel.
 */
export function createSallyport<Events>(options: SallyportOptions<Events>): Sallyport<Events>
export function createSallyport(options: RunsOnlyOptions): RunsOnlySallyport
// Repeated: `ReturnType` takes the last overload, and the compiler reports a wrong call by the last one.
export function createSallyport<Events>(options: SallyportOptions<Events>): Sallyport<Events>
export function createSallyport<Events>(
  unchecked: SallyportOptions<Events> | RunsOnlyOptions,
): Sallyport<Events> | RunsOnlySallyport {
  const options = readConfig(unchecked)
  return isRunsOnly(options) ? createRunsOnly(options) : createDispatching(options)
}

function createDispatching<Events>(options: SallyportOptions<Events>): Sallyport<Events> {
  const { suppressions, links, ...given } = withErrorDetails(withDefaults(options))
  const consent = consentOf({ suppressions, links, feedback: given.feedback }, given.store)
  const ports = {
    ...given,
    queue: given.queue ?? localQueue(given.clock),
    ...consent.ports,
  }
  const { store, clock, logger, expiresInMs = EXPIRES_IN_MS, budgets = [], staleAfterMs, sandbox } = ports
  if (sandbox) logger.log('warn', 'sandbox.on', { detail: 'everything is recorded, nothing is sent' })

  const measuring = measuringOf(ports)
  const measured = { ...ports, expiresInMs, measure: measuring.measure }
  const background = backgroundWork()
  const watch = watchForWorker(ports)
  const accepting = { ...measured, background: background.add, onDue: watch.accepted }

  // Record runs, and dispatch the events that they cause.
  const publishing = backgroundWork()
  const publisher = publisherOf(ports, accepting, publishing.add)
  const recording = { ...accepting, publisher }

  const deliverer = watch.noticing(createWorker(measured, options.worker))
  const maintenanceTasks = {
    publishPending: publisher?.publishPending,
    published: publishing.done,
    ...(staleAfterMs !== undefined && { sweepStale: () => sweepStale(staleAfterMs, recording) }),
  }
  const counting = withCounts(
    withHeartbeat(withMaintenance(deliverer, maintenanceTasks, ports), ports),
    measuring.counter,
    clock,
  )
  const worker = watchMemory(counting, store, logger)
  const services = { ...tokenServices(ports), counter: measuring.counter }
  const { stop, isStopping } = stopOf(worker, services, ports)
  const channels = Object.keys(ports.channels)
  const calls = {
    dispatches: createDispatches({
      ...accepting,
      addressKeys: consent.addressKeys,
      hasFeedback: options.feedback !== undefined,
    }),
    suppressions: suppressionsOf({ store, clock, channels, addressKeys: consent.addressKeys }),
    runs: runsOf(recording),
    sessions: sessionsOf({ store, dispatches: store, clock }),
    tokens: services.tokens,
    budgets: budgetsOf({ budgets, store, clock }),
    stats: statisticsOf({
      store,
      clock,
      counter: measuring.counter,
      due: { store, channels },
    }),
  }
  const actions = [
    ...dispatchActions(recording, ports),
    ...recordActions(recording, ports),
    ...callActions({
      ...calls,
      events: () => viewEvents(ports.events),
      suppressions: consent.addressKeys && calls.suppressions,
    }),
  ]

  return {
    ...calls,
    endpoints: {
      ...endpointsOf(recording, ports, {
        actions,
        services,
        hasWork: publishing.isGoing,
        async work() {
          // First, so that dispatches of run events are delivered too.
          await publishing.done()
          await deliverDue(deliverer, recording)
          await background.done()
        },
      }),
      isStopping,
      open: consent.open(accepting),
    },
    worker,
    store,
    stop,
    async ready() {
      await store.ready?.()
    },
    dispatch: (event, callOptions = {}) => dispatchFromHost(event, callOptions, accepting),
    dispatchOrThrow: (event, callOptions = {}) => dispatchOrThrow(event, callOptions, accepting),
    preferences: preferencesOf({ store, recipientKeys: consent.addressKeys }),
    onMeasurement: measuring.onMeasurement,
  }
}

/** Publishes run events as dispatches; `undefined` without run events, which makes recording cheaper. */
function publisherOf<Events>(
  {
    runEvents: events = {},
    budgets = [],
    ...ports
  }: Omit<SallyportOptions<Events>, 'suppressions' | 'links'> & ReadyPorts,
  deps: DispatchDeps,
  background: (work: Promise<unknown>) => void,
): RunEventPublisher | undefined {
  if (Object.values(events).every((event) => event === undefined)) return undefined
  return createPublisher({
    ...ports,
    events,
    budgets,
    background,
    dispatch: (tenant, body, key, causedBy) =>
      answering<unknown>(deps, () =>
        planAndAccept(hostPrincipal(tenant), { headers: {}, body }, deps, { key, causedBy }),
      ),
  })
}
