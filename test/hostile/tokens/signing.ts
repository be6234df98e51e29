import { createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { SessionTokenAlgorithm, SessionTokenKey } from '../../../src/auth/index.ts'
import { hs256 } from '../../auth/forge.ts'
import { ed25519, es256, jwk } from '../../auth/session-token-fixtures.ts'

export type Sign = (input: string) => string

/** A signing key for session tokens, and signers without it. */
export interface Signing {
  readonly alg: SessionTokenAlgorithm
  readonly kid: string
  /** The key that the host verifies with. */
  readonly key: SessionTokenKey['key']
  readonly sign: Sign
  /** Signs with another key of the same kind. */
  readonly foreign: Sign
  /** The public parts of the key, in every form that could pass for an HMAC secret. */
  readonly published: Readonly<Record<string, string | Uint8Array>>
}

const hmac = crypto.getRandomValues(new Uint8Array(32))

/** A key of each algorithm. */
export const SIGNINGS: readonly Signing[] = [
  {
    alg: 'HS256',
    kid: 'k1',
    key: hmac,
    sign: hs256(hmac),
    foreign: hs256(crypto.getRandomValues(new Uint8Array(32))),
    published: { 'nothing at all': '', 'its kid': 'k1', '32 zeros': new Uint8Array(32) },
  },
  pair('ES256', 'ec', () => generateKeyPairSync('ec', { namedCurve: 'P-256' }), es256),
  pair('EdDSA', 'ed', () => generateKeyPairSync('ed25519'), ed25519),
  pair('Ed25519', 'ed25519', () => generateKeyPairSync('ed25519'), ed25519),
]

/** Texts of the HMAC key, which no answer may hold. */
export const KEY_TEXTS: readonly string[] = ['hex', 'base64', 'base64url'].map((encoding) =>
  createSecretKey(hmac)
    .export()
    .toString(encoding as BufferEncoding),
)

/** Makes a JWS of any header and claims, also invalid ones. */
export function jws(header: object | string, claims: object | string, sign: Sign): string {
  const input = [header, claims].map(part).join('.')
  return `${input}.${sign(input)}`
}

export function part(value: object | string): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}

function pair(
  alg: SessionTokenAlgorithm,
  kid: string,
  generate: () => { publicKey: KeyObject; privateKey: KeyObject },
  signer: (key: KeyObject) => Sign,
): Signing {
  const { publicKey, privateKey } = generate()
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString()
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  return {
    alg,
    kid,
    key: jwk(publicKey),
    sign: signer(privateKey),
    foreign: signer(generate().privateKey),
    published: {
      'its PEM': pem,
      'its PEM without a line break': pem.trimEnd(),
      'its DER': publicKey.export({ format: 'der', type: 'spki' }),
      'its JWK': JSON.stringify(jwk(publicKey)),
      'its bytes': Buffer.from(`${x}${y}`, 'base64url'),
    },
  }
}
