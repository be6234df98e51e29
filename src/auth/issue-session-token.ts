import type { ConfigProblem } from '../errors.ts'
import {
  type ApprovalGrant,
  type DispatchGrant,
  isUserId,
  MOST_APPROVALS,
  MOST_DISPATCHES,
  MOST_RUN_EVENTS,
} from '../model/principal.ts'
import { arrayOf, matching, nowClock, whole, word } from '../options/checks.ts'
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
import { notAfterMilliseconds, sessionIdText, visibleAscii } from './credential-checks.ts'
import { LONGEST_TOKEN, type SessionTokenGrants } from './session-token-claims.ts'
import { keyChecks, readyKey, type SessionTokenKey } from './session-token-key.ts'
import { signSessionToken } from './sign-session-token.ts'

/** Options of {@link issueSessionToken}. */
export interface IssueSessionTokenOptions {
  /** The only session of the token: 1 to 200 visible ASCII characters. */
  readonly sessionId: string
  /** Tenant of the session: 1 to 200 visible ASCII characters. Default: `default`. */
  readonly tenant?: string
  /** User whose runs it records: 1 to 200 characters. Default: none; then runs cannot name a user. */
  readonly userId?: string
  /** Grants other than recording runs of its session. Default: none. */
  readonly grants?: SessionTokenGrants
  /** Lifetime in whole seconds, 1 to 3,600. Default: 900. */
  readonly expiresInSeconds?: number
  /** Signing key. `sessionTokens` must have the same `kid` and `alg`, with the same or the public key. */
  readonly key: SessionTokenKey
  /** The `aud` claim: the `audience` of `sessionTokens`. */
  readonly audience: string
  /** The `iss` claim: the `issuer` of `sessionTokens`, if it has one. */
  readonly issuer?: string
  /** Default: system time. */
  readonly clock?: Pick<Clock, 'now'>
}

const GRANT: Checks<DispatchGrant> = {
  events: required(arrayOf(word)),
  channels: required(arrayOf(word)),
  recipients: required(arrayOf(word)),
  maxDispatches: whole(1, MOST_DISPATCHES),
}

const APPROVAL: Checks<ApprovalGrant> = {
  events: required(arrayOf(word)),
  maxApprovals: whole(1, MOST_APPROVALS),
}

const NAMES = ['dispatch', 'approval', 'runEvents']

const known = nested<SessionTokenGrants>({
  dispatch: nested(GRANT),
  approval: nested(APPROVAL),
  runEvents: whole(0, MOST_RUN_EVENTS),
})

/** Quotes an unknown grant only if its name is near a known one: callers have put secrets there. */
const grants: Check = (value, given) => {
  if (!isRecord(value)) return known(value, given)
  const isForeign = (name: string): boolean => !NAMES.includes(name) && near(name, NAMES) === ''
  const foreign = Object.keys(value).filter(isForeign)
  if (foreign.length === 0) return known(value, given)
  const others = Object.fromEntries(Object.entries(value).filter(([name]) => !isForeign(name)))
  const fault = known(others, given)
  return [
    { detail: `holds a grant other than ${NAMES.join(', ')}; leave it out` },
    ...(typeof fault === 'object' ? fault : []),
  ]
}

const CHECKS: Checks<IssueSessionTokenOptions> = {
  sessionId: required(sessionIdText),
  tenant: visibleAscii,
  userId: matching(isUserId, 'must be 1 to 200 characters'),
  grants,
  expiresInSeconds: whole(1, 3_600),
  key: required(nested(keyChecks('sign'))),
  audience: required(word),
  issuer: word,
  clock: nowClock,
}

/**
 * Issues a token for one session, to give to its agent. The agent can record runs of that session, dispatch only the values in
 * `grants.dispatch`, at most `maxDispatches` times, and ask people for approval by the events in `grants.approval`, at most `maxApprovals`
 * times. An empty list permits nothing. Grant little: a prompt injection cannot exceed
 * the lists. The token is a JWT (RFC 7519) with a random `jti`, which is also the principal's id.
 *
 * @throws SallyportError `option_invalid`, with all problems at once: an option is out of range, the key cannot sign, or the grants
 * are malformed or so long that the token would not fit in a request (4,096 characters).
 */
export async function issueSessionToken(options: IssueSessionTokenOptions): Promise<string> {
  const read = readOptions(CALL, options, CHECKS, pastKey)
  const { sessionId, tenant = 'default', userId, grants = {}, expiresInSeconds = 900, audience, issuer } = read
  const key = readyKey(read.key, 'sign')
  const now = nowOf(read)

  const issuedAt = Math.floor(now / 1_000)
  const expiresAt = issuedAt + expiresInSeconds
  const jti = crypto.randomUUID()
  const dated = { jti, since: Math.floor(now), issuedAt, expiresAt }
  const token = await signSessionToken({ ...dated, sessionId, tenant, userId, grants, audience, issuer }, key)
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
  const hasTime = given.clock === undefined || nowClock(given.clock, {}) === undefined
  const isPast = end !== undefined && hasTime && nowOf(given) > end
  return isPast ? [{ field: 'key.notAfter', detail: 'is past; must be later than now' }] : []
}
