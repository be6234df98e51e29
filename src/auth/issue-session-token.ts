import { SignJWT } from 'jose/jwt/sign'
import type { ConfigProblem } from '../errors.ts'
import { type DispatchGrant, isUserId } from '../model/principal.ts'
import { arrayOf, has, matching, whole, word } from '../options/checks.ts'
import {
  type Check,
  type Checks,
  type GivenOptions,
  isRecord,
  near,
  nested,
  optionError,
  readOptions,
  required,
} from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import { notAfterMilliseconds, visibleAscii } from './credential-checks.ts'
import { LONGEST_TOKEN, readGrants, SESSION_TOKEN_TYP, type SessionTokenGrants } from './session-token-claims.ts'
import { keyChecks, readyKey, type SessionTokenKey } from './session-token-key.ts'

/** Options of {@link issueSessionToken}. */
export interface IssueSessionTokenOptions {
  /** The only session of the token: 1 to 200 visible ASCII characters. */
  readonly sessionId: string
  /** The tenant of the session: 1 to 200 visible ASCII characters. Default `default`. */
  readonly tenant?: string
  /** The user whose runs it records: 1 to 200 characters. Default: none; then the agent can name no user. */
  readonly userId?: string
  /** What the token permits beside recording runs of its session. Default: nothing. */
  readonly grants?: SessionTokenGrants
  /** Its lifetime in whole seconds, 1 to 3,600. Default 900. */
  readonly expiresInSeconds?: number
  /** The key that signs it. `sessionTokens` must have the same `kid` and `alg`, with the same or the public key. */
  readonly key: SessionTokenKey
  /** The `aud` claim: the `audience` of `sessionTokens`. */
  readonly audience: string
  /** The `iss` claim: the `issuer` of `sessionTokens`, if it has one. */
  readonly issuer?: string
  /** Gives the time. Default: the system's. */
  readonly clock?: Pick<Clock, 'now'>
}

const GRANT: Checks<DispatchGrant> = {
  events: required(arrayOf(word)),
  channels: required(arrayOf(word)),
  recipients: required(arrayOf(word)),
  maxDispatches: whole(1, 1_000),
}

const known = nested<SessionTokenGrants>({ dispatch: nested(GRANT) })

/** Does not quote an unknown grant unless its name is near `dispatch`: callers have put secrets there. */
const grants: Check = (value, given) => {
  const isOther =
    isRecord(value) && Object.keys(value).some((name) => name !== 'dispatch' && near(name, ['dispatch']) === '')
  const fault = isOther ? known({ dispatch: value.dispatch }, given) : known(value, given)
  return isOther && typeof fault === 'object' ? [{ detail: 'holds a grant other than dispatch' }, ...fault] : fault
}

const CHECKS: Checks<IssueSessionTokenOptions> = {
  sessionId: required(visibleAscii),
  tenant: visibleAscii,
  userId: matching(isUserId, 'must be 1 to 200 characters'),
  grants,
  expiresInSeconds: whole(1, 3_600),
  key: required(nested(keyChecks('sign'))),
  audience: required(word),
  issuer: word,
  clock: has('now'),
}

/**
 * Makes a token for one session, to give to its agent: with it, the agent can record runs of that session, and dispatch only
 * what `grants.dispatch` lists, at most `maxDispatches` times.
 *
 * The token is a JWT (RFC 7519) with a random `jti`, which is also the principal's id. Grant little: a prompt
 * injection cannot make the agent go beyond the lists. An empty list permits nothing.
 *
 * @throws SallyportError `option_invalid`, with all problems at once: an option is out of its range, the key cannot sign, or
 * the grants are malformed or so long that the token would not fit in a request (4,096 characters).
 */
export async function issueSessionToken(options: IssueSessionTokenOptions): Promise<string> {
  const read = readOptions(CALL, options, CHECKS, pastKey)
  const { sessionId, tenant = 'default', userId, grants = {}, expiresInSeconds = 900, audience, issuer } = read
  const key = readyKey(read.key, 'sign')
  const now = nowOf(read)

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
  const detail = `the token has ${token.length} characters, over the ${LONGEST_TOKEN} that fit: grant fewer names`
  optionError(CALL, token.length > LONGEST_TOKEN ? [{ field: 'grants', detail }] : [])
  return token
}

const CALL = 'issueSessionToken'

function nowOf({ clock = { now: Date.now } }: Pick<IssueSessionTokenOptions, 'clock'>): number {
  return clock.now()
}

function pastKey(given: GivenOptions): ConfigProblem[] {
  const end = notAfterMilliseconds(Object(given.key).notAfter)
  const hasTime = given.clock === undefined || has('now')(given.clock, {}) === undefined
  const isPast = end !== undefined && hasTime && nowOf(given) > end
  return isPast ? [{ field: 'key.notAfter', detail: 'is past' }] : []
}
