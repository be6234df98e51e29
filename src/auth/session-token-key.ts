import type { CryptoKey, JWK } from 'jose'
import { decode } from 'jose/base64url'
import { importJWK } from 'jose/key/import'
import { SallyportError } from '../errors.ts'
import { choice } from '../options/checks.ts'
import { type Check, type Checks, required } from '../options/read-options.ts'
import { isAppSecret } from './app-secret.ts'
import { type NotAfter, notAfter, notAfterMilliseconds, visibleAscii } from './credential-checks.ts'

/** Signature algorithm: HMAC with SHA-256, ECDSA on P-256 (RFC 7518), or Ed25519 (`EdDSA`, RFC 8037, or `Ed25519`, RFC 9864). */
export type SessionTokenAlgorithm = 'HS256' | 'ES256' | 'EdDSA' | 'Ed25519'

/** A key that signs or verifies session tokens. */
export interface SessionTokenKey {
  /** Identifies the key in the header of every token that it signs: 1 to 200 visible ASCII characters. */
  readonly kid: string
  /**
   * With `HS256`: at least 32 random bytes, raw, as base64url, as an `oct` JWK or as an HMAC `CryptoKey`; never an application
   * secret. Otherwise a JWK or a `CryptoKey`: the private key to sign with, the public one to verify with. `undefined`, from an
   * unset environment variable, is refused.
   */
  readonly key: Uint8Array | CryptoKey | JWK | string | undefined
  /** The only algorithm of this key, whatever the token's header says. Default: `HS256`. */
  readonly alg?: SessionTokenAlgorithm
  /** Last valid instant of its tokens: a `Date`, an RFC 3339 instant with its offset, or epoch milliseconds. Default: no end. */
  readonly notAfter?: NotAfter
}

export interface ReadyKey {
  readonly kid: string
  readonly alg: SessionTokenAlgorithm
  /** Epoch milliseconds; `Infinity`: no end. */
  readonly notAfter: number
  /** Imports the key once. Rejects when the runtime cannot import it. */
  load(): Promise<CryptoKey>
}

const ALGORITHMS: readonly unknown[] = ['HS256', 'ES256', 'EdDSA', 'Ed25519'] satisfies SessionTokenAlgorithm[]

/** Checks a key. Problems contain no part of it. */
// @__NO_SIDE_EFFECTS__
export function keyChecks(usage: 'sign' | 'verify'): Checks<SessionTokenKey> {
  const material: Check = (key, { alg = 'HS256' }) => {
    if (key === null) return NO_KEY
    const loader = ALGORITHMS.includes(alg) ? keyLoader(key, String(alg), usage) : undefined
    return typeof loader === 'string' ? loader : undefined
  }
  return { kid: required(visibleAscii), key: required(material, NO_KEY), alg: choice(ALGORITHMS), notAfter }
}

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

type KeyLoader = () => Promise<CryptoKey>

type Usage = 'sign' | 'verify'

/** RFC 7518, section 3.2: an HMAC key is no shorter than the hash. */
const SHORTEST_HMAC_BYTES = 32

const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const

const CURVES = {
  ES256: { kty: 'EC', crv: 'P-256', name: 'ECDSA' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', name: 'Ed25519' },
  Ed25519: { kty: 'OKP', crv: 'Ed25519', name: 'Ed25519' },
} as const

const MAKE_ONE = "make one with `crypto.randomBytes(32).toString('base64url')`"

const NO_KEY = `needs a key: is its environment variable set? For HS256, ${MAKE_ONE}`

/** Returns a loader of the key for this algorithm only, or its fault as `has …` or `needs …`, without the key. */
export function keyLoader(key: unknown, alg: string, usage: Usage): KeyLoader | string {
  if (key === undefined || key === null || key === '') return NO_KEY
  if (alg === 'HS256') return hmacLoader(key, usage)
  if (alg !== 'ES256' && alg !== 'EdDSA' && alg !== 'Ed25519') {
    return 'has an alg that is not one of HS256, ES256, EdDSA and Ed25519'
  }
  return curveLoader(key, alg, usage)
}

function hmacLoader(key: unknown, usage: Usage): KeyLoader | string {
  if (isCryptoKey(key)) {
    const { name, hash, length }: { name: string; hash?: { name: string }; length?: number } = key.algorithm
    const fits = key.type === 'secret' && name === HMAC.name && hash?.name === HMAC.hash && key.usages.includes(usage)
    if (!fits) return `has a CryptoKey that cannot ${usage} with HS256: it must be of HMAC with SHA-256`
    return length === undefined || length < SHORTEST_HMAC_BYTES * 8 ? tooShort((length ?? 0) / 8) : async () => key
  }
  const bytes = hmacBytes(key)
  if (typeof bytes === 'string') return bytes
  if (bytes.length < SHORTEST_HMAC_BYTES) return tooShort(bytes.length)
  return () => crypto.subtle.importKey('raw', bytes, HMAC, false, [usage])
}

function hmacBytes(key: unknown): Uint8Array<ArrayBuffer> | string {
  if (key instanceof Uint8Array) return new Uint8Array(key)
  if (typeof key === 'string') {
    if (isAppSecret(key)) return 'has an application secret as its key: a signing key must be a secret of its own'
    return base64urlBytes(key) ?? `has a key that is not base64url; ${MAKE_ONE}`
  }
  if (!isJwk(key) || key.kty !== 'oct') return `has a key that is not one of HS256; name its alg, or ${MAKE_ONE}`
  if (key.alg !== undefined && key.alg !== 'HS256') return 'has a JWK whose own alg is not HS256'
  return (typeof key.k === 'string' ? base64urlBytes(key.k) : undefined) ?? 'has an oct JWK without a base64url k'
}

function curveLoader(key: unknown, alg: keyof typeof CURVES, usage: Usage): KeyLoader | string {
  const { kty, crv, name } = CURVES[alg]
  const kind = usage === 'sign' ? 'private' : 'public'
  if (isCryptoKey(key)) {
    const algorithm: { name: string; namedCurve?: string } = key.algorithm
    const onCurve = algorithm.name === name && (algorithm.namedCurve ?? crv) === crv
    return onCurve && key.type === kind && key.usages.includes(usage)
      ? async () => key
      : `has a CryptoKey that cannot ${usage} with ${alg}: it must be a ${kind} ${crv} key`
  }
  if (!isJwk(key)) return `needs a JWK or a CryptoKey for ${alg}`
  if (key.kty !== kty || key.crv !== crv)
    return `has a JWK that is not for ${alg}: it must have kty ${kty} and crv ${crv}`
  if (key.alg !== undefined && key.alg !== alg) return `has a JWK whose own alg is not ${alg}`
  if ((key.d !== undefined) !== (usage === 'sign')) return `needs a ${kind} JWK to ${usage} with`
  const { x, y, d } = key
  const jwk = { kty, crv, ...(x && { x }), ...(y && { y }), ...(d && { d }) }
  return async () => {
    const imported = await importJWK(jwk, alg)
    if (imported instanceof Uint8Array) throw new TypeError('not a public-key algorithm')
    return imported
  }
}

function isCryptoKey(key: unknown): key is CryptoKey {
  return Object.prototype.toString.call(key) === '[object CryptoKey]'
}

function isJwk(key: unknown): key is JWK {
  return typeof key === 'object' && key !== null && 'kty' in key && typeof key.kty === 'string'
}

function base64urlBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]+$/.test(text)) return undefined
  try {
    return new Uint8Array(decode(text))
  } catch {
    return undefined
  }
}

function tooShort(bytes: number): string {
  return `has a key of ${bytes} bytes, and HS256 needs ${SHORTEST_HMAC_BYTES} (RFC 7518, section 3.2); ${MAKE_ONE}`
}
