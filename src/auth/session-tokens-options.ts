import { SallyportError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import { type ReadyKey, readyKey, type SessionTokenKey } from './session-token-key.ts'

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
export interface CheckedSessionTokens {
  /** By `kid`. */
  readonly keys: ReadonlyMap<string, ReadyKey>
  readonly maxAgeSeconds: number
  readonly clockTolerance: number
}

/** Checks the options of `sessionTokens`. Throws all that is wrong with them at once. */
export function checkSessionTokens({
  keys,
  audience,
  issuer,
  maxAgeSeconds = 3_600,
  clockToleranceSeconds = 5,
  isRevoked,
}: SessionTokensOptions): CheckedSessionTokens {
  const faults: string[] = []
  const ready = readyKeys(keys, faults)
  if (!isText(audience)) faults.push('audience must be a string that is not empty')
  if (issuer !== undefined && !isText(issuer)) faults.push('issuer must be a string that is not empty')
  if (!Number.isInteger(maxAgeSeconds) || maxAgeSeconds < 1 || maxAgeSeconds > 86_400) {
    faults.push('maxAgeSeconds must be a whole number from 1 to 86400')
  }
  if (!Number.isFinite(clockToleranceSeconds) || clockToleranceSeconds < 0 || clockToleranceSeconds > 60) {
    faults.push('clockToleranceSeconds must be from 0 to 60')
  }
  if (isRevoked !== undefined && typeof isRevoked !== 'function') faults.push('isRevoked must be a function')
  if (faults.length > 0) {
    const problems = faults.map((detail) => ({ detail }))
    throw new SallyportError('option_invalid', 'sessionTokens: the options cannot be used', problems)
  }
  return { keys: ready, maxAgeSeconds, clockTolerance: clockToleranceSeconds }
}

function readyKeys(keys: readonly SessionTokenKey[], faults: string[]): Map<string, ReadyKey> {
  const ready = new Map<string, ReadyKey>()
  if (!Array.isArray(keys) || keys.length === 0) faults.push('keys must hold at least one { kid, key }')
  else {
    for (const [index, entry] of keys.entries()) {
      const key = readyKey(entry, 'verify')
      if ('faults' in key) faults.push(...key.faults.map((fault) => `keys[${index}] ${fault}`))
      else if (ready.has(key.kid)) faults.push(`keys[${index}] has the kid of a key before it`)
      else ready.set(key.kid, key)
    }
  }
  return ready
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}
