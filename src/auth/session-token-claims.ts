import { type DispatchGrant, isMaxDispatches, isUserId } from '../model/principal.ts'
import { isVisibleAscii } from './credential-checks.ts'

/** The `typ` header of a session token: no other JWT under the same key is accepted as one (RFC 8725). */
export const SESSION_TOKEN_TYP = 'sallyport-session+jwt'

/** The longest bearer token that is read from a request. */
export const LONGEST_TOKEN = 4_096

const JWS_COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Whether a text has the shape of a signed JWT: three base64url parts, none of them empty. */
export function isJwtShaped(token: string): boolean {
  return token.length <= LONGEST_TOKEN && JWS_COMPACT.test(token)
}

/** What a session token permits beside recording runs of its own session. */
export interface SessionTokenGrants {
  /** What it may dispatch: only what is listed, exactly as the request writes it. Absent: nothing. */
  readonly dispatch?: DispatchGrant
}

/** The claims of a session token whose signature and times are verified. */
export interface SessionClaims {
  readonly jti: string
  readonly sessionId: string
  readonly tenant: string
  readonly userId: string | undefined
  readonly dispatch: DispatchGrant | undefined
}

const DISPATCH_MEMBERS = ['events', 'channels', 'recipients', 'maxDispatches']

/** The claims of a session token; `undefined` when one is missing or malformed, or its lifetime is over the limit. */
export function readClaims(
  { jti, sid, sub, tnt = 'default', iat, exp, grants = {} }: Readonly<Record<string, unknown>>,
  maxAgeSeconds: number,
): SessionClaims | undefined {
  if (!isVisibleAscii(jti) || !isVisibleAscii(sid) || !isVisibleAscii(tnt)) return undefined
  if (sub !== undefined && !isUserId(sub)) return undefined
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined
  const lifetime = exp - iat
  if (!(lifetime > 0 && lifetime <= maxAgeSeconds)) return undefined
  const read = readGrants(grants)
  return read && { jti, sessionId: sid, tenant: tnt, userId: sub, dispatch: read.dispatch }
}

/**
 * The known grants; `undefined` when they are malformed. Drops an unknown grant. An unknown member makes a dispatch grant malformed,
 * because it may be a limit.
 */
export function readGrants(value: unknown): SessionTokenGrants | undefined {
  if (!isObject(value)) return undefined
  const { dispatch } = value
  if (dispatch === undefined) return {}
  if (!isObject(dispatch) || !Object.keys(dispatch).every((name) => DISPATCH_MEMBERS.includes(name))) return undefined
  const { events, channels, recipients, maxDispatches } = dispatch
  if (!isListOfNames(events) || !isListOfNames(channels) || !isListOfNames(recipients)) return undefined
  const lists = { events: [...events], channels: [...channels], recipients: [...recipients] }
  if (maxDispatches === undefined) return { dispatch: lists }
  return isMaxDispatches(maxDispatches) ? { dispatch: { ...lists, maxDispatches } } : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isListOfNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '')
}
