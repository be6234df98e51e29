import { answering } from '../core/answers/fault.ts'
import { forHostCall, reportFault } from '../core/answers/report-fault.ts'
import { type HandlerResult, refuse } from '../core/answers/result.ts'
import { createWorker, type StopOptions, type Worker } from '../core/delivery/worker.ts'
import { type DispatchDeps, planAndAccept } from '../core/dispatch/handle-dispatch.ts'
import { EXPIRES_IN_MS } from '../core/dispatch/accept-dispatch.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { admitRecipient } from '../core/load/admission.ts'
import type { LoadLimits } from '../core/load/load-limits.ts'
import { createPublisher, type PublisherDeps, type RunEventPublisher } from '../core/runs/events/publisher.ts'
import { recordRun } from '../core/runs/handle-session-run.ts'
import { recordBatch } from '../core/runs/handle-session-run-batch.ts'
import type { RecordDeps, SessionRunDeps } from '../core/runs/record-deps.ts'
import { sweepStale } from '../core/runs/sweep-stale.ts'
import type { DispatchAnswer, DispatchInput, EventTypeOf } from '../model/dispatch.ts'
import type { Principal } from '../model/principal.ts'
import { localQueue } from '../queues/local.ts'
import { type Budgets, budgetsOf } from './budgets.ts'
import { callerEndpoints } from './caller-endpoints.ts'
import { isRunsOnly, readConfig } from './check-config.ts'
import { type RuntimePorts, withDefaults } from './defaults.ts'
import { type DispatchCallOptions, faultOfDispatchCall } from './dispatch-call.ts'
import { createDispatches, type Dispatches } from './dispatches.ts'
import { withMaintenance } from './maintenance.ts'
import { watchForWorker } from './missing-worker.ts'
import type { RunsOnlyOptions, SallyportOptions } from './options.ts'
import { type Runs, runsOf } from './runs.ts'
import { type RunsOnlySallyport, runsOnlySallyport } from './runs-only.ts'
import { type Sessions, sessionsOf } from './sessions.ts'
import { stopOf } from './stop.ts'

/** Sallyport in a host. Reads throw what the store throws. */
export interface Sallyport<Events = Record<string, unknown>> {
  /** What the adapters drive. */
  readonly endpoints: Endpoints
  /** Delivers what was accepted. Nothing is sent until it is started, or asked to `runDue()`. */
  readonly worker: Worker
  /**
   * Stops at the end of a process: the worker, as {@link Worker.stop} does, and the connections of callers. From now on every
   * answer over HTTP/1 has `Connection: close`, so that `server.close()` ends however busy callers are on connections that they
   * keep: all of Sallyport's, and those of the host that go through `toExpress`, `toKoa`, `toNode` or the `notFound` of `toFetch`.
   * Requests are served as before, for as long as the server takes them.
   *
   * Resolves when what was being sent has been settled. It may be called before a start, and again. Answers go on closing their
   * connections even if the worker is started again: only to stop delivering, call `worker.stop()`.
   *
   * @throws {SallyportError} `option_invalid`, by a rejection, when `graceMs` cannot be; nothing is stopped then.
   */
  stop(options?: StopOptions): Promise<void>
  /**
   * Resolves once the store can be used: to be awaited before a host listens.
   *
   * @throws {SallyportError} `config_invalid`, where the store says what is to be done first: a database that is not migrated.
   */
  ready(): Promise<void>
  /** Accepts an event from within the host, as an application: the same answers as the endpoint's, and it never throws. */
  dispatch<Type extends EventTypeOf<Events>>(
    event: DispatchInput<Events, Type>,
    options?: DispatchCallOptions,
  ): Promise<HandlerResult<DispatchAnswer>>
  readonly dispatches: Dispatches
  readonly runs: Runs
  readonly sessions: Sessions
  readonly budgets: Budgets
}

type MaintenanceOptions = DispatchDeps & SessionRunDeps & RecordDeps

const HOST = (tenant: string): Principal => ({ id: 'host', tenant })

/**
 * Puts Sallyport together from its ports. Without `events` and `channels` it only records runs: there is nothing to dispatch, and
 * `POST /api/outbound/dispatch` is answered 404 `not_found`.
 *
 * @throws {SallyportError} `config_invalid`, with all problems at once: an option that is unknown, missing, of another type or out of
 * its range, events without channels or the other way round, an event and a channel that do not fit.
 */
export function createSallyport<Events>(options: SallyportOptions<Events>): Sallyport<Events>
export function createSallyport(options: RunsOnlyOptions): RunsOnlySallyport
// Once more, since `ReturnType` takes the last overload, and a call that fits none is reported by the first.
export function createSallyport<Events>(options: SallyportOptions<Events>): Sallyport<Events>
export function createSallyport<Events>(
  unchecked: SallyportOptions<Events> | RunsOnlyOptions,
): Sallyport<Events> | RunsOnlySallyport {
  const options = readConfig(unchecked)
  if (isRunsOnly(options)) return runsOnlySallyport(options)
  const given = withDefaults(options)
  const ports = { ...given, queue: given.queue ?? localQueue(given.clock) }
  const { store, clock, logger, expiresInMs = EXPIRES_IN_MS, budgets = [], staleAfterMs } = ports
  const background = backgroundWork()
  const publishing = backgroundWork()
  const watch = watchForWorker(ports)
  const dispatchDeps: DispatchDeps = { ...ports, expiresInMs, background: background.add, onDue: watch.accepted }
  const publisher = publisherOf(ports, dispatchDeps, publishing.add)
  const deps: MaintenanceOptions = { ...dispatchDeps, ...ports, publisher }
  const maintenanceTasks = {
    publishPending: publisher?.publishPending,
    published: publishing.done,
    ...(staleAfterMs !== undefined && { sweepStale: () => sweepStale(staleAfterMs, deps) }),
  }
  const deliverer = watch.noticing(createWorker(ports, options.worker))
  const worker = withMaintenance(deliverer, maintenanceTasks, ports)
  const { stop, isStopping } = stopOf(worker)
  if (options.sandbox) logger.log('warn', 'sandbox.on', { detail: 'everything is recorded, nothing is sent' })
  return {
    endpoints: { ...endpointsOf(deps, deliverer, background, publishing, options), isStopping },
    worker,
    stop,
    async ready() {
      await store.ready?.()
    },
    async dispatch(event, options = {}) {
      const callDeps = forHostCall(deps)
      const accept = async () => {
        const fault = faultOfDispatchCall(options)
        if (fault !== undefined) return refuse('validation_failed', fault)
        const { tenant = 'default', idempotencyKey, delayMs, store: own = store } = options
        const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
        return planAndAccept(HOST(tenant), { headers, body: event }, { ...callDeps, store: own }, { delayMs })
      }
      return (await answering(callDeps, accept)) as HandlerResult<DispatchAnswer>
    },
    dispatches: createDispatches({ ...ports, expiresInMs, background: background.add }),
    runs: runsOf(deps),
    sessions: sessionsOf({ store, dispatches: store }),
    budgets: budgetsOf({ budgets, store, clock }),
  }
}

/** Absent where nobody wants to know: recording has less to do then. */
function publisherOf<Events>(
  { runEvents: events = {}, budgets = [], ...ports }: SallyportOptions<Events> & Required<RuntimePorts>,
  deps: DispatchDeps,
  background: (work: Promise<unknown>) => void,
): RunEventPublisher | undefined {
  if (Object.values(events).every((event) => event === undefined)) return undefined
  const dispatch: PublisherDeps['dispatch'] = (tenant, body, key) =>
    answering<unknown>(deps, () => planAndAccept(HOST(tenant), { headers: {}, body }, deps, { key }))
  return createPublisher({ ...ports, events, budgets, dispatch, background })
}

/** @param deliverer The worker without the chores: they are not for every answer that goes out. */
function endpointsOf(
  deps: MaintenanceOptions,
  deliverer: Worker,
  background: BackgroundWork,
  publishing: BackgroundWork,
  options: Pick<SallyportOptions<unknown>, 'rateLimiter' | keyof LoadLimits>,
): Omit<Endpoints, 'isStopping'> {
  const { rateLimiter } = options
  const admit = rateLimiter && ((tenant: string, recipient: string) => admitRecipient(tenant, recipient, rateLimiter))
  return {
    ...callerEndpoints(deps, options),
    handle: (action, principal, request) =>
      answering<unknown>(deps, () => {
        if (action === 'dispatch') return planAndAccept(principal, request, deps, { admit })
        if (action === 'session_run') return recordRun(principal, request, deps)
        return recordBatch(principal, request, deps)
      }),
    isPublishing: publishing.isGoing,
    async deliver() {
      // What is told of runs is delivered with the rest.
      await publishing.done()
      try {
        await deliverer.runDue()
      } catch (cause) {
        reportFault(cause, { operation: 'store' }, { level: 'error', event: 'worker.claim_failed' }, deps)
      }
      await background.done()
    },
  }
}

/** What goes on after answers, for as long as it does. */
interface BackgroundWork {
  add(work: Promise<unknown>): void
  isGoing(): boolean
  done(): Promise<void>
}

function backgroundWork(): BackgroundWork {
  const going = new Set<Promise<unknown>>()
  return {
    add(work) {
      going.add(work)
      void work.finally(() => going.delete(work))
    },
    isGoing: () => going.size > 0,
    async done() {
      await Promise.all(going)
    },
  }
}
