import { describe, expect, it } from 'vitest'
import {
  type AuthVerifier,
  anyOf,
  appSecrets,
  generateAppSecret,
  issueSessionToken,
  sessionTokens,
} from '../../src/auth/index.ts'

const accepting = (id: string): AuthVerifier => ({ verify: async () => ({ id, tenant: 'default' }) })
const refusing = (refused: 'invalid_token' | 'insufficient_scope'): AuthVerifier => ({
  verify: async () => ({ refused }),
})
const throwing = (fault: unknown): AuthVerifier => ({ verify: () => Promise.reject(fault) })
const throwingAtOnce = (fault: Error): AuthVerifier => ({
  verify() {
    throw fault
  },
})

const invalid = refusing('invalid_token')
const insufficient = refusing('insufficient_scope')
const down = new Error('down')

describe('anyOf', () => {
  it('gives the first principal, and asks nobody after it', async () => {
    const never = throwing(new Error('asked'))
    expect(await anyOf(invalid, accepting('b'), never, accepting('c')).verify('t', 'dispatch')).toMatchObject({
      id: 'b',
    })
  })

  it('passes the token and the operation on', async () => {
    const seen: unknown[] = []
    const spy: AuthVerifier = {
      async verify(...given) {
        seen.push(given)
        return { refused: 'invalid_token' }
      },
    }
    await anyOf(spy, spy).verify('t', 'session_run')
    expect(seen).toEqual([
      ['t', 'session_run'],
      ['t', 'session_run'],
    ])
  })

  it('says insufficient_scope if any of them did, whatever the order', async () => {
    expect(await anyOf(insufficient, invalid).verify('t', 'dispatch')).toEqual({ refused: 'insufficient_scope' })
    expect(await anyOf(invalid, insufficient).verify('t', 'dispatch')).toEqual({ refused: 'insufficient_scope' })
    expect(await anyOf(invalid, invalid).verify('t', 'dispatch')).toEqual({ refused: 'invalid_token' })
    expect(await anyOf(insufficient, accepting('b')).verify('t', 'dispatch')).toMatchObject({ id: 'b' })
  })

  it('goes on past a verifier that throws', async () => {
    for (const broken of [throwing(down), throwingAtOnce(down)]) {
      expect(await anyOf(broken, accepting('b')).verify('t', 'dispatch')).toMatchObject({ id: 'b' })
    }
  })

  it('throws what the first of them threw when none accepts', async () => {
    for (const broken of [throwing(down), throwingAtOnce(down)]) {
      await expect(anyOf(invalid, broken, insufficient).verify('t', 'dispatch')).rejects.toBe(down)
    }
    await expect(anyOf(throwing(down), throwing(new Error('later'))).verify('t', 'dispatch')).rejects.toBe(down)
    await expect(anyOf(throwing(undefined), invalid).verify('t', 'dispatch')).rejects.toBeUndefined()
  })

  it('tells application secrets from session tokens', async () => {
    const { id, secret } = await generateAppSecret()
    const key = { kid: 'k1', key: new Uint8Array(32).fill(7) }
    const token = await issueSessionToken({ sessionId: 's1', key, audience: 'api' })
    const verifier = anyOf(appSecrets([secret]), sessionTokens({ keys: [key], audience: 'api' }))
    expect(await verifier.verify(secret, 'dispatch')).toEqual({ id, tenant: 'default' })
    expect(await verifier.verify(token, 'session_run')).toMatchObject({ sessionId: 's1' })
    expect(await verifier.verify(token, 'dispatch')).toEqual({ refused: 'insufficient_scope' })
    expect(await verifier.verify('neither', 'dispatch')).toEqual({ refused: 'invalid_token' })
  })

  it('refuses to be made of nothing, or of what is no verifier', () => {
    expect(() => anyOf()).toThrowError(expect.objectContaining({ code: 'option_invalid' }))
    expect(() => anyOf(invalid, {} as AuthVerifier)).toThrowError('argument 2')
    expect(() => anyOf(undefined as unknown as AuthVerifier)).toThrowError('argument 1')
  })
})
