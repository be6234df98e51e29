import {
  BUDGET_ACTIONS,
  DISPATCH_ACTIONS,
  EVENT_ACTIONS,
  POSTS,
  RUN_ACTIONS,
  SESSION_ACTIONS,
  STATISTICS_ACTIONS,
  SUPPRESSION_ACTIONS,
  TOKEN_ACTIONS,
} from '../actions/table.ts'
import { actionsOf } from '../core/actions/call-action.ts'
import { type AnswerDeps, answering, answerRefusal } from '../core/answers/fault.ts'
import { type FaultDeps, reportFault } from '../core/answers/report-fault.ts'
import { isRefused, type Refused, refuse } from '../core/answers/result.ts'
import { identify, permit } from '../core/authenticate.ts'
import { readStopOptions, type StopOptions, type Worker } from '../core/delivery/worker.ts'
import { type DispatchDeps, planAndAccept } from '../core/dispatch/handle-dispatch.ts'
import type { Action, ActionCall, ActionRoute, Endpoints } from '../core/endpoints.ts'
import { admitPosts, admitRecipient, admitRequest } from '../core/load/admission.ts'
import { type LoadLimits, loadOf } from '../core/load/load-limits.ts'
import { recordRun } from '../core/runs/handle-session-run.ts'
import { type RecordBatchOptions, recordBatch } from '../core/runs/handle-session-run-batch.ts'
import type { RecordDeps, SessionRunDeps } from '../core/runs/record-deps.ts'
import type { StatisticsCounter } from '../core/statistics/counter.ts'
import { exchangeToken } from '../core/tokens/exchange-token.ts'
import { outcomeOf, refusedOutcome } from '../core/tokens/use-outcome.ts'
import { type Awaitable, andThen } from '../model/awaitable.ts'
import type { EventView } from '../model/event-view.ts'
import type { Principal } from '../model/principal.ts'
import { withTimeout } from '../model/time-out.ts'
import type { TokenOperation } from '../model/token-use.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import type { Budgets } from '../services/budgets.ts'
import type { Dispatches } from '../services/dispatches.ts'
import type { Runs } from '../services/runs.ts'
import type { Sessions } from '../services/sessions.ts'
import type { ReadStatistics } from '../services/statistics.ts'
import type { Suppressions } from '../services/suppressions.ts'
import type { TokenServices, Tokens } from '../services/tokens.ts'
import type { RunsOnlyOptions } from './options.ts'

/** Services with data that is stored after an answer. */
type Services = TokenServices & { readonly counter: StatisticsCounter }

type Limits = Pick<RunsOnlyOptions, 'rateLimiter' | keyof LoadLimits>
type RunDeps = SessionRunDeps & RecordDeps

/** Actions of a host, and the work around them. */
interface EndpointParts {
  readonly actions: readonly Action[]
  readonly services: Services
  /** Default: whether the services have something to store. */
  hasWork?(): boolean
  /** Done before the services store what they noted. Default: nothing. */
  work?(): Promise<unknown>
}

export function endpointsOf(
  deps: Verifying,
  limits: Limits,
  { actions, services, hasWork, work }: EndpointParts,
): Omit<Endpoints, 'isStopping'> {
  const { uses, counter } = services
  return {
    ...callerSteps(deps, limits, services),
    actions,
    async handle(action, principal, request, admission) {
      const { run } = action
      if (!run) return answerRefusal(refuse('not_found', 'This host does not offer it.'), deps)
      let made: string | undefined
      const onMade = (id: string): void => {
        made = id
      }
      const result = await answering<unknown>(deps, () => run({ principal, request, admission, onMade }))
      uses.add(principal, usedAs(action), outcomeOf(request, result, made))
      return result
    },
    hasWork: hasWork ?? (() => uses.hasNoted() || counter.hasCounts()),
    async deliver() {
      await work?.()
      await Promise.all([uses.flush(), counter.flush()])
    },
  }
}

/** The services of a host, by what their actions call. Without one, its actions are not offered. */
interface CalledServices {
  readonly runs: Runs
  readonly sessions: Sessions
  readonly tokens: Tokens
  readonly stats: ReadStatistics
  readonly budgets: Budgets
  /** The catalogue. */
  readonly events?: () => readonly EventView[]
  readonly dispatches?: Dispatches
  readonly suppressions?: Suppressions | undefined
}

export function callActions(called: CalledServices): readonly Action[] {
  return [
    ...actionsOf(DISPATCH_ACTIONS, called.dispatches),
    ...actionsOf(SUPPRESSION_ACTIONS, called.suppressions),
    ...actionsOf(SESSION_ACTIONS, called.sessions),
    ...actionsOf(RUN_ACTIONS, called.runs),
    ...actionsOf(TOKEN_ACTIONS, called.tokens),
    ...actionsOf(STATISTICS_ACTIONS, called.stats),
    ...actionsOf(EVENT_ACTIONS, called.events),
    ...actionsOf(BUDGET_ACTIONS, called.budgets),
  ]
}

/** Sends what is due. Never rejects. */
export async function deliverDue(deliverer: Worker, deps: FaultDeps): Promise<void> {
  try {
    await deliverer.runDue()
  } catch (cause) {
    reportFault(cause, { operation: 'store' }, { level: 'error', event: 'worker.claim_failed' }, deps)
  }
}

/** Actions of a host that dispatches. */
export function dispatchActions(deps: DispatchDeps, { rateLimiter }: Limits): readonly Action[] {
  const admit = rateLimiter && ((tenant: string, recipient: string) => admitRecipient(tenant, recipient, rateLimiter))
  return [{ ...POSTS.dispatch, run: ({ principal, request }) => planAndAccept(principal, request, deps, { admit }) }]
}

/** Actions that record runs and exchange tokens. Tokens of a verifier without `exchange` cannot be exchanged. */
export function recordActions(deps: RunDeps & Verifying, { rateLimiter }: Limits): readonly Action[] {
  const { auth, clock } = deps
  const exchange = auth.exchange?.bind(auth)
  const limitOf = ({ principal, admission }: ActionCall): RecordBatchOptions =>
    admission && rateLimiter ? { admit: (posts) => admitPosts(principal, posts, admission, rateLimiter) } : {}
  return [
    { ...POSTS.sessionRun, run: ({ principal, request }) => recordRun(principal, request, deps) },
    { ...POSTS.sessionRunBatch, run: (call) => recordBatch(call.principal, call.request, deps, limitOf(call)) },
    {
      ...POSTS.sessionToken,
      ...(exchange && {
        run: ({ principal, request, onMade }: ActionCall) =>
          exchangeToken(principal, request, { exchange, clock, onExchanged: onMade }),
      }),
    },
  ]
}

type Verifying = AnswerDeps & { readonly auth: AuthVerifier; readonly clock: Clock }

function usedAs({ use, operation }: ActionRoute): TokenOperation {
  return use ?? operation
}

/** Steps before the body is read, equal for all endpoints: load, authentication, rate limits, refusals. */
function callerSteps(
  deps: Verifying,
  { rateLimiter, ...limits }: Limits,
  { revocations, uses }: TokenServices,
): Pick<Endpoints, 'clock' | 'logger' | 'load' | 'authenticate' | 'admit' | 'recheck' | 'refuse' | 'report'> {
  const noted = (principal: Principal, action: ActionRoute, refused: Refused): Refused => {
    uses.add(principal, usedAs(action), refusedOutcome(refused))
    return refused
  }
  const recheck: Endpoints['recheck'] = (principal, action) => {
    return andThen(revocations.check(principal), (refused) => refused && noted(principal, action, refused))
  }
  const permitted = (principal: Principal, action: ActionRoute): Awaitable<Principal | Refused> =>
    andThen(recheck(principal, action), (revoked) => {
      if (revoked) return revoked
      const forbidden = permit(principal, action.operation)
      return forbidden ? noted(principal, action, forbidden) : principal
    })
  return {
    clock: deps.clock,
    logger: deps.logger,
    load: loadOf(limits, deps.logger),
    recheck,
    authenticate(headers, action) {
      const identified = identify(headers, action.operation, deps.auth, deps.clock)
      return andThen(identified, (principal) => (isRefused(principal) ? principal : permitted(principal, action)))
    },
    ...(rateLimiter && {
      async admit(principal, action) {
        const admitted = await admitRequest(principal, action.operation, rateLimiter)
        return isRefused(admitted) ? noted(principal, action, admitted) : admitted
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
