import {
  type ApprovalGrant,
  type DispatchGrant,
  isMaxApprovals,
  isMaxDispatches,
  isRunEvents,
  isRunId,
  isSessionId,
  isUserId,
  isVisibleAscii,
  MAX_LEVELS,
  type ParentToken,
} from '../model/principal.ts'

/** The `typ` header of a session token: no other JWT under the same key is accepted as one (RFC 8725). */
export const SESSION_TOKEN_TYP = 'sallyport-session+jwt'

/** Maximum length of a bearer token. */
export const LONGEST_TOKEN = 4_096

const JWS_COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** True for the form of a signed JWT: three base64url parts, none of them empty. */
export function isJwtShaped(token: string): boolean {
  return token.length <= LONGEST_TOKEN && JWS_COMPACT.test(token)
}

/** Grants of a session token other than recording runs of its own session. */
export interface SessionTokenGrants {
  /** Allowed dispatches: only listed values, compared exactly with those of the request. Default: none. */
  readonly dispatch?: DispatchGrant
  /** Allowed requests for approval. Default: none. */
  readonly approval?: ApprovalGrant
  /** Maximum run events that its posts may cause over the life of the token, 0 to 1,000. Default: 20. */
  readonly runEvents?: number
}

export interface SessionClaims {
  readonly jti: string
  readonly sessionId: string
  readonly tenant: string
  readonly userId: string | undefined
  readonly grants: SessionTokenGrants
  readonly runId: string | undefined
  readonly parents: readonly ParentToken[]
  /** When the first token of its chain was issued, epoch milliseconds. */
  readonly since: number
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** Reads the claims, or returns `claims` when one is missing or malformed, and `lifetime` when the lifetime exceeds the limit. */
export function readClaims(
  claims: Readonly<Record<string, unknown>>,
  maxAgeSeconds: number,
): SessionClaims | 'claims' | 'lifetime' {
  const { jti, sid, sub, tnt = 'default', iat, exp, run_id: runId } = claims
  if (!isVisibleAscii(jti) || !isSessionId(sid) || !isVisibleAscii(tnt)) return 'claims'
  if (sub !== undefined && !isUserId(sub)) return 'claims'
  if (runId !== undefined && !isRunId(runId)) return 'claims'
  if (typeof iat !== 'number' || typeof exp !== 'number') return 'claims'
  const lifetime = exp - iat
  if (!(lifetime > 0 && lifetime <= maxAgeSeconds)) return 'lifetime'
  const { grants: granted = {}, parents: above = [], since = iat * 1_000 } = claims
  const [grants, parents] = [readGrants(granted), readParents(above)]
  if (!grants || !parents || !isSince(since, iat)) return 'claims'
  return { jti, sessionId: sid, tenant: tnt, userId: sub, grants, runId, parents, since, expiresAt: exp }
}

/** No token of a chain is issued before the first one. */
function isSince(value: unknown, iat: number): value is number {
  return typeof value === 'number' && value >= 0 && value < (iat + 1) * 1_000
}

const APPROVAL_MEMBERS = ['events', 'maxApprovals']
const DISPATCH_MEMBERS = ['events', 'channels', 'recipients', 'maxDispatches']

/** Reads the known grants; `undefined` when malformed. Any unknown member makes a grant malformed: it may be a limit. */
function readGrants(value: unknown): SessionTokenGrants | undefined {
  if (!isObject(value)) return undefined
  const { dispatch, approval, runEvents } = value
  if (runEvents !== undefined && !isRunEvents(runEvents)) return undefined
  const dispatches = dispatch === undefined ? undefined : readDispatchGrant(dispatch)
  const approvals = approval === undefined ? undefined : readApprovalGrant(approval)
  if ((dispatch !== undefined && !dispatches) || (approval !== undefined && !approvals)) return undefined
  return {
    ...(dispatches && { dispatch: dispatches }),
    ...(approvals && { approval: approvals }),
    ...(runEvents !== undefined && { runEvents }),
  }
}

function readDispatchGrant(value: unknown): DispatchGrant | undefined {
  if (!isObject(value) || !hasOnly(value, DISPATCH_MEMBERS)) return undefined
  const { events, channels, recipients, maxDispatches } = value
  if (!isListOfNames(events) || !isListOfNames(channels) || !isListOfNames(recipients)) return undefined
  const lists = { events: [...events], channels: [...channels], recipients: [...recipients] }
  if (maxDispatches === undefined) return lists
  return isMaxDispatches(maxDispatches) ? { ...lists, maxDispatches } : undefined
}

function readApprovalGrant(value: unknown): ApprovalGrant | undefined {
  if (!isObject(value) || !hasOnly(value, APPROVAL_MEMBERS)) return undefined
  const { events, maxApprovals } = value
  if (!isListOfNames(events)) return undefined
  if (maxApprovals === undefined) return { events: [...events] }
  return isMaxApprovals(maxApprovals) ? { events: [...events], maxApprovals } : undefined
}

const PARENT_MEMBERS = ['jti', 'maxDispatches', 'maxApprovals', 'runEvents']

function readParents(value: unknown): readonly ParentToken[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_LEVELS) return undefined
  const parents = value.map(readParent)
  return parents.every((parent) => parent !== undefined) ? parents : undefined
}

function readParent(value: unknown): ParentToken | undefined {
  if (!isObject(value) || !hasOnly(value, PARENT_MEMBERS)) return undefined
  const { jti, maxDispatches, maxApprovals, runEvents } = value
  if (!isVisibleAscii(jti)) return undefined
  if (maxDispatches !== undefined && !isMaxDispatches(maxDispatches)) return undefined
  if (maxApprovals !== undefined && !isMaxApprovals(maxApprovals)) return undefined
  if (runEvents !== undefined && !isRunEvents(runEvents)) return undefined
  return {
    id: jti,
    ...(maxDispatches !== undefined && { maxDispatches }),
    ...(maxApprovals !== undefined && { maxApprovals }),
    ...(runEvents !== undefined && { runEvents }),
  }
}

function hasOnly(value: object, names: readonly string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isListOfNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '')
}
