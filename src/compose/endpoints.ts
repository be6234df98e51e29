import { POSTS, ROUTES } from '../actions/table.ts'
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
import type { Revocations } from '../core/tokens/revocations.ts'
import { type Awaitable, andThen } from '../model/awaitable.ts'
import type { Principal } from '../model/principal.ts'
import type { RequestEnd } from '../plugins/plugin.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunsOnlyOptions } from './options.ts'
import { endByRefusal, endOfRequest } from './request-end.ts'

type Limits = Pick<RunsOnlyOptions, 'rateLimiter' | keyof LoadLimits>
type RunDeps = SessionRunDeps & RecordDeps

/** Actions of a host, and the work around them. */
interface EndpointParts {
  readonly actions: readonly Action[]
  readonly revocations: Revocations
  /** Called at the end of a request. */
  readonly ended: ((end: RequestEnd) => void) | undefined
  hasWork(): boolean
  work(): Promise<void>
}

export function endpointsOf(
  deps: Verifying,
  limits: Limits,
  { actions, revocations, ended, hasWork, work }: EndpointParts,
): Omit<Endpoints, 'isStopping'> {
  return {
    ...callerSteps(deps, limits, revocations, ended),
    actions,
    async handle(action, principal, request, more) {
      const { run } = action
      if (!run) return answerRefusal(refuse('not_found', 'This host does not offer it.'), deps)
      let made: string | undefined
      const onMade = (id: string): void => {
        made = id
      }
      const result = await answering<unknown>(deps, () => run({ principal, request, onMade, ...more }))
      ended?.(endOfRequest(principal, action, request, result, made))
      return result
    },
    hasWork,
    deliver: work,
  }
}

/** All actions of the core, in the order of the table. Those that the host does not offer answer 404. */
export function coreActions(offered: readonly Action[]): readonly Action[] {
  return ROUTES.map((route) => offered.find(({ name }) => name === route.name) ?? route)
}

/** Sends what is due. Never rejects. */
export async function deliverDue(deliverer: Worker, deps: FaultDeps): Promise<void> {
  try {
    await deliverer.runDue()
  } catch (cause) {
    reportFault(cause, { operation: 'store' }, { level: 'error', event: 'worker.claim_failed' }, deps)
  }
}

/** The action that dispatches. */
export function dispatchAction(deps: DispatchDeps, { rateLimiter }: Limits): Action {
  const admit = rateLimiter && ((tenant: string, recipient: string) => admitRecipient(tenant, recipient, rateLimiter))
  return { ...POSTS.dispatch, run: ({ principal, request }) => planAndAccept(principal, request, deps, { admit }) }
}

/** Actions that record runs. */
export function recordActions(deps: RunDeps, { rateLimiter }: Limits): readonly Action[] {
  const limitOf = ({ principal, admission }: ActionCall): RecordBatchOptions =>
    admission && rateLimiter ? { admit: (posts) => admitPosts(principal, posts, admission, rateLimiter) } : {}
  return [
    { ...POSTS.sessionRun, run: ({ principal, request }) => recordRun(principal, request, deps) },
    { ...POSTS.sessionRunBatch, run: (call) => recordBatch(call.principal, call.request, deps, limitOf(call)) },
  ]
}

type Verifying = AnswerDeps & { readonly auth: AuthVerifier; readonly clock: Clock }

/** Steps before the body is read, equal for all endpoints: load, authentication, rate limits, refusals. */
function callerSteps(
  deps: Verifying,
  { rateLimiter, ...limits }: Limits,
  revocations: Revocations,
  ended: EndpointParts['ended'],
): Pick<Endpoints, 'clock' | 'logger' | 'load' | 'authenticate' | 'admit' | 'recheck' | 'refuse' | 'report'> {
  const noted = (principal: Principal, action: ActionRoute, refused: Refused): Refused => {
    ended?.(endByRefusal(principal, action, refused))
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

export interface Stop {
  /** Stops the worker, stores what is only in memory, and closes connections with their next answer. */
  stop(options?: StopOptions): Promise<void>
  isStopping(): boolean
}

export function stopOf(worker: Worker): Stop {
  let isStopping = false
  return {
    async stop(options = {}) {
      const own = readStopOptions(options, 'stop')
      isStopping = true
      await worker.stop(own)
    },
    isStopping: () => isStopping,
  }
}
