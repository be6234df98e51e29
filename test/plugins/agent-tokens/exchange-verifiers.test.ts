import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { generateAppSecret, sessionTokens } from '../../../src/auth/index.ts'
import type { ExchangedToken, NarrowedToken } from '../../../src/ports/auth-verifier.ts'
import { ec, jwk } from '../../auth/session-token-fixtures.ts'
import { AUDIENCE, KEY, tokenHost } from './exchanging.ts'

const { secret } = await generateAppSecret({ env: 'test' })
const host = (given?: Parameters<typeof tokenHost>[1]) => tokenHost(secret, given)

describe('a verifier that exchanges tokens', () => {
  it('Without a verifier that exchanges tokens there is no endpoint', async () => {
    const key = { kid: 'ec', key: jwk(ec.publicKey), alg: 'ES256' } as const
    const { post } = host({ tokens: { keys: [key] } })
    expect(await post('exchange', secret, { grants: {} })).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(sessionTokens({ keys: [key], audience: AUDIENCE }).exchange).toBeUndefined()
  })

  it('A token of an asymmetric key is exchanged with exchangeKey', async () => {
    const keys = [{ kid: 'ec', key: jwk(ec.publicKey), alg: 'ES256' }] as const
    const exchangeKey = { kid: 'ec', key: jwk(ec.privateKey), alg: 'ES256' } as const
    const { issue, exchange, run } = host({ tokens: { keys, exchangeKey } })
    const token = await exchange(await issue({}, { key: exchangeKey }))
    expect((await run(token)).status).toBe(201)
  })

  it('A token whose key cannot sign is refused beside one that can', async () => {
    const keys = [KEY, { kid: 'ec', key: jwk(ec.publicKey), alg: 'ES256' }] as const
    const { issue, exchange, post } = host({ tokens: { keys } })
    await exchange(await issue())
    const key = { kid: 'ec', key: jwk(ec.privateKey), alg: 'ES256' } as const
    expect(await post('exchange', await issue({}, { key }), { grants: {} })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    })
  })

  it.each([
    ['of an unknown kid', { kid: 'k2', key: KEY.key }],
    ['of another alg', { kid: 'k1', key: jwk(ec.privateKey), alg: 'ES256' }],
  ] as const)('sessionTokens refuses an exchangeKey %s', (_, exchangeKey) => {
    expect(() => sessionTokens({ keys: [KEY], audience: AUDIENCE, exchangeKey })).toThrow(
      'field "exchangeKey.kid": must be the kid of one of the keys, with the same alg',
    )
  })

  it('An exchanged token ends with the key that signs it', async () => {
    const { issue, exchange, clock } = host({
      tokens: { keys: [{ ...KEY, notAfter: new Date(fakeNow() + 60_000) }] },
    })
    expect(Number(decodeJwt(await exchange(await issue())).exp) * 1_000).toBeLessThanOrEqual(clock.now() + 60_000)
  })

  it('isRevoked is asked for an exchanged token and each of its parents', async () => {
    const revoked = new Set<string>()
    const { issue, exchange, run } = host({ tokens: { isRevoked: ({ jti }) => revoked.has(jti) } })
    const root = await issue()
    const child = await exchange(await exchange(root))
    expect((await run(child)).status).toBe(201)
    revoked.add(String(decodeJwt(root).jti))
    expect((await run(child)).status).toBe(401)
  })

  it('A token that isRevoked names, or whose parent it names, is not exchanged by the verifier', async () => {
    const revoked = new Set<string>()
    const { issue, exchange, clock } = host()
    const auth = sessionTokens({ keys: [KEY], audience: AUDIENCE, clock, isRevoked: ({ jti }) => revoked.has(jti) })
    const root = await issue()
    const child = await exchange(root)
    const narrowed = { runEvents: 0, expiresAt: clock.now() + 60_000 }
    expect(await auth.exchange?.(child, narrowed)).toMatchObject({ token: expect.any(String) })
    revoked.add(String(decodeJwt(root).jti))
    for (const token of [root, child])
      expect(await auth.exchange?.(token, narrowed)).toMatchObject({ refused: 'invalid_token' })
  })
})

describe('an exchange by a verifier of the host', () => {
  const signing = (signed: (narrowed: NarrowedToken) => unknown) =>
    host({
      options: {
        auth: {
          verify: async () => ({ id: 'own', tenant: 'default', sessionId: 's1', expiresAt: fakeNow() + 60_000 }),
          exchange: async (_, narrowed) => signed(narrowed) as ExchangedToken,
        },
      },
    })

  it('A token up to the requested end is passed on', async () => {
    const { post } = signing(({ expiresAt }) => ({ token: 'a.b-c==', jti: 'child', expiresAt }))
    expect(await post('exchange', 'own', { grants: {}, expiresInMs: 1_000 })).toEqual({
      status: 201,
      body: { token: 'a.b-c==', expiresAt: new Date(fakeNow() + 1_000).toISOString() },
    })
  })

  it.each<[string, (narrowed: NarrowedToken) => unknown]>([
    ['a later end', ({ expiresAt }) => ({ token: 'a', jti: 'j', expiresAt: expiresAt + 1 })],
    ['an end beyond every date', () => ({ token: 'a', jti: 'j', expiresAt: 9e15 })],
    ['an end before every date', () => ({ token: 'a', jti: 'j', expiresAt: -9e15 })],
    ['no end', () => ({ token: 'a', jti: 'j' })],
    ['an end that is NaN', () => ({ token: 'a', jti: 'j', expiresAt: Number.NaN })],
    ['an end that is a text', () => ({ token: 'a', jti: 'j', expiresAt: '5' })],
    ['no token', ({ expiresAt }) => ({ jti: 'j', expiresAt })],
    ['an empty token', ({ expiresAt }) => ({ token: '', jti: 'j', expiresAt })],
    ['a token with a line break', ({ expiresAt }) => ({ token: 'a\n', jti: 'j', expiresAt })],
    ['no jti', ({ expiresAt }) => ({ token: 'a', expiresAt })],
    ['a jti with a space', ({ expiresAt }) => ({ token: 'a', jti: 'a b', expiresAt })],
    ['a jti of 201 characters', ({ expiresAt }) => ({ token: 'a', jti: 'x'.repeat(201), expiresAt })],
    ['null', () => null],
    ['nothing', () => undefined],
  ])('A signed token with %s is answered 500, and the log names the verifier', async (_, signed) => {
    const { post, logger } = signing(signed)
    expect(await post('exchange', 'own', { grants: {} })).toMatchObject({
      status: 500,
      body: { code: 'internal_error' },
    })
    expect(logger.lines).toMatchObject([
      {
        event: 'request.failed',
        fields: { causeCode: 'answer_invalid', cause: expect.stringContaining('exchange() of the verifier returned') },
      },
    ])
  })
})

function fakeNow(): number {
  return host().clock.now()
}
