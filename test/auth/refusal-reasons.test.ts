import { beforeAll, describe, expect, it } from 'vitest'
import {
  type AuthVerifier,
  anyOf,
  appSecrets,
  type GeneratedAppSecret,
  generateAppSecret,
  sessionTokens,
} from '../../src/auth/index.ts'
import { forge, HMAC_KEY, hs256 } from './forge.ts'
import { at, CLAIMS, HEADER, KEYS, NOW } from './session-token-fixtures.ts'

let known: GeneratedAppSecret
let other: GeneratedAppSecret

beforeAll(async () => {
  known = await generateAppSecret()
  other = await generateAppSecret()
})

const reasonFor = async (verifier: AuthVerifier, token: string): Promise<unknown> => {
  const answer = await verifier.verify(token, 'session_run')
  return 'refused' in answer ? [answer.refused, answer.reason] : 'accepted'
}

describe('the reason of a refused session token', () => {
  it.each<[reason: string, what: string, token: string]>([
    ['malformed', 'a text that is no JWT', 'sp_live_abc'],
    ['malformed', 'a header that is no JSON', `e30x.${forge(HEADER, CLAIMS).split('.').slice(1).join('.')}`],
    ['malformed', 'claims that are no JSON', forge(HEADER, '{')],
    ['unknown_kid', 'an unknown kid', forge({ ...HEADER, kid: 'k2' }, CLAIMS)],
    ['unknown_kid', 'no kid', forge({ alg: 'HS256', typ: 'JWT' }, CLAIMS)],
    ['algorithm', 'another alg than its key has', forge({ ...HEADER, alg: 'HS512' }, CLAIMS)],
    ['signature', 'a foreign key', forge(HEADER, CLAIMS, hs256(new Uint8Array(32).fill(8)))],
    ['type', 'another typ', forge({ ...HEADER, typ: 'JWT' }, CLAIMS)],
    ['audience', 'another audience', forge(HEADER, { ...CLAIMS, aud: 'web' })],
    ['claims', 'no audience', forge(HEADER, { ...CLAIMS, aud: undefined })],
    ['claims', 'no session', forge(HEADER, { ...CLAIMS, sid: undefined })],
    ['claims', 'a wrong grant', forge(HEADER, { ...CLAIMS, grants: { dispatch: true } })],
    ['claims', 'an exp as text', forge(HEADER, { ...CLAIMS, exp: String(NOW + 900) })],
    ['lifetime', 'too long a lifetime', forge(HEADER, { ...CLAIMS, exp: NOW + 3_601 })],
    ['lifetime', 'an iat that is too old', forge(HEADER, { ...CLAIMS, iat: NOW - 3_700 })],
    ['not_yet_valid', 'an iat in the future', forge(HEADER, { ...CLAIMS, iat: NOW + 6 })],
    ['not_yet_valid', 'an nbf in the future', forge(HEADER, { ...CLAIMS, nbf: NOW + 6 })],
    ['expired', 'an exp in the past', forge(HEADER, { ...CLAIMS, iat: NOW - 900, exp: NOW - 6 })],
  ])('A session token is refused as %s for %s', async (reason, _, token) => {
    expect(await reasonFor(at(NOW), token)).toEqual(['invalid_token', reason])
  })

  it('A session token is refused as issuer, key_expired and revoked by these options', async () => {
    const token = forge(HEADER, CLAIMS)
    const keys = [{ kid: 'k1', key: HMAC_KEY, notAfter: (NOW - 1) * 1_000 }]
    expect(await reasonFor(at(NOW, { issuer: 'https://idp.example' }), forge(HEADER, { ...CLAIMS, iss: 'x' }))).toEqual(
      ['invalid_token', 'issuer'],
    )
    expect(await reasonFor(at(NOW, { keys }), token)).toEqual(['invalid_token', 'key_expired'])
    expect(await reasonFor(at(NOW, { isRevoked: () => true }), token)).toEqual(['invalid_token', 'revoked'])
  })

  it('An exchange is refused for the reason of the token', async () => {
    const narrowed = { runEvents: 0, expiresAt: NOW * 1_000 }
    const expired = await at(NOW).exchange?.(forge(HEADER, CLAIMS), narrowed)
    const foreign = await at(NOW).exchange?.(forge({ ...HEADER, kid: 'k2' }, CLAIMS), narrowed)
    expect([expired, foreign]).toMatchObject([{ reason: 'expired' }, { reason: 'unknown_kid' }])
  })
})

describe('the reason of a refused application secret', () => {
  it('A text of another shape, an unknown secret and an ended one have their own reasons', async () => {
    const ended = { sha256: other.sha256, notAfter: '2001-01-01T00:00:00Z' }
    const verifier = appSecrets([known.secret, ended])
    expect(await reasonFor(verifier, 'eyJh.e30.AAAA')).toEqual(['invalid_token', 'malformed'])
    expect(await reasonFor(verifier, (await generateAppSecret()).secret)).toEqual(['invalid_token', 'unknown_secret'])
    expect(await reasonFor(verifier, other.secret)).toEqual(['invalid_token', 'expired'])
  })
})

describe('the reason of anyOf', () => {
  const tokens = (audience: string, kid = 'k1') =>
    sessionTokens({ keys: [{ kid, key: HMAC_KEY }], audience, clock: { now: () => NOW * 1_000 } })
  const own = (reason?: string): AuthVerifier => ({ verify: () => ({ refused: 'invalid_token', reason }) })

  it('The verifier that recognised the kind of the credential gives the reason, in any order', async () => {
    const [secrets, jwts] = [appSecrets([known.secret]), sessionTokens({ keys: KEYS, audience: 'api' })]
    for (const verifier of [anyOf(secrets, jwts), anyOf(jwts, secrets)]) {
      expect(await reasonFor(verifier, other.secret)).toEqual(['invalid_token', 'unknown_secret'])
      expect(await reasonFor(verifier, forge({ ...HEADER, kid: 'k2' }, CLAIMS))).toEqual([
        'invalid_token',
        'unknown_kid',
      ])
      expect(await reasonFor(verifier, 'neither')).toEqual(['invalid_token', 'malformed'])
    }
  })

  it('The verifier that knows the key of a token gives the reason', async () => {
    const token = forge(HEADER, { ...CLAIMS, aud: 'web' })
    for (const verifier of [anyOf(tokens('a', 'k2'), tokens('b')), anyOf(tokens('b'), tokens('a', 'k2'))]) {
      expect(await reasonFor(verifier, token)).toEqual(['invalid_token', 'audience'])
    }
  })

  it("A host's verifier without a reason is not reported as malformed, and one with a reason is", async () => {
    const secrets = appSecrets([known.secret])
    expect(await reasonFor(anyOf(secrets, own()), 'x')).toEqual(['invalid_token', undefined])
    expect(await reasonFor(anyOf(own(), own('gateway_says_no')), 'x')).toEqual(['invalid_token', 'gateway_says_no'])
    expect(await reasonFor(anyOf(own(), secrets), other.secret)).toEqual(['invalid_token', 'unknown_secret'])
  })
})
