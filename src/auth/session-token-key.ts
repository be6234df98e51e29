import type { CryptoKey, JWK } from 'jose'
import { SallyportError } from '../errors.ts'
import { NOT_AFTER_RULE, type NotAfter, notAfterMilliseconds } from './not-after.ts'
import { type KeyLoader, keyLoader } from './session-token-key-material.ts'
import { isVisibleAscii, VISIBLE_ASCII_RULE } from './visible-ascii.ts'

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

/** Makes a key ready for use, or says all that is wrong with it, never showing it. */
export function readyKey(entry: SessionTokenKey, usage: 'sign' | 'verify'): ReadyKey | { readonly faults: string[] } {
  if (typeof entry !== 'object' || entry === null) return { faults: ['is not { kid, key }'] }
  const { kid, key, alg = 'HS256' } = entry
  const faults: string[] = []
  if (!isVisibleAscii(kid)) faults.push(`has a bad kid: it ${VISIBLE_ASCII_RULE}`)
  const notAfter = notAfterMilliseconds(entry.notAfter)
  if (notAfter === undefined) faults.push(`has a bad notAfter: ${NOT_AFTER_RULE}`)
  const loader = keyLoader(key, alg, usage)
  if (typeof loader === 'string') faults.push(loader)
  return typeof loader === 'string' || notAfter === undefined || faults.length > 0
    ? { faults }
    : { kid, alg, notAfter, load: once(kid, loader) }
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
