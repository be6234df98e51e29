import { describe, expect, it } from 'vitest'
import { matchingCredential } from '../../src/auth/app-secrets.ts'
import { notAfterMilliseconds } from '../../src/auth/credential-checks.ts'
import {
  issueSessionToken,
  type SessionTokenKey,
  type SessionTokensOptions,
  sessionTokens,
} from '../../src/auth/index.ts'
import { isJwtShaped } from '../../src/auth/session-token-claims.ts'
import { keyLoader } from '../../src/auth/session-token-key.ts'
import { forge, HMAC_KEY } from './forge.ts'
import { at, CLAIMS, ec, ed, HEADER, INVALID, jwk, NOW } from './session-token-fixtures.ts'

/** The problem of a key, or `undefined`. */
function fault(key: unknown, alg: string, usage: 'sign' | 'verify' = 'verify'): string | undefined {
  const loader = keyLoader(key, alg, usage)
  return typeof loader === 'string' ? loader : undefined
}

function hmac(
  bytes: number,
  hash = 'SHA-256',
  usages: ('sign' | 'verify')[] = ['verify'],
): ReturnType<typeof crypto.subtle.importKey> {
  return crypto.subtle.importKey('raw', new Uint8Array(bytes).fill(7), { name: 'HMAC', hash }, false, usages)
}

describe('a CryptoKey', () => {
  it('A CryptoKey for HS256 must be an HMAC key with SHA-256 and the right usage', async () => {
    expect(fault(await hmac(32), 'HS256')).toBeUndefined()
    const aes = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt'])
    for (const key of [await hmac(64, 'SHA-384'), await hmac(32, 'SHA-256', ['sign']), aes]) {
      expect(fault(key, 'HS256')).toContain('cannot verify with HS256')
    }
  })

  it('A CryptoKey for HS256 must not be public', () => {
    // No real key is both HMAC and public: a public key must not serve as a secret.
    const algorithm = { name: 'HMAC', hash: { name: 'SHA-256' }, length: 256 }
    const key = { algorithm, type: 'public', usages: ['verify'], [Symbol.toStringTag]: 'CryptoKey' }
    expect(fault(key, 'HS256')).toContain('cannot verify with HS256')
    expect(fault({ ...key, type: 'secret', algorithm: { ...algorithm, name: 'KMAC' } }, 'HS256')).toContain('cannot')
    expect(fault({ ...key, type: 'secret', algorithm: { ...algorithm, length: undefined } }, 'HS256')).toContain(
      'has a key of 0 bytes',
    )
  })

  it('A CryptoKey for a curve must be of that curve, public to verify and private to sign', async () => {
    const p256 = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
    const ecdh = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, false, ['deriveBits'])
    expect(fault(p256.publicKey, 'ES256')).toBeUndefined()
    expect(fault(p256.privateKey, 'ES256', 'sign')).toBeUndefined()
    expect(fault(p256.privateKey, 'ES256')).toContain('it must be a public P-256 key')
    expect(fault(p256.publicKey, 'ES256', 'sign')).toContain('it must be a private P-256 key')
    expect(fault(ecdh.publicKey, 'ES256')).toContain('cannot verify with ES256')
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
    const odd = { algorithm, type: 'secret', usages: ['verify'], [Symbol.toStringTag]: 'CryptoKey' }
    expect(fault(odd, 'ES256')).toContain('cannot verify')
  })
})

describe('a JWK', () => {
  it('A JWK requires a known kty', () => {
    for (const key of [{}, { kty: 5 }, { crv: 'P-256' }, null, Symbol('kty'), () => {}]) {
      expect(fault(key, 'ES256')).toMatch(/needs a (JWK|key)/)
      expect(fault(key, 'HS256')).toMatch(/is not one of HS256|needs a key/)
    }
    const callable = Object.assign(() => {}, { kty: 'oct', k: Buffer.from(HMAC_KEY).toString('base64url') })
    expect(fault(callable, 'HS256')).toContain('is not one of HS256')
  })

  it('A JWK must have the kty and the curve of its alg', () => {
    expect(fault({ ...jwk(ec.publicKey), kty: 'OKP' }, 'ES256')).toContain('it must have kty EC and crv P-256')
    expect(fault({ ...jwk(ed.publicKey), kty: 'EC' }, 'EdDSA')).toContain('it must have kty OKP and crv Ed25519')
  })

  it('A JWK may name its own alg, which must match', () => {
    expect(fault({ ...jwk(ec.publicKey), alg: 'ES256' }, 'ES256')).toBeUndefined()
    expect(fault({ ...jwk(ec.publicKey), alg: 'ES384' }, 'ES256')).toContain('own alg is not ES256')
  })

  it.each(['=', '+', ' ', '\n'])('The bytes of a JWK are base64url, without %j', (sign) => {
    const k = Buffer.from(HMAC_KEY).toString('base64url')
    for (const text of [sign + k, k + sign]) {
      expect(fault({ kty: 'oct', k: text }, 'HS256')).toContain('without a base64url k')
      expect(fault(text, 'HS256')).toContain('is not base64url')
    }
  })
})

describe('the key that is loaded', () => {
  it('A loaded key cannot be extracted', async () => {
    const loader = keyLoader(HMAC_KEY, 'HS256', 'verify')
    if (typeof loader === 'string') throw new Error(loader)
    expect(await loader()).toMatchObject({ extractable: false, usages: ['verify'] })
  })

  it('An error for a key that the runtime cannot import names its kid and has a cause', async () => {
    // A P-256 key by name, but its point is not on the curve.
    const key = { ...jwk(ec.publicKey), y: Buffer.alloc(32, 1).toString('base64url') }
    const token = forge({ ...HEADER, alg: 'ES256', kid: 'odd' }, CLAIMS)
    await expect(
      at(NOW, { keys: [{ kid: 'odd', key, alg: 'ES256' }] }).verify(token, 'dispatch'),
    ).rejects.toMatchObject({
      code: 'option_invalid',
      message: 'This runtime cannot import the key "odd"',
      cause: expect.anything(),
    })
  })
})

describe('the bounds of options', () => {
  const good: SessionTokensOptions = { keys: [{ kid: 'k1', key: HMAC_KEY }], audience: 'api' }
  const isAccepted = (options: object): boolean => {
    try {
      return Boolean(sessionTokens({ ...good, ...options }))
    } catch {
      return false
    }
  }

  it('sessionTokens accepts the bounds of its options, and nothing beyond them', () => {
    for (const maxAgeSeconds of [1, 86_400]) expect(isAccepted({ maxAgeSeconds })).toBe(true)
    for (const maxAgeSeconds of [0, 86_401]) expect(isAccepted({ maxAgeSeconds })).toBe(false)
    for (const clockToleranceSeconds of [0, 60]) expect(isAccepted({ clockToleranceSeconds })).toBe(true)
    for (const clockToleranceSeconds of [-1, 61]) expect(isAccepted({ clockToleranceSeconds })).toBe(false)
    expect(isAccepted({ isRevoked: () => false })).toBe(true)
    expect(isAccepted({ isRevoked: true })).toBe(false)
  })

  it('An error of sessionTokens begins with the function name and lists each option', () => {
    expect(() => sessionTokens({ ...good, audience: '', isRevoked: 5 as never })).toThrow(
      /^sessionTokens:[\s\S]*audience[\s\S]*isRevoked": is a number; must be a function/,
    )
  })

  it('An error about a key names each invalid member, or the entry that is no object', () => {
    for (const [entry, what] of [
      [null, 'null'],
      [5, 'a number'],
      ['k1', 'a string'],
    ])
      expect(() => sessionTokens({ ...good, keys: [entry as unknown as SessionTokenKey] })).toThrow(
        `"keys[0]": is ${what}; must be an object of options`,
      )
    const bad: SessionTokenKey = { kid: '', key: HMAC_KEY }
    const late: SessionTokenKey = { kid: 'k1', key: HMAC_KEY, notAfter: 'soon' }
    expect(() => sessionTokens({ ...good, keys: [bad] })).toThrow('"keys[0].kid": is an empty string; must be')
    expect(() => sessionTokens({ ...good, keys: [late] })).toThrow('"keys[0].notAfter": must be')
  })

  it('issueSessionToken accepts a lifetime of 1 second, and none of 0', async () => {
    const options = { key: { kid: 'k1', key: HMAC_KEY }, sessionId: 's1', audience: 'api' }
    expect(await issueSessionToken({ ...options, expiresInSeconds: 1 })).toMatch(/^ey/)
    await expect(issueSessionToken({ ...options, expiresInSeconds: 0, issuer: 5 as never })).rejects.toThrow(
      /^issueSessionToken:[\s\S]*expiresInSeconds[\s\S]*issuer": is a number; must be/,
    )
  })
})

describe('the bounds of a token', () => {
  it('A token has at most 4,096 characters', () => {
    const parts = (length: number): string => `a.b.${'c'.repeat(length - 4)}`
    expect([4_095, 4_096, 4_097].map((length) => isJwtShaped(parts(length)))).toEqual([true, true, false])
  })

  it('A token must have a lifetime above 0 and up to maxAgeSeconds', async () => {
    const verify = (claims: object) => at(NOW).verify(forge(HEADER, { ...CLAIMS, ...claims }), 'session_run')
    expect(await verify({ exp: NOW + 3_600 })).toMatchObject({ id: 'tok_1' })
    for (const claims of [{ exp: NOW + 3_601 }, { iat: NOW + 4, exp: NOW + 4 }, { iat: String(NOW) }, { exp: '9' }]) {
      expect(await verify(claims)).toMatchObject(INVALID)
    }
  })

  it("Every name in a token's grant must be a text", async () => {
    const grants = { dispatch: { events: ['e'], channels: ['a'], recipients: ['r', 5] } }
    expect(await at(NOW).verify(forge(HEADER, { ...CLAIMS, grants }), 'session_run')).toMatchObject(INVALID)
  })

  it('A token must have the alg of its key and a known kid', async () => {
    for (const header of [{ kid: 'ec' }, { kid: 'none' }, { kid: 5 }, { alg: 'ES256' }]) {
      expect(await at(NOW).verify(forge({ ...HEADER, ...header }, CLAIMS), 'session_run')).toMatchObject(INVALID)
    }
  })
})

describe('an end', () => {
  it('notAfter is a full instant, and a number only from 1e11 milliseconds', () => {
    expect(notAfterMilliseconds(1e11)).toBe(1e11)
    expect(notAfterMilliseconds(1e11 - 1)).toBeUndefined()
    expect(notAfterMilliseconds('2027-01-31T00:00:00.5+01:00')).toBe(Date.UTC(2027, 0, 30, 23, 0, 0, 500))
    for (const none of ['', 'soon', '2027-02-29T00:00:00Z', {}, [], true]) {
      expect(notAfterMilliseconds(none)).toBeUndefined()
    }
  })
})

describe('a digest', () => {
  it('A digest matches only if all its digits match', () => {
    const known = { digest: 'a'.repeat(64), notAfter: 0, principal: { id: 'p', tenant: 'default' } }
    expect(matchingCredential([known], 'a'.repeat(64))).toBe(known)
    expect(matchingCredential([known], `${'a'.repeat(63)}b`)).toBeUndefined()
    expect(matchingCredential([known], `b${'a'.repeat(63)}`)).toBeUndefined()
  })
})
