import { type Budgets, budgetsOf } from './budgets.ts'
import { checkConfig } from './check-config.ts'
import { faultOfDispatchCall } from './check-dispatch-call.ts'
import { admitRecipient, admitRequest, gate } from './core/admission.ts'
import { authenticate } from './core/authenticate.ts'
import { createWorker, type Worker } from './core/delivery/worker.ts'
import { acceptDispatch, type DispatchDeps, EXPIRES_IN_MS } from './core/dispatch/handle-dispatch.ts'
import type { Endpoints } from './core/endpoints.ts'
import { answering, answerRefusal, describeCause } from './core/fault.ts'
import { type HandlerResult, refuse } from './core/result.ts'
import { type AnnouncerDeps, createAnnouncer, type RunAnnouncer } from './core/run-events/announcer.ts'
import { recordRun } from './core/runs/handle-session-run.ts'
import { recordBatch } from './core/runs/handle-session-run-batch.ts'
import type { RecordDeps, SessionRunDeps } from './core/runs/record-deps.ts'
import { sweepStale } from './core/runs/sweep-stale.ts'
import { type RuntimePorts, withDefaults } from './defaults.ts'
import { type Dispatches, dispatchesOf } from './dispatches.ts'
import { withHousekeeping } from './housekeeping.ts'
import type { DispatchAnswer } from './model/dispatch.ts'
import type { DispatchInput } from './model/dispatch-input.ts'
import type { Principal } from './model/principal.ts'
import type { SallyportOptions } from './options.ts'
import type { TenantScope } from './paging.ts'
import type { DispatchStore } from './ports/dispatch-store.ts'
import { localQueue } from './queue/local.ts'
import { type Runs, runsOf } from './runs.ts'
import { type Sessions, sessionsOf } from './sessions.ts'

/** How {@link Sallyport.dispatch} is to act. */
export interface DispatchCallOptions extends TenantScope {
  /** As the `Idempotency-Key` header: a second call with this key gets the first one's answer, whatever its `delayMs`. */
  readonly idempotencyKey?: string
  /** Milliseconds until it is to be sent, instead of the event's own delay; 0 to 366 days. */
  readonly delayMs?: number
  /**
   * Accepts through this store instead: within a transaction of the host's own, by what `sqlStore().within(transaction)` gives.
   * Nothing is sent before that is committed, and nothing at all when it is rolled back. Default: the store of Sallyport.
   */
  readonly store?: DispatchStore
}

/** Sallyport in a host. Reads throw what the store throws. */
export interface Sallyport<Events = Record<string, unknown>> {
  /** What the adapters drive. */
  readonly endpoints: Endpoints
  /** Delivers what was accepted. Nothing is sent until it is started, or asked to `runDue()`. */
  readonly worker: Worker
  /**
   * Resolves once the store can be used: to be awaited before a host listens.
   *
   * @throws {SallyportError} `config_invalid`, where the store says what is to be done first: a database that is not migrated.
   */
  ready(): Promise<void>
  /** Accepts an event from within the host, as an application: the same answers as the endpoint's, and it never throws. */
  dispatch<Type extends keyof Events & string>(
    event: DispatchInput<Events, Type>,
    options?: DispatchCallOptions,
  ): Promise<HandlerResult<DispatchAnswer>>
  readonly dispatches: Dispatches
  readonly runs: Runs
  readonly sessions: Sessions
  readonly budgets: Budgets
}

type HouseDeps = DispatchDeps & SessionRunDeps & RecordDeps

const HOST = (tenant: string): Principal => ({ id: 'host', tenant })

/**
 * Puts Sallyport together from its ports.
 *
 * @throws {SallyportError} `config_invalid`, when events and channels do not fit: all that is wrong at once.
 */
export function createSallyport<Events>(options: SallyportOptions<Events>): Sallyport<Events> {
  checkConfig(options)
  const given = withDefaults(options)
  const ports = { ...given, queue: given.queue ?? localQueue(given.clock) }
  const { store, clock, logger, queue, expiresInMs = EXPIRES_IN_MS, budgets = [], staleAfterMs } = ports
  const background = backgroundWork()
  const announcing = backgroundWork()
  const dispatchDeps: DispatchDeps = { ...ports, expiresInMs, background: background.add }
  const announcer = announcerOf(ports, dispatchDeps, announcing.add)
  const deps: HouseDeps = { ...dispatchDeps, ...ports, announcer }
  const chores = {
    announcePending: announcer?.announcePending,
    announced: announcing.done,
    ...(staleAfterMs !== undefined && { sweepStale: () => sweepStale(staleAfterMs, deps) }),
  }
  const deliverer = createWorker(ports, options.worker)
  const worker = withHousekeeping(deliverer, chores, ports)
  if (options.sandbox) logger.log('warn', 'sandbox.on', { detail: 'everything is recorded, nothing is sent' })
  return {
    endpoints: endpointsOf(deps, deliverer, background, announcing, options),
    worker,
    async ready() {
      await store.ready?.()
    },
    async dispatch(event, options = {}) {
      const accept = async () => {
        const fault = faultOfDispatchCall(options)
        if (fault !== undefined) return refuse('validation_failed', fault)
        const { tenant = 'default', idempotencyKey, delayMs, store: own = store } = options
        const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
        return acceptDispatch(HOST(tenant), { headers, body: event }, { ...deps, store: own }, { delayMs })
      }
      return (await answering(deps, accept)) as HandlerResult<DispatchAnswer>
    },
    dispatches: dispatchesOf({ store, queue, logger, clock, expiresInMs, sandbox: options.sandbox === true }),
    runs: runsOf(deps),
    sessions: sessionsOf({ store }),
    budgets: budgetsOf({ budgets, store, clock }),
  }
}

/** Absent where nobody wants to know: recording has less to do then. */
function announcerOf<Events>(
  { runEvents: events = {}, budgets = [], store, clock, logger }: SallyportOptions<Events> & Required<RuntimePorts>,
  deps: DispatchDeps,
  background: (work: Promise<unknown>) => void,
): RunAnnouncer | undefined {
  if (Object.values(events).every((event) => event === undefined)) return undefined
  const dispatch: AnnouncerDeps['dispatch'] = (tenant, body, key) =>
    answering<unknown>(deps, () => acceptDispatch(HOST(tenant), { headers: {}, body }, deps, { key }))
  return createAnnouncer({ events, budgets, store, clock, logger, dispatch, background })
}

/** @param deliverer The worker without the chores: they are not for every answer that goes out. */
function endpointsOf(
  deps: HouseDeps,
  deliverer: Worker,
  background: BackgroundWork,
  announcing: BackgroundWork,
  { rateLimiter, maxInHand = 1_000 }: Pick<SallyportOptions<unknown>, 'rateLimiter' | 'maxInHand'>,
): Endpoints {
  const admit = rateLimiter && ((tenant: string, recipient: string) => admitRecipient(tenant, recipient, rateLimiter))
  return {
    clock: deps.clock,
    logger: deps.logger,
    gate: gate(maxInHand, deps.logger),
    authenticate: (headers, operation) => authenticate(headers, operation, deps.auth),
    ...(rateLimiter && { admit: (principal, operation) => admitRequest(principal, operation, rateLimiter) }),
    handle: (action, principal, request) =>
      answering<unknown>(deps, () => {
        if (action === 'dispatch') return acceptDispatch(principal, request, deps, { admit })
        if (action === 'session_run') return recordRun(principal, request, deps)
        return recordBatch(principal, request, deps)
      }),
    refuse: (refused) => answerRefusal(refused, deps),
    isTelling: announcing.isGoing,
    async deliver() {
      // What is told of runs is delivered with the rest.
      await announcing.done()
      try {
        await deliverer.runDue()
      } catch (cause) {
        deps.logger.log('error', 'worker.claim_failed', describeCause(cause))
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
