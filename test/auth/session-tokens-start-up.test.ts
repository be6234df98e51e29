import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { generateAppSecret, type SessionTokensOptions, sessionTokens } from '../../src/auth/index.ts'
import { isSallyportError, type SallyportError } from '../../src/errors.ts'
import { keyPair } from '../support/key-pairs.ts'
import { reported, said } from '../support/reported.ts'
import { forge, HMAC_KEY } from './forge.ts'

const ec = keyPair('P-256')
const p384 = keyPair('P-384')
const ed = keyPair('ed25519')
const BASE64URL = Buffer.from(HMAC_KEY).toString('base64url')
const NOW = 1_800_000_000

function fault(options: unknown): SallyportError {
  try {
    sessionTokens(options as SessionTokensOptions)
  } catch (error) {
    if (isSallyportError(error)) return error
    throw error
  }
  throw new Error('sessionTokens accepted them')
}

async function hmac(bytes: number, hash: string, usages: ('sign' | 'verify')[]) {
  return crypto.subtle.importKey('raw', new Uint8Array(bytes).fill(7), { name: 'HMAC', hash }, false, usages)
}

const publicJwk = (pair: { publicKey: { export(options: { format: 'jwk' }): object } }) =>
  pair.publicKey.export({ format: 'jwk' })
const privateJwk = (pair: { privateKey: { export(options: { format: 'jwk' }): object } }) =>
  pair.privateKey.export({ format: 'jwk' })

describe('sessionTokens at start-up', () => {
  it('sessionTokens accepts an HS256 key as bytes, base64url, JWK or CryptoKey', async () => {
    const header = { alg: 'HS256', typ: 'sallyport-session+jwt', kid: 'k1' }
    const token = forge(header, { aud: 'api', iat: NOW, exp: NOW + 1, jti: 'tok_1', sid: 's1' })
    for (const key of [
      HMAC_KEY,
      Buffer.from(HMAC_KEY),
      BASE64URL,
      { kty: 'oct', k: BASE64URL } as const,
      { kty: 'oct', k: BASE64URL, alg: 'HS256', use: 'sig', key_ops: ['sign'] } as const,
      await hmac(32, 'SHA-256', ['verify']),
    ]) {
      const keys = [{ kid: 'k1', key: key as Uint8Array }]
      const verifier = sessionTokens({ keys, audience: 'api', clock: { now: () => NOW * 1_000 } })
      expect(await verifier.verify(token, 'session_run')).toMatchObject({ id: 'tok_1' })
    }
  })

  it('sessionTokens refuses an HS256 key of fewer than 32 bytes, in any form', async () => {
    const short = HMAC_KEY.subarray(0, 31)
    const k = Buffer.from(short).toString('base64url')
    for (const key of [short, k, { kty: 'oct', k }, await hmac(31, 'SHA-256', ['verify'])]) {
      const error = fault({ keys: [{ kid: 'k1', key }], audience: 'api' })
      expect(error.code).toBe('option_invalid')
      expect(reported(error)).toContain('keys[0].key has a key of 31 bytes, and HS256 needs 32')
    }
  })

  it('sessionTokens refuses an unset key and names the likely cause', () => {
    for (const key of [undefined, null, '']) {
      expect(reported(fault({ keys: [{ kid: 'k1', key }], audience: 'api' }))).toContain(
        'keys[0].key needs a key: is its environment variable set?',
      )
    }
  })

  it('sessionTokens refuses an application secret as a key', async () => {
    const { secret } = await generateAppSecret()
    const error = fault({ keys: [{ kid: 'k1', key: secret }], audience: 'api' })
    expect(reported(error)).toContain('keys[0].key has an application secret as its key')
    expect(inspect(error)).not.toContain(secret)
  })

  it.each<[string, string | undefined, unknown, string]>([
    ['text that is not base64url', undefined, `${'+/'.repeat(30)}==`, 'is not base64url'],
    ['text of a length that base64url cannot have', undefined, 'A'.repeat(45), 'is not base64url'],
    ['a number', undefined, 42, 'is not one of HS256'],
    ['an EC key for HS256', undefined, publicJwk(ec), 'is not one of HS256'],
    ['an oct key of another alg', undefined, { kty: 'oct', k: BASE64URL, alg: 'HS512' }, 'own alg is not HS256'],
    ['an oct key without bytes', undefined, { kty: 'oct' }, 'without a base64url k'],
    ['bytes for ES256', 'ES256', HMAC_KEY, 'needs a JWK or a CryptoKey for ES256'],
    ['text for EdDSA', 'EdDSA', BASE64URL, 'needs a JWK or a CryptoKey for EdDSA'],
    ['an oct key for ES256', 'ES256', { kty: 'oct', k: BASE64URL }, 'is not for ES256'],
    ['a P-384 key for ES256', 'ES256', publicJwk(p384), 'is not for ES256'],
    ['an EC key for EdDSA', 'EdDSA', publicJwk(ec), 'is not for EdDSA'],
    ['an Ed25519 key for ES256', 'ES256', publicJwk(ed), 'is not for ES256'],
    ['a key with another alg of its own', 'Ed25519', { ...publicJwk(ed), alg: 'EdDSA' }, 'own alg is not Ed25519'],
    ['a private key', 'ES256', privateJwk(ec), 'needs a public JWK to verify with'],
    ['alg none', 'none', HMAC_KEY, 'alg is "none"; must be one of HS256'],
    ['alg RS256', 'RS256', HMAC_KEY, 'alg is "RS256"; must be one of HS256'],
    ['alg __proto__', '__proto__', publicJwk(ec), 'alg is "__proto__"; must be one of HS256'],
  ])('sessionTokens refuses as a key %s', (_, alg, key, message) => {
    const error = fault({ keys: [{ kid: 'k1', key, ...(alg && { alg }) }], audience: 'api' })
    expect(reported(error)).toContain('keys[0].')
    expect(reported(error)).toContain(message)
  })

  it('sessionTokens refuses a CryptoKey of another algorithm or usage', async () => {
    const subtle = crypto.subtle
    const pair = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
    const wide = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-384' }, false, ['sign', 'verify'])
    const table: [string, unknown, string][] = [
      ['HS256', await hmac(64, 'SHA-512', ['verify']), 'cannot verify with HS256'],
      ['HS256', await hmac(32, 'SHA-256', ['sign']), 'cannot verify with HS256'],
      ['HS256', pair.publicKey, 'cannot verify with HS256'],
      ['ES256', await hmac(32, 'SHA-256', ['verify']), 'cannot verify with ES256'],
      ['ES256', pair.privateKey, 'cannot verify with ES256'],
      ['ES256', wide.publicKey, 'cannot verify with ES256'],
      ['EdDSA', pair.publicKey, 'cannot verify with EdDSA'],
    ]
    for (const [alg, key, message] of table) {
      expect(reported(fault({ keys: [{ kid: 'k1', key, alg }], audience: 'api' }))).toContain(message)
    }
    expect(() =>
      sessionTokens({ keys: [{ kid: 'k1', key: pair.publicKey, alg: 'ES256' }], audience: 'api' }),
    ).not.toThrow()
  })

  it.each<[string, unknown, string]>([
    ['no keys', { keys: [] }, 'keys is an empty array; must be a list of at least one key: [{ kid, key }]'],
    [
      'keys that are no list',
      { keys: { kid: 'k1', key: HMAC_KEY } },
      'keys is an object; must be a list of at least one key',
    ],
    ['a key that is no object', { keys: [HMAC_KEY.toString()] }, 'keys[0] is a string; must be an object of options'],
    ['a key without a kid', { keys: [{ key: HMAC_KEY }] }, 'keys[0].kid is undefined; must be 1 to 200 visible'],
    ['a kid with a space', { keys: [{ kid: 'a b', key: HMAC_KEY }] }, 'keys[0].kid must be'],
    ['a bad notAfter', { keys: [{ kid: 'a', key: HMAC_KEY, notAfter: 'soon' }] }, 'keys[0].notAfter must be'],
    [
      'a kid used twice',
      {
        keys: [
          { kid: 'a', key: HMAC_KEY },
          { kid: 'a', key: BASE64URL },
        ],
      },
      'keys[1].kid is the kid of a key before it',
    ],
    ['no audience', { audience: undefined }, 'audience is undefined; must be a non-empty string'],
    ['an empty audience', { audience: '' }, 'audience is an empty string; must be'],
    ['a list of audiences', { audience: ['api'] }, 'audience is an array of 1; must be a non-empty string'],
    ['an empty issuer', { issuer: '' }, 'issuer is an empty string; must be'],
    ...[0, -1, 1.5, 86_401, Number.NaN, '900'].map((bad): [string, unknown, string] => [
      `maxAgeSeconds ${bad}`,
      { maxAgeSeconds: bad },
      `maxAgeSeconds is ${said(bad)}; must be a whole number from 1 to 86400`,
    ]),
    ...[-1, 61, Number.NaN, Number.POSITIVE_INFINITY, '5'].map((bad): [string, unknown, string] => [
      `clockToleranceSeconds ${bad}`,
      { clockToleranceSeconds: bad },
      `clockToleranceSeconds is ${said(bad)}; must be a number from 0 to 60`,
    ]),
    ['isRevoked that is no function', { isRevoked: new Set() }, 'isRevoked is an object; must be a function'],
  ])('sessionTokens refuses the option: %s', (_, options, message) => {
    const good = { keys: [{ kid: 'k1', key: HMAC_KEY }], audience: 'api' }
    const error = fault(Object.assign(good, options))
    expect(error.code).toBe('option_invalid')
    expect(reported(error)).toContain(message)
    expect(error.problems).toHaveLength(1)
  })

  it('sessionTokens lists all problems at once, and shows no key', () => {
    const canary = 'canary+7f3a'
    const error = fault({
      keys: [
        { kid: '', key: canary, notAfter: canary },
        { kid: 'k2', key: { kty: 'oct', k: canary } },
      ],
      maxAgeSeconds: 0,
    })
    expect(error.problems).toHaveLength(6)
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(canary)
  })
})
