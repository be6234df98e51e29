import { SignJWT } from 'jose/jwt/sign'
import { SallyportError } from '../errors.ts'
import { isUserId } from '../model/principal.ts'
import type { Clock } from '../ports/clock.ts'
import { readGrants, type SessionTokenGrants } from './session-token-claims.ts'
import { LONGEST_TOKEN, SESSION_TOKEN_TYP } from './session-token-format.ts'
import { readyKey, type SessionTokenKey } from './session-token-key.ts'
import { isVisibleAscii, VISIBLE_ASCII_RULE } from './visible-ascii.ts'

/** What {@link issueSessionToken} puts in a token. */
export interface IssueSessionTokenOptions {
  /** The one session that the token is for: 1 to 200 visible ASCII characters. */
  readonly sessionId: string
  /** Whose session it is: 1 to 200 visible ASCII characters. Default `default`. */
  readonly tenant?: string
  /** Whose runs it records: 1 to 200 characters. Default: nobody's; the agent can name no user. */
  readonly userId?: string
  /** What the token may do beside recording runs of its session. Default: nothing. */
  readonly grants?: SessionTokenGrants
  /** How long it is good, in whole seconds, 1 to 3,600. Default 900. */
  readonly expiresInSeconds?: number
  /** What it is signed with. `sessionTokens` must have the same `kid` and `alg`, with the same or the public key. */
  readonly key: SessionTokenKey
  /** Who it is for: the `audience` of `sessionTokens`. */
  readonly audience: string
  /** Who issues it: the `issuer` of `sessionTokens`, if it has one. */
  readonly issuer?: string
  /** Tells the time. Default: the system's. */
  readonly clock?: Pick<Clock, 'now'>
}

/**
 * Makes a token for one session, to hand to the agent that works in it: with it, the agent can record runs of that session,
 * and dispatch only what `grants.dispatch` lists, at most `maxDispatches` times.
 *
 * The token is a JWT (RFC 7519) with a random `jti`, which is also the principal's id. Grant little: whatever a prompt talks
 * the agent into, it cannot go beyond the lists. A list with nothing in it permits nothing.
 *
 * @throws SallyportError `option_invalid`, with all faults at once: an option is out of its range, the key cannot sign, or
 * the grants are malformed or so long that the token would not fit in a request (4,096 characters).
 */
export async function issueSessionToken(options: IssueSessionTokenOptions): Promise<string> {
  const { sessionId, tenant = 'default', userId, grants = {}, expiresInSeconds = 900, audience, issuer } = options
  const now = (options.clock ?? { now: Date.now }).now()
  const key = readyKey(options.key, 'sign')
  const faults = faultsOf(options)
  if ('faults' in key) throw refused([...faults, ...key.faults.map((fault) => `key ${fault}`)])
  if (now > key.notAfter) faults.push('key is past its notAfter')
  if (faults.length > 0) throw refused(faults)

  const issuedAt = Math.floor(now / 1_000)
  const jwt = new SignJWT({ sid: sessionId, tnt: tenant, ...(grants.dispatch && { grants: readGrants(grants) }) })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: SESSION_TOKEN_TYP })
    .setAudience(audience)
    .setJti(crypto.randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + expiresInSeconds)
  if (issuer !== undefined) jwt.setIssuer(issuer)
  if (userId !== undefined) jwt.setSubject(userId)
  const token = await jwt.sign(await key.load())
  if (token.length > LONGEST_TOKEN) {
    throw refused([`the token has ${token.length} characters, over the ${LONGEST_TOKEN} that fit: grant fewer names`])
  }
  return token
}

function faultsOf(options: IssueSessionTokenOptions): string[] {
  const { sessionId, tenant, userId, grants = {}, expiresInSeconds = 900, audience, issuer } = options
  const faults: string[] = []
  if (!isVisibleAscii(sessionId)) faults.push(`sessionId ${VISIBLE_ASCII_RULE}`)
  if (tenant !== undefined && !isVisibleAscii(tenant)) faults.push(`tenant ${VISIBLE_ASCII_RULE}`)
  if (userId !== undefined && !isUserId(userId)) faults.push('userId must be 1 to 200 characters')
  if (readGrants(grants) === undefined) {
    faults.push(
      'grants must be { dispatch: { events, channels, recipients, maxDispatches? } }, three lists of strings and a number from 1 to 1000',
    )
  } else if (Object.keys(grants).some((name) => name !== 'dispatch')) {
    faults.push('grants holds a grant other than dispatch')
  }
  if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < 1 || expiresInSeconds > 3_600) {
    faults.push('expiresInSeconds must be a whole number from 1 to 3600')
  }
  if (typeof audience !== 'string' || audience === '') faults.push('audience must be a string that is not empty')
  if (issuer !== undefined && (typeof issuer !== 'string' || issuer === '')) {
    faults.push('issuer must be a string that is not empty')
  }
  return faults
}

function refused(faults: readonly string[]): SallyportError {
  const problems = faults.map((detail) => ({ detail }))
  return new SallyportError('option_invalid', 'issueSessionToken: no token can be made of these options', problems)
}
