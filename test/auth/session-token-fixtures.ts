import { type KeyObject, type KeyPairKeyObjectResult, sign } from 'node:crypto'
import {
  type AuthVerifier,
  type DispatchGrant,
  type SessionTokenKey,
  type SessionTokensOptions,
  sessionTokens,
} from '../../src/auth/index.ts'
import { keyPair } from '../support/key-pairs.ts'
import { HMAC_KEY } from './forge.ts'

export const INVALID: { readonly refused: string } = { refused: 'invalid_token' }

/** Epoch seconds. */
export const NOW = 1_800_000_000

/** Header and claims of a valid token, signed with `HMAC_KEY`. */
export const HEADER: Readonly<Record<string, string>> = { alg: 'HS256', typ: 'sallyport-session+jwt', kid: 'k1' }
export const CLAIMS: Readonly<Record<'aud' | 'jti' | 'sid', string> & Record<'iat' | 'exp', number>> = {
  aud: 'api',
  iat: NOW,
  exp: NOW + 900,
  jti: 'tok_1',
  sid: 's1',
}
export const GRANT: DispatchGrant = { events: ['order.shipped'], channels: ['email'], recipients: ['user_42'] }

export const ec: KeyPairKeyObjectResult = keyPair('P-256')
export const ed: KeyPairKeyObjectResult = keyPair('ed25519')

export const KEYS: readonly SessionTokenKey[] = [
  { kid: 'k1', key: HMAC_KEY },
  { kid: 'ec', key: jwk(ec.publicKey), alg: 'ES256' },
  { kid: 'ed', key: jwk(ed.publicKey), alg: 'EdDSA' },
]

/** A key as a JWK, in the type of `sessionTokens`. */
export function jwk(key: KeyObject): Exclude<SessionTokenKey['key'], Uint8Array | string | undefined> {
  return key.export({ format: 'jwk' }) as { kty: 'EC' }
}

/** Returns a function that signs with ES256. */
export function es256(key: KeyObject): (input: string) => string {
  return (input) => sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
}

/** Returns a function that signs with EdDSA. */
export function ed25519(key: KeyObject): (input: string) => string {
  return (input) => sign(null, Buffer.from(input), key).toString('base64url')
}

/** A verifier with those keys and a fixed clock, in epoch seconds. */
export function at(seconds: number, options: Partial<SessionTokensOptions> = {}): AuthVerifier {
  return sessionTokens({ keys: KEYS, audience: 'api', clock: { now: () => seconds * 1_000 }, ...options })
}
