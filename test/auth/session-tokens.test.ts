import { describe, expect, it, vi } from 'vitest'
import { sessionTokens } from '../../src/auth/index.ts'
import { forge, HMAC_KEY } from './forge.ts'
import { at, CLAIMS, ec, ed, ed25519, es256, GRANT, HEADER, INVALID, KEYS, NOW } from './session-token-fixtures.ts'

/** Members of the principal of `CLAIMS`. */
const DATED = { issuedAt: NOW * 1_000, expiresAt: (NOW + 900) * 1_000 }

describe('sessionTokens', () => {
  it('sessionTokens accepts a valid token for runs of its session', async () => {
    expect(await at(NOW).verify(forge(HEADER, CLAIMS), 'session_run')).toEqual({
      id: 'tok_1',
      tenant: 'default',
      sessionId: 's1',
      operations: ['session_run'],
      ...DATED,
    })
  })

  it('sessionTokens gives the tenant and the dispatch grant', async () => {
    const token = forge(HEADER, { ...CLAIMS, tnt: 'acme', grants: { dispatch: GRANT } })
    for (const operation of ['session_run', 'dispatch'] as const) {
      expect(await at(NOW).verify(token, operation)).toEqual({
        id: 'tok_1',
        tenant: 'acme',
        sessionId: 's1',
        operations: ['dispatch', 'session_run'],
        dispatch: GRANT,
        ...DATED,
      })
    }
  })

  it('sessionTokens gives the user of the runs', async () => {
    const token = forge(HEADER, { ...CLAIMS, sub: 'Ada ✓' })
    expect(await at(NOW).verify(token, 'session_run')).toEqual({
      id: 'tok_1',
      tenant: 'default',
      sessionId: 's1',
      operations: ['session_run'],
      userId: 'Ada ✓',
      ...DATED,
    })
  })

  it('sessionTokens gives maxDispatches', async () => {
    for (const maxDispatches of [1, 1_000]) {
      const dispatch = { ...GRANT, maxDispatches }
      const token = forge(HEADER, { ...CLAIMS, grants: { dispatch } })
      expect(await at(NOW).verify(token, 'dispatch')).toMatchObject({ dispatch })
    }
  })

  it('sessionTokens gives approvals, and the operation with them', async () => {
    const approval = { events: ['refund.approval'], maxApprovals: 3 }
    const token = forge(HEADER, { ...CLAIMS, grants: { approval } })
    const operations = ['session_run', 'approval']
    expect(await at(NOW).verify(token, 'approval')).toMatchObject({ approval, operations })
  })

  it.each([{}, { grants: {} }, { grants: { refund: { max: 5 } } }])(
    'sessionTokens gives a principal that may only record runs for %j',
    async (claims) => {
      const token = forge(HEADER, { ...CLAIMS, ...claims })
      for (const operation of ['dispatch', 'session_run'] as const)
        expect(await at(NOW).verify(token, operation)).toMatchObject({ id: 'tok_1', operations: ['session_run'] })
    },
  )

  it.each([
    ['ec', 'ES256', es256(ec.privateKey)],
    ['ed', 'EdDSA', ed25519(ed.privateKey)],
  ])('sessionTokens verifies with the public key %s and %s', async (kid, alg, signer) => {
    const token = forge({ ...HEADER, kid, alg }, CLAIMS, signer)
    expect(await at(NOW).verify(token, 'session_run')).toMatchObject({ id: 'tok_1' })
    expect(await at(NOW).verify(token, 'session_run')).toMatchObject({ id: 'tok_1' })
  })

  it('sessionTokens accepts a token with several audiences', async () => {
    const token = forge(HEADER, { ...CLAIMS, aud: ['web', 'api'] })
    expect(await at(NOW).verify(token, 'session_run')).toMatchObject({ id: 'tok_1' })
  })

  it('sessionTokens accepts values at the edge of each limit', async () => {
    for (const claims of [
      { ...CLAIMS, iat: NOW - 900, exp: NOW - 4 },
      { ...CLAIMS, iat: NOW + 5 },
      { ...CLAIMS, nbf: NOW + 5 },
      { ...CLAIMS, exp: NOW + 3_600 },
      { ...CLAIMS, sid: 'x'.repeat(200), jti: '~', tnt: '!' },
    ]) {
      expect(await at(NOW).verify(forge(HEADER, claims), 'session_run')).toMatchObject({ id: claims.jti })
    }
  })

  it('sessionTokens tolerates clockToleranceSeconds of clock error', async () => {
    const expired = forge(HEADER, { ...CLAIMS, iat: NOW - 900, exp: NOW })
    expect(await at(NOW, { clockToleranceSeconds: 0 }).verify(expired, 'session_run')).toMatchObject(INVALID)
    expect(await at(NOW - 1, { clockToleranceSeconds: 0 }).verify(expired, 'session_run')).toMatchObject({
      id: 'tok_1',
    })
    expect(await at(NOW + 59, { clockToleranceSeconds: 60 }).verify(expired, 'session_run')).toMatchObject({
      id: 'tok_1',
    })
    expect(await at(NOW + 60, { clockToleranceSeconds: 60 }).verify(expired, 'session_run')).toMatchObject(INVALID)
  })

  it('sessionTokens accepts lifetimes up to maxAgeSeconds', async () => {
    const token = forge(HEADER, CLAIMS)
    expect(await at(NOW, { maxAgeSeconds: 900 }).verify(token, 'session_run')).toMatchObject({ id: 'tok_1' })
    expect(await at(NOW, { maxAgeSeconds: 899 }).verify(token, 'session_run')).toMatchObject(INVALID)
    const long = forge(HEADER, { ...CLAIMS, exp: NOW + 7_200 })
    expect(await at(NOW, { maxAgeSeconds: 7_200 }).verify(long, 'session_run')).toMatchObject({ id: 'tok_1' })
  })

  it('sessionTokens requires the issuer where one is given', async () => {
    const strict = at(NOW, { issuer: 'https://issuer.example' })
    const good = forge(HEADER, { ...CLAIMS, iss: 'https://issuer.example' })
    expect(await strict.verify(good, 'session_run')).toMatchObject({ id: 'tok_1' })
    expect(await at(NOW).verify(good, 'session_run')).toMatchObject({ id: 'tok_1' })
    for (const token of [forge(HEADER, CLAIMS), forge(HEADER, { ...CLAIMS, iss: 'https://other.example' })]) {
      expect(await strict.verify(token, 'session_run')).toMatchObject(INVALID)
    }
  })

  it('sessionTokens accepts a key up to its notAfter, and not a millisecond longer', async () => {
    let now = NOW * 1_000
    const keys = [{ kid: 'k1', key: HMAC_KEY, notAfter: new Date(now) }]
    const verifier = sessionTokens({ keys, audience: 'api', clock: { now: () => now } })
    expect(await verifier.verify(forge(HEADER, CLAIMS), 'session_run')).toMatchObject({ id: 'tok_1' })
    now++
    expect(await verifier.verify(forge(HEADER, CLAIMS), 'session_run')).toMatchObject(INVALID)
  })

  it('sessionTokens uses the system clock by default', async () => {
    const iat = Math.floor(Date.now() / 1_000)
    const verifier = sessionTokens({ keys: KEYS, audience: 'api' })
    const fresh = forge(HEADER, { ...CLAIMS, iat, exp: iat + 900 })
    expect(await verifier.verify(fresh, 'session_run')).toMatchObject({ id: 'tok_1' })
    const old = forge(HEADER, { ...CLAIMS, iat: iat - 1_000, exp: iat - 100 })
    expect(await verifier.verify(old, 'session_run')).toMatchObject(INVALID)
  })

  it('sessionTokens refuses a revoked token, and calls isRevoked only for valid ones', async () => {
    const asked: unknown[] = []
    const isRevoked = (token: { jti: string }) => {
      asked.push(token)
      return token.jti === 'tok_1'
    }
    const verifier = at(NOW, { isRevoked })
    expect(await verifier.verify(forge(HEADER, { ...CLAIMS, tnt: 'acme' }), 'dispatch')).toMatchObject(INVALID)
    expect(await verifier.verify(forge(HEADER, { ...CLAIMS, jti: 'tok_2' }), 'session_run')).toMatchObject({
      id: 'tok_2',
    })
    expect(
      await verifier.verify(
        forge(HEADER, CLAIMS, () => 'AAAA'),
        'session_run',
      ),
    ).toMatchObject(INVALID)
    expect(asked).toEqual([
      { jti: 'tok_1', sessionId: 's1', tenant: 'acme' },
      { jti: 'tok_2', sessionId: 's1', tenant: 'default' },
    ])
    const slow = at(NOW, { isRevoked: async () => true })
    expect(await slow.verify(forge(HEADER, CLAIMS), 'session_run')).toMatchObject(INVALID)
  })

  it('Revoking a token also revokes the tokens that were exchanged for it, at every level', async () => {
    const revoked = new Set<string>()
    const { verify, exchange } = at(NOW, { isRevoked: ({ jti }) => revoked.has(jti) })
    const narrowed = { runEvents: 5, expiresAt: (NOW + 600) * 1_000 }
    const exchanged = async (token: string) => {
      const child = await exchange?.(token, narrowed)
      return child && 'token' in child ? child.token : expect.unreachable('no token was exchanged')
    }
    const root = forge(HEADER, CLAIMS)
    const child = await exchanged(root)
    const grandchild = await exchanged(child)
    const other = forge(HEADER, { ...CLAIMS, jti: 'tok_2' })
    const tokens = [root, child, grandchild, other, await exchanged(other)]
    const areRevoked = () => Promise.all(tokens.map(async (one) => 'refused' in (await verify(one, 'session_run'))))
    expect(await areRevoked()).toEqual([false, false, false, false, false])
    revoked.add(CLAIMS.jti)
    expect(await areRevoked()).toEqual([true, true, true, false, false])
    expect(await exchange?.(grandchild, narrowed)).toMatchObject(INVALID)
  })

  it('sessionTokens throws when isRevoked throws', async () => {
    const down = new Error('down')
    const isRevoked = () => Promise.reject(down)
    await expect(at(NOW, { isRevoked }).verify(forge(HEADER, CLAIMS), 'session_run')).rejects.toBe(down)
  })

  it('sessionTokens throws when the runtime cannot import the key', async () => {
    const keys = [{ kid: 'ec', key: { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' }, alg: 'ES256' }] as const
    const token = forge({ ...HEADER, kid: 'ec', alg: 'ES256' }, CLAIMS, es256(ec.privateKey))
    for (let call = 0; call < 2; call++) {
      await expect(at(NOW, { keys }).verify(token, 'session_run')).rejects.toMatchObject({ code: 'option_invalid' })
    }
  })

  it('sessionTokens imports a key once', async () => {
    const importKey = vi.spyOn(crypto.subtle, 'importKey')
    const verifier = at(NOW)
    for (let call = 0; call < 3; call++) await verifier.verify(forge(HEADER, CLAIMS), 'session_run')
    expect(importKey).toHaveBeenCalledTimes(1)
    importKey.mockRestore()
  })

  it('sessionTokens keeps its own copy of the key', async () => {
    const bytes = new Uint8Array(HMAC_KEY)
    const verifier = at(NOW, { keys: [{ kid: 'k1', key: bytes }] })
    bytes.fill(0)
    expect(await verifier.verify(forge(HEADER, CLAIMS), 'session_run')).toMatchObject({ id: 'tok_1' })
  })
})
