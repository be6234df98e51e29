import { SallyportError } from '../errors.ts'
import { type DispatchGrant, isMaxDispatches, isUserId, type Operation, type Principal } from '../model/principal.ts'
import type { AuthVerifier, Refusal } from '../ports/auth-verifier.ts'
import { portFault, refusalOf } from './answers/fault.ts'
import { type HandlerRequest, type Refused, refuse } from './answers/result.ts'

const CHALLENGE = 'Bearer realm="sallyport"'
const BEARER = /^bearer(?: +|$)/i
/** RFC 6750 `b64token`. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/
const MAX_TOKEN = 4096

/** Authenticates a caller by the `Authorization` header alone (RFC 6750). Never throws. */
export async function authenticate(
  headers: HandlerRequest['headers'],
  operation: Operation,
  auth: AuthVerifier,
): Promise<Principal | Refused> {
  const header = headers.authorization
  if (typeof header !== 'string') return header === undefined ? unauthorized() : invalidToken()
  const scheme = BEARER.exec(header)
  if (!scheme) return unauthorized()
  const token = header.slice(scheme[0].length)
  if (token.length > MAX_TOKEN || !TOKEN.test(token)) return invalidToken()
  let verdict: Principal | Refusal
  try {
    verdict = await auth.verify(token, operation)
  } catch (cause) {
    return refusalOf(portFault('auth_unavailable', cause))
  }
  if (!isRefusal(verdict)) return checked(verdict)
  return verdict.refused === 'insufficient_scope' ? insufficientScope('The token does not allow this.') : invalidToken()
}

/** A host's verifier may give anything, even a value that is no object. */
function isRefusal(verdict: unknown): verdict is Refusal {
  return typeof verdict === 'object' && verdict !== null && 'refused' in verdict
}

/** Tenants and sessions are parts of keys: one must not run into another. */
const SCOPE = /^[\x21-\x7e]{1,200}$/

/** Refuses a malformed principal, which could pass for an application: for example a grant without a session. */
function checked(principal: Principal | undefined): Principal | Refused {
  const { tenant, sessionId = tenant, userId, dispatch } = principal ?? {}
  const isScoped = isScope(tenant) && isScope(sessionId) && (userId === undefined || isUserId(userId))
  const isGranted = dispatch === undefined || (principal?.sessionId !== undefined && isGrant(dispatch))
  if (principal && isScoped && isGranted) return principal
  return refusalOf(new SallyportError('option_invalid', UNFIT))
}

const UNFIT =
  'A verifier gave a principal without a tenant or session id of 1-200 visible ASCII characters, or with a malformed user or grant.'

export function isScope(value: unknown): boolean {
  return typeof value === 'string' && SCOPE.test(value)
}

function isGrant(grant: DispatchGrant | null): boolean {
  const { events, channels, recipients, maxDispatches } = grant ?? {}
  const isCount = maxDispatches === undefined || isMaxDispatches(maxDispatches)
  return Array.isArray(events) && Array.isArray(channels) && Array.isArray(recipients) && isCount
}

/** Refuses a valid token that does not allow the request, or no longer does. */
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

function invalidToken(): Refused {
  return refuse('invalid_token', 'The token is malformed, unknown, expired or revoked.', {
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  })
}
