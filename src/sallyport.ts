import { checkConfig } from './check-config.ts'
import { authenticate } from './core/authenticate.ts'
import { viewDispatch } from './core/dispatch/dispatch-view.ts'
import { acceptDispatch, type DispatchDeps } from './core/dispatch/handle-dispatch.ts'
import { createWorker, type Worker } from './core/dispatch/worker.ts'
import type { Endpoints } from './core/endpoints.ts'
import { answering, answerRefusal, refusalOf } from './core/fault.ts'
import type { HandlerResult } from './core/result.ts'
import { recordRun, type SessionRunDeps } from './core/runs/handle-session-run.ts'
import { viewRun } from './core/runs/run-view.ts'
import { rollUpSession } from './core/runs/session-view.ts'
import { withDefaults } from './defaults.ts'
import type { DispatchAnswer, DispatchRequest, DispatchView } from './model/dispatch.ts'
import type { JsonObject } from './model/json.ts'
import type { Run, Session } from './model/run.ts'
import type { SallyportOptions } from './options.ts'
import type { Page } from './ports/dispatch-store.ts'
import type { RunStore, StoredRun } from './ports/run-store.ts'
import { localQueue } from './queue/local.ts'

/** Narrows a read to one tenant. Default: `default`. */
export interface TenantScope {
  readonly tenant?: string
}

/** Which part of a list to read. */
export interface ListOptions extends TenantScope {
  readonly sessionId?: string
  /** 1-500. Default: 50. */
  readonly limit?: number
  /** The `nextCursor` of the page before. */
  readonly cursor?: string
}

/** An event from within the host: what the endpoint takes, with the data that the event's schema asks for. */
export type DispatchInput<Events, Type extends keyof Events> = Omit<DispatchRequest, 'eventType' | 'eventData'> & {
  readonly eventType: Type
} & (JsonObject extends Events[Type] ? { readonly eventData?: Events[Type] } : { readonly eventData: Events[Type] })

/** How {@link Sallyport.dispatch} is to act. */
export interface DispatchCallOptions extends TenantScope {
  /** As the `Idempotency-Key` header: a second call with this key gets the first one's answer. */
  readonly idempotencyKey?: string
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
  readonly dispatches: {
    get(dispatchId: string, scope?: TenantScope): Promise<DispatchView | undefined>
    /** Newest first. */
    list(options?: ListOptions): Promise<Page<DispatchView>>
  }
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

const HOST = { id: 'host' }
const DEFAULT_PAGE = 50
const MAX_PAGE = 500

/**
 * Puts Sallyport together from its ports.
 *
 * @throws {SallyportError} `config_invalid`, when events and channels do not fit: all that is wrong at once.
 */
export function createSallyport<Events>(options: SallyportOptions<Events>): Sallyport<Events> {
  checkConfig(options)
  const ports = withDefaults(options)
  const { store, clock } = ports
  const queue = localQueue(clock)
  const deps: DispatchDeps & SessionRunDeps = { ...ports, queue }
  return {
    endpoints: endpointsOf(deps),
    worker: createWorker({ ...ports, queue }, options.worker),
    async dispatch(event, { tenant = 'default', idempotencyKey } = {}) {
      const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
      const accept = () => acceptDispatch({ ...HOST, tenant }, { headers, body: event }, deps)
      return (await answering(deps, accept)) as HandlerResult<DispatchAnswer>
    },
    dispatches: {
      async get(dispatchId, scope) {
        const found = await store.findDispatch(tenantOf(scope), dispatchId)
        return found && viewDispatch(found)
      },
      async list(query) {
        const page = await store.listDispatches(listQuery(query))
        return { ...page, items: page.items.map(viewDispatch) }
      },
    },
    runs: {
      async get(runId, scope) {
        const found = await store.findRun(tenantOf(scope), runId)
        return found && viewRun(found)
      },
      async list(query) {
        const page = await store.listRuns(listQuery(query))
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

function endpointsOf(deps: DispatchDeps & SessionRunDeps): Endpoints {
  return {
    clock: deps.clock,
    authenticate: (headers, operation) => authenticate(headers, operation, deps.auth).catch(refusalOf),
    handle: (operation, principal, request) =>
      answering<unknown>(deps, () =>
        operation === 'dispatch' ? acceptDispatch(principal, request, deps) : recordRun(principal, request, deps),
      ),
    refuse: (refused) => answerRefusal(refused, deps),
  }
}

function tenantOf({ tenant = 'default' }: TenantScope = {}): string {
  return tenant
}

function listQuery({
  tenant = 'default',
  limit = DEFAULT_PAGE,
  ...rest
}: ListOptions = {}): ListOptions & { tenant: string; limit: number } {
  return { ...rest, tenant, limit: Number.isInteger(limit) ? Math.min(Math.max(1, limit), MAX_PAGE) : DEFAULT_PAGE }
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
