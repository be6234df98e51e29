import { checkConfig } from './check-config.ts'
import { authenticate, isScope } from './core/authenticate.ts'
import { createWorker, type Worker } from './core/delivery/worker.ts'
import { acceptDispatch, type DispatchDeps, EXPIRES_IN_MS } from './core/dispatch/handle-dispatch.ts'
import type { Endpoints } from './core/endpoints.ts'
import { answering, answerRefusal, describeCause, refusalOf } from './core/fault.ts'
import { type HandlerResult, refuse } from './core/result.ts'
import { recordRun, type SessionRunDeps } from './core/runs/handle-session-run.ts'
import { viewRun } from './core/runs/run-view.ts'
import { rollUpSession } from './core/runs/session-view.ts'
import { withDefaults } from './defaults.ts'
import { type Dispatches, dispatchesOf } from './dispatches.ts'
import type { DispatchAnswer, DispatchRequest } from './model/dispatch.ts'
import type { JsonObject } from './model/json.ts'
import type { Run, Session } from './model/run.ts'
import type { SallyportOptions } from './options.ts'
import { type ListOptions, listQuery, MAX_PAGE, type TenantScope, tenantOf } from './paging.ts'
import type { Page } from './ports/dispatch-store.ts'
import type { RunStore, StoredRun } from './ports/run-store.ts'
import { localQueue } from './queue/local.ts'

/** An event from within the host: what the endpoint takes, with the data that the event's schema asks for. */
export type DispatchInput<Events, Type extends keyof Events> = Omit<DispatchRequest, 'eventType' | 'eventData'> & {
  readonly eventType: Type
} & (JsonObject extends Events[Type] ? { readonly eventData?: Events[Type] } : { readonly eventData: Events[Type] })

/** How {@link Sallyport.dispatch} is to act. */
export interface DispatchCallOptions extends TenantScope {
  /** As the `Idempotency-Key` header: a second call with this key gets the first one's answer, whatever its `delayMs`. */
  readonly idempotencyKey?: string
  /** Milliseconds until it is to be sent, instead of the event's own delay; 0 to 366 days. */
  readonly delayMs?: number
}

/** Sallyport in a host. Reads throw what the store throws. */
export interface Sallyport<Events = Record<string, unknown>> {
  /** What the adapters drive. */
  readonly endpoints: Endpoints
  /** Delivers what was accepted. Nothing is sent until it is started, or asked to `runDue()`. */
  readonly worker: Worker
  /** Accepts an event from within the host, as an application: the same answers as the endpoint's, and it never throws. */
  dispatch<Type extends keyof Events & string>(
    event: DispatchInput<Events, Type>,
    options?: DispatchCallOptions,
  ): Promise<HandlerResult<DispatchAnswer>>
  readonly dispatches: Dispatches
  readonly runs: {
    get(runId: string, scope?: TenantScope): Promise<Run | undefined>
    /** Oldest first. */
    list(options?: ListOptions): Promise<Page<Run>>
  }
  readonly sessions: {
    /** Makes a session exist: needed before its first run only with `sessions: 'must-exist'`. */
    open(sessionId: string, scope?: TenantScope): Promise<void>
    /** The session, rolled up from its runs. */
    get(sessionId: string, scope?: TenantScope): Promise<Session | undefined>
  }
}

const MAX_DELAY_MS = 366 * 86_400_000

/**
 * Puts Sallyport together from its ports.
 *
 * @throws {SallyportError} `config_invalid`, when events and channels do not fit: all that is wrong at once.
 */
export function createSallyport<Events>(options: SallyportOptions<Events>): Sallyport<Events> {
  checkConfig(options)
  const ports = withDefaults(options)
  const { store, clock, logger, expiresInMs = EXPIRES_IN_MS } = ports
  const queue = localQueue(clock)
  const background = backgroundWork()
  const deps: DispatchDeps & SessionRunDeps = { ...ports, expiresInMs, queue, background: background.add }
  const worker = createWorker({ ...ports, queue }, options.worker)
  if (options.sandbox) logger.log('warn', 'sandbox.on', { detail: 'everything is recorded, nothing is sent' })
  return {
    endpoints: endpointsOf(deps, worker, background.done),
    worker,
    async dispatch(event, { tenant = 'default', idempotencyKey, delayMs } = {}) {
      const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
      const accept = async () => {
        if (!isScope(tenant)) return refuse('validation_failed', 'A tenant is 1-200 visible ASCII characters.')
        if (!isDelay(delayMs)) {
          return refuse('validation_failed', `delayMs is a whole number of milliseconds, 0 to ${MAX_DELAY_MS}.`)
        }
        return acceptDispatch({ id: 'host', tenant }, { headers, body: event }, deps, { delayMs })
      }
      return (await answering(deps, accept)) as HandlerResult<DispatchAnswer>
    },
    dispatches: dispatchesOf({ store, queue, logger, expiresInMs, sandbox: options.sandbox === true }),
    runs: {
      async get(runId, scope) {
        const found = await store.findRun(tenantOf(scope), runId)
        return found && viewRun(found)
      },
      async list(query) {
        const page = await store.listRuns(listQuery(query ?? {}))
        return { ...page, items: page.items.map(viewRun) }
      },
    },
    sessions: {
      async open(sessionId, scope) {
        await store.openSession(tenantOf(scope), sessionId)
      },
      async get(sessionId, scope) {
        const tenant = tenantOf(scope)
        const found = await store.findSession(tenant, sessionId)
        return found && rollUpSession(found, await allRuns(store, tenant, sessionId))
      },
    },
  }
}

function endpointsOf(
  deps: DispatchDeps & SessionRunDeps,
  worker: Worker,
  inBackground: () => Promise<void>,
): Endpoints {
  return {
    clock: deps.clock,
    authenticate: (headers, operation) => authenticate(headers, operation, deps.auth).catch(refusalOf),
    handle: (operation, principal, request) =>
      answering<unknown>(deps, () =>
        operation === 'dispatch' ? acceptDispatch(principal, request, deps) : recordRun(principal, request, deps),
      ),
    refuse: (refused) => answerRefusal(refused, deps),
    async deliver() {
      try {
        await Promise.all([worker.runDue(), inBackground()])
      } catch (cause) {
        deps.logger.log('error', 'worker.claim_failed', describeCause(cause))
      }
    },
  }
}

/** What goes on after answers, for as long as it does. */
function backgroundWork(): { add(work: Promise<void>): void; done(): Promise<void> } {
  const going = new Set<Promise<void>>()
  return {
    add(work) {
      going.add(work)
      void work.finally(() => going.delete(work))
    },
    async done() {
      await Promise.all(going)
    },
  }
}

function isDelay(ms: number | undefined): boolean {
  return ms === undefined || (Number.isInteger(ms) && ms >= 0 && ms <= MAX_DELAY_MS)
}

async function allRuns(store: RunStore, tenant: string, sessionId: string): Promise<readonly StoredRun[]> {
  const runs: StoredRun[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await store.listRuns({ tenant, sessionId, limit: MAX_PAGE, ...(cursor !== undefined && { cursor }) })
    runs.push(...page.items)
    cursor = page.nextCursor
    if (cursor === undefined) return runs
  }
}
