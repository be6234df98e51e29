import { type Awaitable, isPromise } from '../model/awaitable.ts'
import {
  isMaxApprovals,
  isMaxDispatches,
  isRunEvents,
  isRunId,
  isSessionId,
  isUserId,
  isVisibleAscii,
  MAX_ENDS_IN_MS,
  MAX_LEVELS,
  OPERATIONS,
  type Operation,
  operationsOf,
  type Principal,
} from '../model/principal.ts'
import { wrongMember, wrongReturn } from '../options/wrong-return.ts'
import type { AuthVerifier, Refusal } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import { portFault, refusalOf } from './answers/fault.ts'
import { type HandlerRequest, isRefused, type Refused, refuse } from './answers/result.ts'

const CHALLENGE = 'Bearer realm="sallyport"'
const BEARER = /^bearer(?: +|$)/i
/** RFC 6750 `b64token`. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/
/** Longest bearer token in characters. */
export const MAX_TOKEN = 4_096

/** True for the characters of a bearer token, of any length. */
export function isBearerToken(value: unknown): value is string {
  return typeof value === 'string' && TOKEN.test(value)
}

/** Authenticates a caller by the `Authorization` header (RFC 6750) and checks that it may do this. Never throws. */
export function authenticate(
  headers: HandlerRequest['headers'],
  operation: Operation,
  auth: AuthVerifier,
  clock: Pick<Clock, 'now'>,
): Awaitable<Principal | Refused> {
  return identify(headers, operation, auth, clock, permit)
}

/**
 * Finds the caller of a request. Never throws.
 *
 * @param check Refuses a principal. Default: none is refused.
 */
export function identify(
  headers: HandlerRequest['headers'],
  operation: Operation,
  auth: AuthVerifier,
  clock: Pick<Clock, 'now'>,
  check?: typeof permit,
): Awaitable<Principal | Refused> {
  const token = bearerOf(headers)
  if (isRefused(token)) return token
  const judge = (verdict: Principal | Refusal): Principal | Refused => {
    if (isRefusal(verdict)) return refusedBy(verdict)
    const principal = checked(verdict, clock.now())
    return isRefused(principal) ? principal : (check?.(principal, operation) ?? principal)
  }
  let verdict: Awaitable<Principal | Refusal>
  try {
    verdict = auth.verify(token, operation)
  } catch (cause) {
    return unavailable(cause)
  }
  return isPromise(verdict) ? verdict.then(judge, unavailable) : judge(verdict)
}

function unavailable(cause: unknown): Refused {
  return refusalOf(portFault('auth_unavailable', cause))
}

/** Refuses an operation that the principal does not allow; `undefined`: it is allowed. */
export function permit(principal: Principal, operation: Operation): Refused | undefined {
  return operationsOf(principal).includes(operation) ? undefined : notAllowed()
}

/** The token of the `Authorization` header. */
export function bearerOf(headers: HandlerRequest['headers']): string | Refused {
  const header = headers.authorization
  if (typeof header !== 'string') return header === undefined ? unauthorized() : invalidToken('malformed')
  const scheme = BEARER.exec(header)
  if (!scheme) return unauthorized()
  const token = header.slice(scheme[0].length)
  return token.length > MAX_TOKEN || !isBearerToken(token) ? invalidToken('malformed') : token
}

export function refusedBy({ refused, reason }: Refusal): Refused {
  return refused === 'insufficient_scope' ? notAllowed() : invalidToken(reason)
}

/** A host's verifier may return any value. */
export function isRefusal(verdict: unknown): verdict is Refusal {
  return typeof verdict === 'object' && verdict !== null && 'refused' in verdict
}

/** Refuses a malformed principal, for example a grant without a session: it could pass for an application. */
function checked(principal: Principal | undefined, now: number): Principal | Refused {
  if (principal && isPrincipal(principal)) {
    const { sessionId, expiresAt = now } = principal
    if (sessionId === undefined || !(expiresAt - now > MAX_ENDS_IN_MS)) return principal
    return refusalOf(wrongMember(VERIFY, 'expiresAt', expiresAt, TOO_LATE))
  }
  return refusalOf(wrongReturn(VERIFY, principal, PRINCIPAL))
}

const VERIFY = 'verify() of the verifier'
const PRINCIPAL =
  "{ id, tenant, sessionId? } of 1-200 visible ASCII characters each, with known operations and well-formed grants, or { refused: 'invalid_token' }"
const TOO_LATE =
  'an expiresAt at most 24 hours and a minute ahead, in epoch milliseconds, for a principal with a sessionId'

function isPrincipal({ id, tenant, sessionId, operations, ...token }: Principal): boolean {
  if (!isVisibleAscii(id) || !isVisibleAscii(tenant) || !(operations === undefined || areOperations(operations))) {
    return false
  }
  const { userId, ...scoped } = token
  if (userId !== undefined && !isUserId(userId)) return false
  const isOfSession = sessionId !== undefined
  return isOfSession ? isSessionId(sessionId) && areOfToken(scoped) : SCOPED.every((name) => scoped[name] === undefined)
}

function areOperations(operations: unknown): boolean {
  return Array.isArray(operations) && [...operations].every((operation) => OPERATIONS.includes(operation))
}

type Scoped = Pick<Principal, 'dispatch' | 'approval' | 'runEvents' | 'runId' | 'parents' | 'issuedAt' | 'expiresAt'>

/** Members that limit a token: without a session they have no meaning. */
const SCOPED = ['dispatch', 'approval', 'runEvents', 'runId', 'parents'] as const satisfies readonly (keyof Scoped)[]

function areOfToken({ dispatch, approval, runEvents, runId, parents, issuedAt, expiresAt }: Scoped): boolean {
  return (
    isOptional(dispatch, isGrant) &&
    isOptional(approval, isApprovalGrant) &&
    isOptional(runEvents, isRunEvents) &&
    isOptional(runId, isRunId) &&
    isOptional(parents, areParents) &&
    isOptional(issuedAt, Number.isFinite) &&
    isOptional(expiresAt, Number.isFinite)
  )
}

function isOptional(value: unknown, isValid: (value: unknown) => boolean): boolean {
  return value === undefined || isValid(value)
}

function isGrant(grant: unknown): boolean {
  const { events, channels, recipients, maxDispatches } = Object(grant)
  const areLists = Array.isArray(events) && Array.isArray(channels) && Array.isArray(recipients)
  return areLists && isOptional(maxDispatches, isMaxDispatches)
}

function isApprovalGrant(grant: unknown): boolean {
  const { events, maxApprovals } = Object(grant)
  return Array.isArray(events) && isOptional(maxApprovals, isMaxApprovals)
}

function areParents(parents: unknown): boolean {
  return Array.isArray(parents) && parents.length <= MAX_LEVELS && [...parents].every(isParent)
}

function isParent(parent: unknown): boolean {
  const { id, maxDispatches, maxApprovals, runEvents } = Object(parent)
  return (
    isVisibleAscii(id) &&
    isOptional(maxDispatches, isMaxDispatches) &&
    isOptional(maxApprovals, isMaxApprovals) &&
    isOptional(runEvents, isRunEvents)
  )
}

function notAllowed(): Refused {
  return insufficientScope('The token does not allow this.')
}

export function insufficientScope(
  detail: string,
  code: 'insufficient_scope' | 'grant_spent' = 'insufficient_scope',
): Refused {
  return refuse(code, detail, {
    headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope"` },
  })
}

function unauthorized(): Refused {
  return refuse('unauthorized', 'Send an application secret or a session token as "Authorization: Bearer <token>".', {
    headers: { 'www-authenticate': CHALLENGE },
  })
}

/** @param reason For the log only. */
export function invalidToken(reason: string | undefined): Refused {
  return refuse('invalid_token', 'The token is malformed, unknown, expired or revoked.', {
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
    reason,
  })
}
