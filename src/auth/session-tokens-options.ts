import type { ConfigProblem } from '../errors.ts'
import { arrayOf, fn, has, matching, whole, word } from '../options/checks.ts'
import { type Checks, type GivenOptions, nested, readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import { keyChecks, type ReadyKey, readyKey, type SessionTokenKey } from './session-token-key.ts'

/** What {@link SessionTokensOptions.isRevoked} gets to know of a token. */
export interface SessionTokenIdentity {
  /** The token's own id. */
  readonly jti: string
  readonly sessionId: string
  readonly tenant: string
}

/** What `sessionTokens` accepts. */
export interface SessionTokensOptions {
  /**
   * The keys to verify with, told apart by `kid`. At least one. To replace one without a gap: add the new one here, sign
   * with it, and take the old one away, or give it a `notAfter`, once the last token that it signed has expired.
   */
  readonly keys: readonly SessionTokenKey[]
  /** Who the tokens are for: must be the `aud` claim, or one of it. */
  readonly audience: string
  /** Who issues them: must be the `iss` claim. Default: any, or none. */
  readonly issuer?: string
  /** The longest lifetime (`exp` - `iat`) that is accepted, in seconds, 1 to 86,400. Default 3,600. */
  readonly maxAgeSeconds?: number
  /** How far the issuer's clock may be off, in seconds, 0 to 60. Default 5. */
  readonly clockToleranceSeconds?: number
  /**
   * Whether a token that is otherwise good was revoked. Throwing means that nobody can tell: the call is answered 503
   * `auth_unavailable`. Default: no token is revoked before it expires.
   */
  isRevoked?(token: SessionTokenIdentity): boolean | Promise<boolean>
  /** Tells the time. Default: the system's. */
  readonly clock?: Pick<Clock, 'now'>
}

/** The options of `sessionTokens` that were checked, with their defaults. */
export interface CheckedSessionTokens extends Omit<SessionTokensOptions, 'keys' | 'clockToleranceSeconds'> {
  /** By `kid`. */
  readonly keys: ReadonlyMap<string, ReadyKey>
  readonly maxAgeSeconds: number
  readonly clockTolerance: number
}

const CHECKS: Checks<SessionTokensOptions> = {
  keys: required(arrayOf(nested(keyChecks('verify')), 'must hold at least one { kid, key }', 1)),
  audience: required(word),
  issuer: word,
  maxAgeSeconds: whole(1, 86_400),
  clockToleranceSeconds: matching(
    (value) => typeof value === 'number' && value >= 0 && value <= 60,
    'must be a number from 0 to 60',
  ),
  isRevoked: fn,
  clock: has('now'),
}

/** Checks the options of `sessionTokens`. Throws all that is wrong with them at once. */
export function checkSessionTokens(options: SessionTokensOptions): CheckedSessionTokens {
  const read = readOptions('sessionTokens', options, CHECKS, repeatedKids)
  const { keys, maxAgeSeconds = 3_600, clockToleranceSeconds = 5, ...others } = read
  const ready = new Map(keys.map((key) => [key.kid, readyKey(key, 'verify')]))
  return { ...others, keys: ready, maxAgeSeconds, clockTolerance: clockToleranceSeconds }
}

function repeatedKids({ keys }: GivenOptions): ConfigProblem[] {
  const kids: readonly unknown[] = Array.isArray(keys) ? keys.map((key) => Object(key).kid) : []
  return kids.flatMap((kid, index) =>
    kid !== undefined && kids.indexOf(kid) < index
      ? [{ field: `keys[${index}].kid`, detail: 'is the kid of a key before it' }]
      : [],
  )
}
