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
  it('anyOf gives the first principal, and calls no verifier after it', async () => {
    const never = throwing(new Error('asked'))
    expect(await anyOf(invalid, accepting('b'), never, accepting('c')).verify('t', 'dispatch')).toMatchObject({
      id: 'b',
    })
  })

  it('anyOf passes the token and the operation to each verifier', async () => {
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

  it('anyOf gives insufficient_scope if any verifier does, in any order', async () => {
    expect(await anyOf(insufficient, invalid).verify('t', 'dispatch')).toEqual({ refused: 'insufficient_scope' })
    expect(await anyOf(invalid, insufficient).verify('t', 'dispatch')).toEqual({ refused: 'insufficient_scope' })
    expect(await anyOf(invalid, invalid).verify('t', 'dispatch')).toMatchObject({ refused: 'invalid_token' })
    expect(await anyOf(insufficient, accepting('b')).verify('t', 'dispatch')).toMatchObject({ id: 'b' })
  })

  it('anyOf ignores a verifier that throws if a later one accepts', async () => {
    for (const broken of [throwing(down), throwingAtOnce(down)]) {
      expect(await anyOf(broken, accepting('b')).verify('t', 'dispatch')).toMatchObject({ id: 'b' })
    }
  })

  it('anyOf throws the first error of its verifiers if none accepts', async () => {
    for (const broken of [throwing(down), throwingAtOnce(down)]) {
      await expect(anyOf(invalid, broken, insufficient).verify('t', 'dispatch')).rejects.toBe(down)
    }
    await expect(anyOf(throwing(down), throwing(new Error('later'))).verify('t', 'dispatch')).rejects.toBe(down)
    await expect(anyOf(throwing(undefined), invalid).verify('t', 'dispatch')).rejects.toBeUndefined()
  })

  describe('exchange', () => {
    const narrowed = { runEvents: 0, expiresAt: 5 }
    const answers = (answer: Awaited<ReturnType<NonNullable<AuthVerifier['exchange']>>>): AuthVerifier => ({
      ...invalid,
      exchange: async () => answer,
    })
    const gives = (token: string): AuthVerifier => answers({ token, jti: token, expiresAt: 5 })
    const [refuses, forbids] = [answers({ refused: 'invalid_token' }), answers({ refused: 'insufficient_scope' })]
    const fails = (fault: unknown): AuthVerifier => ({ ...invalid, exchange: () => Promise.reject(fault) })
    const failsAtOnce: AuthVerifier = {
      ...invalid,
      exchange() {
        throw down
      },
    }
    const exchange = (...verifiers: readonly AuthVerifier[]) => anyOf(...verifiers).exchange?.('t', narrowed)

    it('anyOf exchanges by the first verifier that does not refuse, and calls none after it', async () => {
      const never = fails(new Error('asked'))
      expect(await exchange(invalid, refuses, gives('b'), never, gives('c'))).toMatchObject({ token: 'b' })
    })

    it('anyOf passes the token and its limits to each verifier, on that verifier', async () => {
      const seen: unknown[] = []
      const spy: AuthVerifier = {
        ...invalid,
        async exchange(...given) {
          seen.push([this === spy, ...given])
          return { refused: 'invalid_token' }
        },
      }
      await exchange(spy, spy)
      expect(seen).toEqual([
        [true, 't', narrowed],
        [true, 't', narrowed],
      ])
    })

    it('anyOf answers an exchange with insufficient_scope if any verifier does, in any order', async () => {
      expect(await exchange(forbids, refuses)).toEqual({ refused: 'insufficient_scope' })
      expect(await exchange(refuses, forbids)).toEqual({ refused: 'insufficient_scope' })
      expect(await exchange(refuses, invalid)).toMatchObject({ refused: 'invalid_token' })
      expect(await exchange(forbids, gives('b'))).toMatchObject({ token: 'b' })
    })

    it('anyOf ignores an exchange that throws if a later verifier exchanges, and otherwise throws the first error', async () => {
      for (const broken of [fails(down), failsAtOnce]) {
        expect(await exchange(broken, gives('b'))).toMatchObject({ token: 'b' })
        await expect(exchange(refuses, broken, forbids)).rejects.toBe(down)
      }
      await expect(exchange(fails(down), fails(new Error('later')))).rejects.toBe(down)
    })

    it('anyOf has no exchange if no verifier has one', () => {
      expect(anyOf(invalid, insufficient).exchange).toBeUndefined()
    })
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'token'],
    ['a number', 5],
  ])('anyOf says what a verifier returned that is no answer, unless another accepts: %s', async (came, answer) => {
    const wrong = { verify: async () => answer } as AuthVerifier
    const accepting: AuthVerifier = { verify: async () => ({ id: 'a', tenant: 't' }) }
    expect(await anyOf(wrong, accepting).verify('token', 'dispatch')).toEqual({ id: 'a', tenant: 't' })
    await expect(anyOf(wrong, wrong).verify('token', 'dispatch')).rejects.toMatchObject({
      code: 'answer_invalid',
      message: expect.stringContaining(`verify() of a verifier in anyOf() returned ${came}; return a principal`),
    })
  })

  it('anyOf accepts both application secrets and session tokens', async () => {
    const { id, secret } = await generateAppSecret()
    const key = { kid: 'k1', key: new Uint8Array(32).fill(7) }
    const token = await issueSessionToken({ sessionId: 's1', key, audience: 'api' })
    const verifier = anyOf(appSecrets([secret]), sessionTokens({ keys: [key], audience: 'api' }))
    expect(await verifier.verify(secret, 'dispatch')).toEqual({ id, tenant: 'default' })
    expect(await verifier.verify(token, 'session_run')).toMatchObject({ sessionId: 's1' })
    expect(await verifier.verify(token, 'dispatch')).toMatchObject({ operations: ['session_run'] })
    expect(await verifier.verify('neither', 'dispatch')).toMatchObject({ refused: 'invalid_token' })
  })

  it('anyOf refuses no arguments and arguments that are no verifier', () => {
    expect(() => anyOf()).toThrowError(expect.objectContaining({ code: 'option_invalid' }))
    expect(() => anyOf(invalid, {} as AuthVerifier)).toThrowError('argument 2')
    expect(() => anyOf(undefined as unknown as AuthVerifier)).toThrowError('argument 1')
  })
})
