import type { CryptoKey, JWK } from 'jose'
import { SallyportError } from '../errors.ts'
import { oneOf } from '../options/checks.ts'
import { type Check, type Checks, required } from '../options/read-options.ts'
import { type NotAfter, notAfter, notAfterMilliseconds } from './not-after.ts'
import { type KeyLoader, keyLoader, NO_KEY } from './session-token-key-material.ts'
import { visibleAscii } from './visible-ascii.ts'

/**
 * How a session token is signed: HMAC with SHA-256, ECDSA on P-256 (RFC 7518), or Ed25519, by its name of old (`EdDSA`, RFC
 * 8037) or its own (`Ed25519`, RFC 9864).
 */
export type SessionTokenAlgorithm = 'HS256' | 'ES256' | 'EdDSA' | 'Ed25519'

/** A key that session tokens are signed or verified with. */
export interface SessionTokenKey {
  /** Names the key in the header of every token that it signs: 1 to 200 visible ASCII characters. */
  readonly kid: string
  /**
   * With `HS256`: at least 32 random bytes, as they are, as base64url, as an `oct` JWK or as an HMAC `CryptoKey`; never an
   * application secret. Otherwise a JWK or a `CryptoKey`: the private key to sign with, the public one to verify with.
   * `undefined`, as an unset environment variable gives it, is refused.
   */
  readonly key: Uint8Array | CryptoKey | JWK | string | undefined
  /** The one algorithm that this key is good for, whatever the token's header says. Default `HS256`. */
  readonly alg?: SessionTokenAlgorithm
  /**
   * The last instant at which it is good: a `Date`, an RFC 3339 instant with its offset, or epoch milliseconds. From the
   * millisecond after, all tokens that it signed are refused. Default: no end.
   */
  readonly notAfter?: NotAfter
}

/** A key that was checked. */
export interface ReadyKey {
  readonly kid: string
  readonly alg: SessionTokenAlgorithm
  /** Epoch milliseconds; `Infinity`: no end. */
  readonly notAfter: number
  /** Imports the key, once. Rejects when the runtime cannot. */
  load(): Promise<CryptoKey>
}

const ALGORITHMS: readonly unknown[] = ['HS256', 'ES256', 'EdDSA', 'Ed25519'] satisfies SessionTokenAlgorithm[]

/** The checks of a key; no problem shows any of it. */
// @__NO_SIDE_EFFECTS__
export function keyChecks(usage: 'sign' | 'verify'): Checks<SessionTokenKey> {
  const material: Check = (key, { alg = 'HS256' }) => {
    if (key === null) return NO_KEY
    const loader = ALGORITHMS.includes(alg) ? keyLoader(key, String(alg), usage) : undefined
    return typeof loader === 'string' ? loader : undefined
  }
  return { kid: required(visibleAscii), key: required(material, NO_KEY), alg: oneOf(ALGORITHMS), notAfter }
}

/** Makes a key that was checked ready for use. */
export function readyKey({ kid, key, alg = 'HS256', notAfter }: SessionTokenKey, usage: 'sign' | 'verify'): ReadyKey {
  const loader = keyLoader(key, alg, usage) as KeyLoader
  return { kid, alg, notAfter: notAfterMilliseconds(notAfter) as number, load: once(kid, loader) }
}

function once(kid: string, loader: KeyLoader): KeyLoader {
  let loaded: Promise<CryptoKey> | undefined
  const load = async (): Promise<CryptoKey> => {
    try {
      return await loader()
    } catch (cause) {
      throw new SallyportError('option_invalid', `This runtime cannot import the key "${kid}"`, [], { cause })
    }
  }
  return () => {
    loaded ??= load()
    return loaded
  }
}
