import { webcrypto } from 'node:crypto'
import { inspect } from 'node:util'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import {
  type IssueSessionTokenOptions,
  issueSessionToken,
  type SessionTokenKey,
  sessionTokens,
} from '../../src/auth/index.ts'
import type { SallyportError } from '../../src/errors.ts'
import { keyPair } from '../support/key-pairs.ts'
import { reported, said } from '../support/reported.ts'
import { HMAC_KEY } from './forge.ts'

const NOW = 1_800_000_000
const clock = { now: () => NOW * 1_000 + 999 }
const KEY: SessionTokenKey = { kid: 'k1', key: HMAC_KEY }
const OPTIONS: IssueSessionTokenOptions = { sessionId: 's1', key: KEY, audience: 'api', clock }
const GRANT = { events: ['order.shipped'], channels: ['email', 'sms'], recipients: ['user_42'], maxDispatches: 3 }

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('issueSessionToken', () => {
  it('issueSessionToken makes a token of 15 minutes for one session, without a dispatch grant', async () => {
    const token = await issueSessionToken(OPTIONS)
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', kid: 'k1', typ: 'sallyport-session+jwt' })
    expect(decodeJwt(token)).toEqual({
      sid: 's1',
      tnt: 'default',
      since: NOW * 1_000 + 999,
      aud: 'api',
      jti: expect.stringMatching(UUID),
      iat: NOW,
      exp: NOW + 900,
    })
  })

  it('issueSessionToken sets the tenant, the grant, the issuer and the lifetime', async () => {
    const token = await issueSessionToken({
      ...OPTIONS,
      tenant: 'acme',
      userId: 'Ada Lovelace ✓',
      grants: { dispatch: GRANT },
      issuer: 'https://issuer.example',
      expiresInSeconds: 3_600,
    })
    expect(decodeJwt(token)).toMatchObject({
      tnt: 'acme',
      sub: 'Ada Lovelace ✓',
      grants: { dispatch: GRANT },
      iss: 'https://issuer.example',
      exp: NOW + 3_600,
    })
  })

  it('issueSessionToken gives every token its own id', async () => {
    const tokens = await Promise.all(Array.from({ length: 50 }, () => issueSessionToken(OPTIONS)))
    expect(new Set(tokens.map((token) => decodeJwt(token).jti)).size).toBe(50)
  })

  it('issueSessionToken uses the system clock by default', async () => {
    const before = Math.floor(Date.now() / 1_000)
    const { iat = 0 } = decodeJwt(await issueSessionToken({ sessionId: 's1', key: KEY, audience: 'api' }))
    expect(iat).toBeGreaterThanOrEqual(before)
    expect(iat).toBeLessThanOrEqual(Math.ceil(Date.now() / 1_000))
  })

  it('issueSessionToken makes tokens that sessionTokens accepts, with every kind of key', async () => {
    const ec = keyPair('P-256')
    const ed = keyPair('ed25519')
    const made = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
    const hmac = await webcrypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256', length: 256 }, false, [
      'sign',
      'verify',
    ])
    const jwk = (key: { export(options: { format: 'jwk' }): unknown }) => key.export({ format: 'jwk' }) as { kty: 'EC' }
    const table: Pick<SessionTokenKey, 'alg' | 'key'>[][] = [
      [{ key: HMAC_KEY }, { key: Buffer.from(HMAC_KEY).toString('base64url') }],
      [{ key: hmac, alg: 'HS256' }, { key: hmac }],
      [
        { key: jwk(ec.privateKey), alg: 'ES256' },
        { key: jwk(ec.publicKey), alg: 'ES256' },
      ],
      [
        { key: made.privateKey, alg: 'ES256' },
        { key: made.publicKey, alg: 'ES256' },
      ],
      [
        { key: jwk(ed.privateKey), alg: 'EdDSA' },
        { key: jwk(ed.publicKey), alg: 'EdDSA' },
      ],
      [
        { key: jwk(ed.privateKey), alg: 'Ed25519' },
        { key: jwk(ed.publicKey), alg: 'Ed25519' },
      ],
    ]
    for (const [signing, verifying] of table) {
      if (!signing || !verifying) throw new Error('a pair is missing')
      const grants = { dispatch: GRANT }
      const token = await issueSessionToken({ ...OPTIONS, userId: 'ada', grants, key: { kid: 'k1', ...signing } })
      const verifier = sessionTokens({ keys: [{ kid: 'k1', ...verifying }], audience: 'api', clock })
      expect(await verifier.verify(token, 'dispatch')).toEqual({
        id: decodeJwt(token).jti,
        tenant: 'default',
        sessionId: 's1',
        operations: ['dispatch', 'session_run'],
        userId: 'ada',
        dispatch: GRANT,
        issuedAt: NOW * 1_000 + 999,
        expiresAt: (NOW + 900) * 1_000,
      })
    }
  })

  it.each<[string, unknown, string]>([
    ['no session', { sessionId: undefined }, 'sessionId is undefined; must be'],
    ['an empty session', { sessionId: '' }, 'sessionId is an empty string; must be'],
    ['a session with a space', { sessionId: 'a b' }, 'sessionId must be'],
    ['a session of 201 characters', { sessionId: 'x'.repeat(201) }, 'sessionId must be'],
    ['a bad tenant', { tenant: '' }, 'tenant is an empty string; must be'],
    ['no audience', { audience: undefined }, 'audience is undefined; must be a non-empty string'],
    ['an empty audience', { audience: '' }, 'audience is an empty string; must be'],
    ['an empty issuer', { issuer: '' }, 'issuer is an empty string; must be'],
    ...[0, 3_601, 1.5, -1, Number.NaN, '900'].map((bad): [string, unknown, string] => [
      `expiresInSeconds ${bad}`,
      { expiresInSeconds: bad },
      `expiresInSeconds is ${said(bad)}; must be a whole number from 1 to 3600`,
    ]),
    ['grants that are null', { grants: null }, 'grants is null; must be an object of options'],
    ['a grant of text', { grants: { dispatch: 'all' } }, 'grants.dispatch is a string; must be an object of options'],
    [
      'a grant without recipients',
      { grants: { dispatch: { events: ['a'], channels: ['b'] } } },
      'grants.dispatch.recipients is undefined; must be a list',
    ],
    [
      'a grant with an unknown member',
      { grants: { dispatch: { ...GRANT, max: 5 } } },
      'grants.dispatch.max is not an option',
    ],
    ...[0, 1_001, 1.5, '3', null].map((bad): [string, unknown, string] => [
      `maxDispatches ${bad}`,
      { grants: { dispatch: { ...GRANT, maxDispatches: bad } } },
      `grants.dispatch.maxDispatches is ${said(bad)}; must be a whole number from 1 to 1000`,
    ]),
    ['an empty userId', { userId: '' }, 'userId is an empty string; must be 1 to 200 characters'],
    ['a userId that is a number', { userId: 7 }, 'userId is a number; must be 1 to 200 characters'],
    ...['x'.repeat(201), 'a\0b', '\ud800'].map((bad): [string, unknown, string] => [
      `userId ${JSON.stringify(bad).slice(0, 20)}`,
      { userId: bad },
      'userId must be 1 to 200 characters',
    ]),
    [
      'a grant of an empty name',
      { grants: { dispatch: { ...GRANT, events: [''] } } },
      'grants.dispatch.events[0] is an empty string; must be a non-empty string',
    ],
    ['an unknown grant', { grants: { dispach: GRANT } }, 'grants.dispach is not an option; near: dispatch'],
    ['no key', { key: undefined }, 'key is undefined; must be an object of options'],
    ['an unset key', { key: { kid: 'k1', key: undefined } }, 'key.key needs a key'],
    ['a short key', { key: { kid: 'k1', key: new Uint8Array(31) } }, 'key.key has a key of 31 bytes'],
    ['a key past its notAfter', { key: { ...KEY, notAfter: clock.now() - 1 } }, 'key.notAfter is past'],
    [
      'a public key',
      { key: { kid: 'k1', alg: 'EdDSA', key: publicJwk() } },
      'key.key needs a private JWK to sign with',
    ],
    ['too many names', { grants: { dispatch: { ...GRANT, recipients: names(300) } } }, 'over the 4096 that fit'],
  ])('issueSessionToken refuses %s', async (_, options, message) => {
    const made = issueSessionToken(Object.assign({ ...OPTIONS }, options))
    const error = await made.catch((fault: unknown) => fault)
    expect(error).toMatchObject({ code: 'option_invalid' })
    expect(reported(error as SallyportError)).toContain(message)
  })

  it('issueSessionToken compares notAfter with the system clock by default', async () => {
    const { clock: _, ...rest } = OPTIONS
    const key = { ...KEY, notAfter: '2020-01-01T00:00:00Z' }
    await expect(issueSessionToken({ ...rest, key })).rejects.toThrow('key.notAfter')
  })

  it.each<[object, string]>([
    [{ 'canary-7f3a': GRANT }, 'grants holds a grant other than dispatch'],
    [{ 'canary-7f3a': 1, dispatch: GRANT }, 'grants holds a grant other than dispatch'],
    [{ 'canary-7f3a': 1, dispatch: {} }, 'grants.dispatch.events is undefined; must be a list'],
    [{ 'canary-7f3a': 1, dispach: GRANT }, 'grants holds a grant other than dispatch'],
  ])('issueSessionToken refuses unknown grants without their names: %j', async (grants, message) => {
    const made = issueSessionToken({ ...OPTIONS, grants })
    const error = (await made.catch((fault: unknown) => fault)) as SallyportError
    expect(error).toMatchObject({ code: 'option_invalid' })
    expect(reported(error)).toContain(message)
    expect(inspect(error)).not.toContain('canary')
  })

  it('issueSessionToken reports an invalid clock, and no error of the clock, beside a key that is past', async () => {
    const key = { ...KEY, notAfter: '2020-01-01T00:00:00Z' }
    const bad = { ...OPTIONS, key, clock: {} as never }
    const error = await issueSessionToken(bad).catch((fault: unknown) => fault)
    expect(error).toMatchObject({ problems: [{ field: 'clock' }] })
  })

  it('issueSessionToken signs with a key up to its notAfter', async () => {
    const key = { ...KEY, notAfter: clock.now() }
    await expect(issueSessionToken({ ...OPTIONS, key })).resolves.toMatch(/^eyJ/)
  })

  it('issueSessionToken lists all problems at once, and shows no key', async () => {
    const canary = 'canary+7f3a'
    const bad = { sessionId: '', audience: '', expiresInSeconds: 0, key: { kid: '', key: canary } }
    const error = await issueSessionToken(bad).catch((fault: unknown) => fault)
    expect(error).toMatchObject({ problems: { length: 5 } })
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(canary)
  })
})

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `recipient_${index}`)
}

function publicJwk(): unknown {
  return keyPair('ed25519').publicKey.export({ format: 'jwk' })
}
