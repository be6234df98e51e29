import { type AnswerDeps, answerRefusal } from '../core/answers/fault.ts'
import { authenticate } from '../core/authenticate.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { admitRequest } from '../core/load/admission.ts'
import { type LoadLimits, loadOf } from '../core/load/load-limits.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunsOnlyOptions } from './options.ts'

type CallerDeps = AnswerDeps & { readonly auth: AuthVerifier; readonly clock: Clock }

/** The steps that all endpoints share: room, authentication, limits, refusals. */
export function callerEndpoints(
  deps: CallerDeps,
  { rateLimiter, ...limits }: Pick<RunsOnlyOptions, 'rateLimiter' | keyof LoadLimits>,
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
