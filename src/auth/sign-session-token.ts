import { SignJWT } from 'jose/jwt/sign'
import type { ParentToken } from '../model/principal.ts'
import { SESSION_TOKEN_TYP, type SessionTokenGrants } from './session-token-claims.ts'
import type { ReadyKey } from './session-token-key.ts'

export interface TokenToSign {
  readonly jti: string
  readonly sessionId: string
  readonly tenant: string
  readonly userId: string | undefined
  readonly grants: SessionTokenGrants
  readonly runId?: string | undefined
  /** The tokens from which it was exchanged, nearest first. */
  readonly parents?: readonly ParentToken[]
  /** When the first token of its chain was issued, epoch milliseconds. */
  readonly since: number
  /** Epoch seconds. */
  readonly issuedAt: number
  /** Epoch seconds. */
  readonly expiresAt: number
  readonly audience: string
  readonly issuer: string | undefined
}

export async function signSessionToken(token: TokenToSign, key: ReadyKey): Promise<string> {
  const { jti, sessionId, tenant, userId, grants, runId, parents = [], since, audience, issuer } = token
  const jwt = new SignJWT({
    sid: sessionId,
    tnt: tenant,
    since,
    ...(Object.values(grants).some((grant) => grant !== undefined) && { grants: { ...grants } }),
    ...(runId !== undefined && { run_id: runId }),
    ...(parents.length > 0 && {
      parents: parents.map(parentClaim),
      act: actorOf([runId ?? jti, ...parents.map(idOf)]),
    }),
  })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: SESSION_TOKEN_TYP })
    .setAudience(audience)
    .setJti(jti)
    .setIssuedAt(token.issuedAt)
    .setExpirationTime(token.expiresAt)
  if (issuer !== undefined) jwt.setIssuer(issuer)
  if (userId !== undefined) jwt.setSubject(userId)
  return jwt.sign(await key.load())
}

interface Actor {
  readonly sub: string
  readonly act?: Actor
}

/** The `act` claim of RFC 8693: the current actor, and nested in it the prior ones. For readers only; `parents` is enforced. */
function actorOf([sub = '', ...prior]: readonly string[]): Actor {
  return prior.length > 0 ? { sub, act: actorOf(prior) } : { sub }
}

function idOf({ id }: ParentToken): string {
  return id
}

function parentClaim({ id, ...limits }: ParentToken): object {
  return { jti: id, ...limits }
}
