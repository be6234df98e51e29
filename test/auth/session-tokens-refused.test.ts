import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { fc, runs } from '../support/properties.ts'
import { forge, hs256 } from './forge.ts'
import { at, CLAIMS, ec, ed, ed25519, es256, GRANT, HEADER, INVALID, jwk, NOW } from './session-token-fixtures.ts'

describe('sessionTokens', () => {
  it.each<[string, string]>([
    ['alg none without a signature', forge({ ...HEADER, alg: 'none' }, CLAIMS, () => '')],
    ['alg none with a signature', forge({ ...HEADER, alg: 'none' }, CLAIMS)],
    ['alg NONE', forge({ ...HEADER, alg: 'NONE' }, CLAIMS)],
    ['no alg', forge({ typ: HEADER.typ, kid: 'k1' }, CLAIMS)],
    ['alg HS512 on an HS256 key', forge({ ...HEADER, alg: 'HS512' }, CLAIMS)],
    ['an HMAC of the public key', forge({ ...HEADER, kid: 'ec' }, CLAIMS, hs256(pem(ec.privateKey)))],
    [
      "an HMAC of the public key's JSON",
      forge({ ...HEADER, kid: 'ec' }, CLAIMS, hs256(JSON.stringify(jwk(ec.publicKey)))),
    ],
    ['ES256 under the kid of an HS256 key', forge({ ...HEADER, alg: 'ES256' }, CLAIMS, es256(ec.privateKey))],
    ['HS256 under the kid of an ES256 key', forge({ ...HEADER, kid: 'ec' }, CLAIMS)],
    [
      'Ed25519 on a key pinned to EdDSA',
      forge({ ...HEADER, kid: 'ed', alg: 'Ed25519' }, CLAIMS, ed25519(ed.privateKey)),
    ],
    ['a foreign HMAC key', forge(HEADER, CLAIMS, hs256(new Uint8Array(32).fill(8)))],
    ['a foreign EC key', forge({ ...HEADER, kid: 'ec', alg: 'ES256' }, CLAIMS, es256(foreignEc()))],
    ['an unknown kid', forge({ ...HEADER, kid: 'k2' }, CLAIMS)],
    ['no kid', forge({ alg: 'HS256', typ: HEADER.typ }, CLAIMS)],
    ['a kid that is no string', forge({ ...HEADER, kid: ['k1'] }, CLAIMS)],
    ['a kid of Object.prototype', forge({ ...HEADER, kid: '__proto__' }, CLAIMS)],
    [
      'its own key in the header',
      forge({ ...HEADER, kid: 'x', jwk: jwk(ec.publicKey), alg: 'ES256' }, CLAIMS, es256(ec.privateKey)),
    ],
    ['another typ', forge({ ...HEADER, typ: 'JWT' }, CLAIMS)],
    ['no typ', forge({ alg: 'HS256', kid: 'k1' }, CLAIMS)],
    ['an unknown critical header', forge({ ...HEADER, crit: ['exp'], exp: 1 }, CLAIMS)],
    ['an unencoded payload', forge({ ...HEADER, crit: ['b64'], b64: false }, CLAIMS)],
    ['another audience', forge(HEADER, { ...CLAIMS, aud: 'web' })],
    ['other audiences', forge(HEADER, { ...CLAIMS, aud: ['web', 'api2'] })],
    ['an audience that is no string', forge(HEADER, { ...CLAIMS, aud: { api: true } })],
    ...Object.keys(CLAIMS).map((name): [string, string] => [`no ${name}`, forge(HEADER, without(name))]),
    ['a past exp', forge(HEADER, { ...CLAIMS, iat: NOW - 900, exp: NOW - 6 })],
    ['a future iat', forge(HEADER, { ...CLAIMS, iat: NOW + 6 })],
    ['a future nbf', forge(HEADER, { ...CLAIMS, nbf: NOW + 6 })],
    ['a lifetime of an hour and a second', forge(HEADER, { ...CLAIMS, exp: NOW + 3_601 })],
    ['an infinite exp', forge(HEADER, `{"aud":"api","iat":${NOW},"exp":1e999,"jti":"t","sid":"s"}`)],
    ['an infinite lifetime', forge(HEADER, '{"aud":"api","iat":-1e999,"exp":1e999,"jti":"t","sid":"s"}')],
    ['an exp before its iat', forge(HEADER, { ...CLAIMS, iat: NOW + 3, exp: NOW + 2 })],
    ['an exp as text', forge(HEADER, { ...CLAIMS, exp: String(NOW + 900) })],
    ['an iat as text', forge(HEADER, { ...CLAIMS, iat: String(NOW) })],
    ...[-1, String(NOW * 1_000), null, (NOW + 1) * 1_000].map((since): [string, string] => [
      `since ${JSON.stringify(since)}`,
      forge(HEADER, { ...CLAIMS, since }),
    ]),
    ...['sid', 'jti', 'tnt'].flatMap((name) =>
      ['', 'a b', 'x'.repeat(201), 'é', 'a\n', 7, null, ['s1'], {}].map((bad): [string, string] => [
        `${name} ${JSON.stringify(bad).slice(0, 20)}`,
        forge(HEADER, { ...CLAIMS, [name]: bad }),
      ]),
    ),
    ...[7, '', 'x'.repeat(201), 'a\0b', null, ['ada']].map((sub): [string, string] => [
      `sub ${JSON.stringify(sub).slice(0, 20)}`,
      forge(HEADER, { ...CLAIMS, sub }),
    ]),
    ...[
      null,
      [],
      'dispatch',
      true,
      { dispatch: null },
      { dispatch: true },
      { dispatch: [] },
      { dispatch: {} },
      { dispatch: { events: ['a'], channels: ['b'] } },
      { dispatch: { events: ['a'], channels: ['b'], targets: ['c'] } },
      { dispatch: { ...GRANT, events: '*' } },
      { dispatch: { ...GRANT, channels: { length: 1, 0: 'email' } } },
      { dispatch: { ...GRANT, recipients: [42] } },
      { dispatch: { ...GRANT, recipients: [''] } },
      { dispatch: { ...GRANT, recipients: null } },
      { dispatch: { ...GRANT, maxPerHour: 5 } },
      { dispatch: { ...GRANT, maxDispatches: 0 } },
      { dispatch: { ...GRANT, maxDispatches: 1_001 } },
      { dispatch: { ...GRANT, maxDispatches: '5' } },
      { dispatch: { ...GRANT, maxDispatches: null } },
      { dispatch: { ...GRANT, maxDispatches: 1.5 } },
      { approval: true },
      { approval: {} },
      { approval: { events: '*' } },
      { approval: { events: [''] } },
      { approval: { events: ['a'], recipients: ['b'] } },
      { approval: { events: ['a'], maxApprovals: 0 } },
      { approval: { events: ['a'], maxApprovals: 1_001 } },
      { approval: { events: ['a'], maxApprovals: '5' } },
    ].map((grants): [string, string] => [`grants ${JSON.stringify(grants)}`, forge(HEADER, { ...CLAIMS, grants })]),
    ['claims that are a list', forge(HEADER, [])],
    ['claims that are no JSON', forge(HEADER, '{')],
    ['a header that is no JSON', `e30x.${forge(HEADER, CLAIMS).split('.').slice(1).join('.')}`],
    ['a header that is a list', forge([] as unknown as Record<string, unknown>, CLAIMS)],
    ['an encrypted token', 'eyJhbGciOiJkaXIifQ.a.b.c.d'],
    ['another signature', forge(HEADER, CLAIMS, () => 'AAAA')],
    ['a claim changed after signing', tampered()],
    ['more than 4,096 characters', forge(HEADER, { ...CLAIMS, pad: 'x'.repeat(4_096) })],
  ])('sessionTokens refuses a token with %s', async (_, token) => {
    for (const operation of ['session_run', 'dispatch'] as const) {
      expect(await at(NOW).verify(token, operation)).toMatchObject(INVALID)
    }
  })

  it('sessionTokens answers every length of 0 to 4,096 characters alike, and more', async () => {
    const verifier = at(NOW)
    for (let length = 0; length <= 4_096; length++) {
      expect(await verifier.verify('e'.repeat(length), 'dispatch')).toMatchObject(INVALID)
    }
    for (const text of ['a.'.repeat(2_048), '.'.repeat(4_096), 'e'.repeat(1_000_000)]) {
      expect(await verifier.verify(text, 'dispatch')).toMatchObject(INVALID)
    }
  })

  it('sessionTokens refuses any string at all without throwing', async () => {
    const verifier = at(NOW)
    const good = forge(HEADER, CLAIMS)
    const near = fc
      .tuple(fc.nat(good.length), fc.string({ minLength: 1, maxLength: 5 }))
      .map(([index, text]) => good.slice(0, index) + text + good.slice(index))
    const shaped = fc.stringMatching(/^[\w-]{1,300}\.[\w-]{1,300}\.[\w-]{1,300}$/)
    const signed = fc
      .tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue())
      .map(([header, claims]) => forge({ ...header, ...HEADER }, claims))
    const any = fc.string({ unit: 'binary', maxLength: 4_096 })
    await fc.assert(
      fc.asyncProperty(fc.oneof(any, near, shaped, signed), async (token) => {
        expect(await verifier.verify(token, 'session_run')).toMatchObject(INVALID)
      }),
      { numRuns: runs(1_000) },
    )
  })
})

function without(name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(CLAIMS).filter(([key]) => key !== name))
}

function pem(key: KeyObject): string {
  return createPublicKey(key).export({ format: 'pem', type: 'spki' }).toString()
}

function foreignEc(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

function tampered(): string {
  const [header, , signature] = forge(HEADER, CLAIMS).split('.')
  const [, claims] = forge(HEADER, { ...CLAIMS, sid: 's2' }).split('.')
  return [header, claims, signature].join('.')
}
