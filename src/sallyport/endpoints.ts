import { type AnswerDeps, answering, answerRefusal } from '../core/answers/fault.ts'
import { type FaultDeps, reportFault } from '../core/answers/report-fault.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, refuse } from '../core/answers/result.ts'
import { identify, permit } from '../core/authenticate.ts'
import { readStopOptions, type StopOptions, type Worker } from '../core/delivery/worker.ts'
import { type DispatchDeps, planAndAccept } from '../core/dispatch/handle-dispatch.ts'
import type { Action, Endpoints, Requested } from '../core/endpoints.ts'
import { type Admission, admitPosts, admitRecipient, admitRequest } from '../core/load/admission.ts'
import { type LoadLimits, loadOf } from '../core/load/load-limits.ts'
import { recordRun } from '../core/runs/handle-session-run.ts'
import { type RecordBatchOptions, recordBatch } from '../core/runs/handle-session-run-batch.ts'
import type { RecordDeps, SessionRunDeps } from '../core/runs/record-deps.ts'
import type { StatisticsCounter } from '../core/statistics/counter.ts'
import { exchangeToken } from '../core/tokens/exchange-token.ts'
import { operationOf, outcomeOf, refusedOutcome } from '../core/tokens/use-outcome.ts'
import { type Awaitable, andThen } from '../model/awaitable.ts'
import type { Principal } from '../model/principal.ts'
import { withTimeout } from '../model/time-out.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunsOnlyOptions } from './options.ts'
import { isReadAction, type ReadApi } from './read-api.ts'
import type { TokenServices } from './tokens.ts'

/** What is stored after an answer. */
type Services = TokenServices & { readonly counter: StatisticsCounter }

type Limits = Pick<RunsOnlyOptions, 'rateLimiter' | keyof LoadLimits>
type RunDeps = SessionRunDeps & RecordDeps

export function dispatchEndpoints(
  deps: DispatchDeps & RunDeps,
  limits: Limits,
  services: Services,
  readApi: ReadApi,
  delivering: {
    /** The worker without maintenance, which `waitUntil` must not repeat after every answer. */
    readonly deliverer: Worker
    readonly background: BackgroundWork
    readonly publishing: BackgroundWork
  },
): Omit<Endpoints, 'isStopping'> {
  const { deliverer, background, publishing } = delivering
  const { rateLimiter } = limits
  const admit = rateLimiter && ((tenant: string, recipient: string) => admitRecipient(tenant, recipient, rateLimiter))
  return {
    ...callerSteps(deps, limits, services),
    handles: (action) => canHandle(action, deps, readApi),
    handle: handlerOf(deps, services, readApi, (action, principal, request, admission) => {
      if (action === 'dispatch') return planAndAccept(principal, request, deps, { admit })
      return recordPosts(action, principal, request, deps, postLimit(principal, admission, limits))
    }),
    hasWork: publishing.isGoing,
    async deliver() {
      // First, so that dispatches of run events are delivered too.
      await publishing.done()
      try {
        await deliverer.runDue()
      } catch (cause) {
        reportFault(cause, { operation: 'store' }, { level: 'error', event: 'worker.claim_failed' }, deps)
      }
      await Promise.all([background.done(), services.uses.flush(), services.counter.flush()])
    },
  }
}

export function runsOnlyEndpoints(
  deps: RunDeps & AnswerDeps,
  limits: Limits,
  services: Services,
  readApi: ReadApi,
): Omit<Endpoints, 'isStopping'> {
  return {
    ...callerSteps(deps, limits, services),
    handles: (action) => action !== 'dispatch' && canHandle(action, deps, readApi),
    handle: handlerOf(deps, services, readApi, (action, principal, request, admission) => {
      if (action === 'dispatch') return refuse('not_found', 'This host only records runs.')
      return recordPosts(action, principal, request, deps, postLimit(principal, admission, limits))
    }),
    hasWork: () => services.uses.hasNoted() || services.counter.hasCounts(),
    async deliver() {
      await Promise.all([services.uses.flush(), services.counter.flush()])
    },
  }
}

function postLimit(
  principal: Principal,
  admission: Admission | undefined,
  { rateLimiter }: Limits,
): RecordBatchOptions {
  if (!admission || !rateLimiter) return {}
  return { admit: (posts) => admitPosts(principal, posts, admission, rateLimiter) }
}

type Answering = Awaitable<HandlerResult<unknown> | Refused>
type Verifying = AnswerDeps & { readonly auth: AuthVerifier; readonly clock: Clock }

/** Tokens of a verifier without `exchange` cannot be exchanged. */
function canHandle(action: Requested['action'], { auth }: Verifying, readApi: ReadApi): boolean {
  if (isReadAction(action)) return readApi.handles(action)
  return action !== 'session_token' || auth.exchange !== undefined
}

function recordPosts(
  action: Action,
  principal: Principal,
  request: HandlerRequest,
  deps: RunDeps & AnswerDeps,
  options: RecordBatchOptions,
): Answering {
  return action === 'session_run' ? recordRun(principal, request, deps) : recordBatch(principal, request, deps, options)
}

/** Handles requests, and notes the uses of session tokens. */
function handlerOf(
  deps: Verifying,
  { uses }: TokenServices,
  readApi: ReadApi,
  handle: (action: Action, principal: Principal, request: HandlerRequest, admission?: Admission) => Answering,
): Endpoints['handle'] {
  const exchange = deps.auth.exchange?.bind(deps.auth)
  return async (action, principal, request, admission) => {
    // Only applications read, and uses are those of session tokens.
    if (isReadAction(action)) return answering(deps, () => readApi.handle(action, principal, request))
    let jti: string | undefined
    const onExchanged = (id: string): void => {
      jti = id
    }
    const result = await answering<unknown>(deps, () =>
      action === 'session_token' && exchange
        ? exchangeToken(principal, request, { exchange, clock: deps.clock, onExchanged })
        : handle(action, principal, request, admission),
    )
    uses.add(principal, operationOf(action), outcomeOf(request, result, jti))
    return result
  }
}

/** Steps before the body is read, equal for all endpoints: load, authentication, rate limits, refusals. */
function callerSteps(
  deps: Verifying,
  { rateLimiter, ...limits }: Limits,
  { revocations, uses }: TokenServices,
): Pick<Endpoints, 'clock' | 'logger' | 'load' | 'authenticate' | 'admit' | 'recheck' | 'refuse' | 'report'> {
  const noted = (principal: Principal, { action, operation }: Requested, refused: Refused): Refused => {
    uses.add(principal, isReadAction(action) ? operation : operationOf(action), refusedOutcome(refused))
    return refused
  }
  const recheck: Endpoints['recheck'] = (principal, requested) => {
    return andThen(revocations.check(principal), (refused) => refused && noted(principal, requested, refused))
  }
  const permitted = (principal: Principal, requested: Requested): Awaitable<Principal | Refused> =>
    andThen(recheck(principal, requested), (revoked) => {
      if (revoked) return revoked
      const forbidden = permit(principal, requested.operation)
      return forbidden ? noted(principal, requested, forbidden) : principal
    })
  return {
    clock: deps.clock,
    logger: deps.logger,
    load: loadOf(limits, deps.logger),
    recheck,
    authenticate(headers, requested) {
      const identified = identify(headers, requested.operation, deps.auth, deps.clock)
      return andThen(identified, (principal) => (isRefused(principal) ? principal : permitted(principal, requested)))
    },
    ...(rateLimiter && {
      async admit(principal, requested) {
        const admitted = await admitRequest(principal, requested.operation, rateLimiter)
        return isRefused(admitted) ? noted(principal, requested, admitted) : admitted
      },
    }),
    refuse: (refused) => answerRefusal(refused, deps),
    report: (cause, operation, line) => reportFault(cause, { operation }, line, deps),
  }
}

export interface BackgroundWork {
  add(work: Promise<unknown>): void
  isGoing(): boolean
  done(): Promise<void>
}

export function backgroundWork(): BackgroundWork {
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

export interface Stop {
  /**
   * Stops the worker, stores the uses of tokens and the statistics, and closes connections with their next answer. Uses that are not stored a second after
   * `graceMs` are no longer awaited, and logged as `token_use.write_failed`.
   */
  stop(options?: StopOptions): Promise<void>
  isStopping(): boolean
}

/** Time for the store after the grace of sends. */
const STORE_MS = 1_000

export function stopOf(worker: Worker, { uses }: TokenServices, deps: FaultDeps & { readonly clock: Clock }): Stop {
  const { clock } = deps
  let isStopping = false

  async function flush(graceMs: number): Promise<void> {
    if (graceMs === Number.POSITIVE_INFINITY) return uses.flush()
    const line = { level: 'error', event: 'token_use.write_failed' } as const
    const timedOut = withTimeout(uses.flush(), { ms: graceMs + STORE_MS, clock })
    await timedOut.catch((cause: unknown) => reportFault(cause, { operation: 'store' }, line, deps))
  }

  return {
    async stop(options = {}) {
      const own = readStopOptions(options, 'stop')
      isStopping = true
      await Promise.all([worker.stop(own), flush(own.graceMs ?? Number.POSITIVE_INFINITY)])
    },
    isStopping: () => isStopping,
  }
}
