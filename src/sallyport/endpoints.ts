import { type AnswerDeps, answering, answerRefusal } from '../core/answers/fault.ts'
import { reportFault } from '../core/answers/report-fault.ts'
import { refuse } from '../core/answers/result.ts'
import { authenticate } from '../core/authenticate.ts'
import { readStopOptions, type StopOptions, type Worker } from '../core/delivery/worker.ts'
import { type DispatchDeps, planAndAccept } from '../core/dispatch/handle-dispatch.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { admitRecipient, admitRequest } from '../core/load/admission.ts'
import { type LoadLimits, loadOf } from '../core/load/load-limits.ts'
import { recordRun } from '../core/runs/handle-session-run.ts'
import { recordBatch } from '../core/runs/handle-session-run-batch.ts'
import type { RecordDeps, SessionRunDeps } from '../core/runs/record-deps.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunsOnlyOptions } from './options.ts'

type Limits = Pick<RunsOnlyOptions, 'rateLimiter' | keyof LoadLimits>
type RunDeps = SessionRunDeps & RecordDeps

/** The endpoints of a host that dispatches and records runs. */
export function dispatchEndpoints(
  deps: DispatchDeps & RunDeps,
  limits: Limits,
  delivering: {
    /** The worker without maintenance, which `waitUntil` must not repeat after every answer. */
    readonly deliverer: Worker
    /** The work that goes on after answers. */
    readonly background: BackgroundWork
    /** The run events that are being published. */
    readonly publishing: BackgroundWork
  },
): Omit<Endpoints, 'isStopping'> {
  const { deliverer, background, publishing } = delivering
  const { rateLimiter } = limits
  const admit = rateLimiter && ((tenant: string, recipient: string) => admitRecipient(tenant, recipient, rateLimiter))
  return {
    ...callerSteps(deps, limits),
    handle: (action, principal, request) =>
      answering<unknown>(deps, () => {
        if (action === 'dispatch') return planAndAccept(principal, request, deps, { admit })
        if (action === 'session_run') return recordRun(principal, request, deps)
        return recordBatch(principal, request, deps)
      }),
    isPublishing: publishing.isGoing,
    async deliver() {
      // First, so that the dispatches of run events are delivered too.
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

/** The endpoints of a host that only records runs. */
export function runsOnlyEndpoints(deps: RunDeps & AnswerDeps, limits: Limits): Omit<Endpoints, 'isStopping'> {
  return {
    ...callerSteps(deps, limits),
    handles: (action) => action !== 'dispatch',
    handle: (action, principal, request) =>
      answering<unknown>(deps, async () => {
        if (action === 'dispatch') return refuse('not_found', 'This host only records runs.')
        return action === 'session_run' ? recordRun(principal, request, deps) : recordBatch(principal, request, deps)
      }),
    isPublishing: () => false,
    async deliver() {},
  }
}

/** The steps before the body is read, the same for all endpoints: load, authentication, rate limits, refusals. */
function callerSteps(
  deps: AnswerDeps & { readonly auth: AuthVerifier; readonly clock: Clock },
  { rateLimiter, ...limits }: Limits,
): Pick<Endpoints, 'clock' | 'logger' | 'load' | 'authenticate' | 'admit' | 'refuse'> {
  return {
    clock: deps.clock,
    logger: deps.logger,
    load: loadOf(limits, deps.logger),
    authenticate: (headers, operation) => authenticate(headers, operation, deps.auth),
    ...(rateLimiter && { admit: (principal, operation) => admitRequest(principal, operation, rateLimiter) }),
    refuse: (refused) => answerRefusal(refused, deps),
  }
}

/** Tracks work that goes on after answers. */
export interface BackgroundWork {
  add(work: Promise<unknown>): void
  isGoing(): boolean
  /** Resolves when all work that was added has ended. */
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

/** How a host stops. */
export interface Stop {
  /** Stops the worker, and closes connections with their next answer. */
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
