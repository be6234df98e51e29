import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { composeAppSecret } from '../../src/auth/app-secret.ts'
import type { Credential } from '../../src/auth/app-secrets.ts'
import { matchingCredential } from '../../src/auth/app-secrets.ts'
import { appSecrets, type GeneratedAppSecret, generateAppSecret } from '../../src/auth/index.ts'
import { fc, runs } from '../support/properties.ts'

const INVALID = { refused: 'invalid_token' }

let one: GeneratedAppSecret
let two: GeneratedAppSecret
let three: GeneratedAppSecret

beforeAll(async () => {
  one = await generateAppSecret({ env: 'live' })
  two = await generateAppSecret({ env: 'live' })
  three = await generateAppSecret({ env: 'test' })
})

describe('appSecrets', () => {
  it('appSecrets accepts a secret given as text, for both operations', async () => {
    const verifier = appSecrets([one.secret])
    for (const operation of ['dispatch', 'session_run'] as const) {
      expect(await verifier.verify(one.secret, operation)).toEqual({ id: one.id, tenant: 'default' })
    }
  })

  it('appSecrets accepts a secret given as its digest, in either case', async () => {
    for (const sha256 of [one.sha256, one.sha256.toUpperCase()]) {
      const verifier = appSecrets([{ sha256 }])
      expect(await verifier.verify(one.secret, 'dispatch')).toEqual({ id: one.id, tenant: 'default' })
    }
  })

  it('appSecrets gives the id and the tenant of the secret', async () => {
    const verifier = appSecrets([{ sha256: one.sha256, id: 'billing', tenant: 'acme' }])
    expect(await verifier.verify(one.secret, 'dispatch')).toEqual({ id: 'billing', tenant: 'acme' })
  })

  it('appSecrets finds each secret at any position', async () => {
    const entries = [one, two, three].map(({ sha256, id }, index) => ({ sha256, id, tenant: `tenant_${index}` }))
    for (const order of [
      [0, 1, 2],
      [2, 0, 1],
      [1, 2, 0],
    ]) {
      const verifier = appSecrets(order.map((index) => entries[index]))
      for (const [index, { secret, id }] of [one, two, three].entries()) {
        expect(await verifier.verify(secret, 'dispatch')).toEqual({ id, tenant: `tenant_${index}` })
      }
    }
  })

  it.each<[string, (secret: string) => string]>([
    ['without its checksum', (secret) => secret.slice(0, -6)],
    ['with one random digit changed', (secret) => flip(secret, 20)],
    ['with one checksum digit changed', (secret) => flip(secret, secret.length - 1)],
    ['with another env', (secret) => secret.replace('sp_live_', 'sp_test_')],
    ['with another env and the checksum to match', (secret) => composeAppSecret('test', secret.slice(8, 38))],
    [
      'with one random digit changed and the checksum to match',
      (secret) => composeAppSecret('live', flip(secret.slice(8, 38), 7)),
    ],
    ['in another case', (secret) => secret.toUpperCase()],
    ['with white space around it', (secret) => ` ${secret} `],
    ['twice', (secret) => secret + secret],
    ['as its digest', () => one.sha256],
    ['as its id', () => one.id],
  ])('appSecrets refuses a secret %s', async (_, spoil) => {
    const verifier = appSecrets([one.secret, { sha256: two.sha256 }])
    expect(await verifier.verify(spoil(one.secret), 'dispatch')).toMatchObject(INVALID)
  })

  it('appSecrets refuses a valid secret that is not in its list', async () => {
    expect(await appSecrets([one.secret]).verify(two.secret, 'dispatch')).toMatchObject(INVALID)
    expect(await appSecrets([one.secret, two.secret]).verify(two.secret, 'dispatch')).toMatchObject({ id: two.id })
  })

  it.each([
    ['epoch milliseconds', Date.UTC(2027, 0, 31)],
    ['a Date', new Date(Date.UTC(2027, 0, 31))],
    ['an RFC 3339 instant', '2027-01-31T01:00:00+01:00'],
  ])(
    'appSecrets accepts a secret up to its notAfter, given as %s, and not a millisecond longer',
    async (_, notAfter) => {
      let now = Date.UTC(2027, 0, 31)
      const verifier = appSecrets([{ sha256: one.sha256, notAfter }, two.secret], { clock: { now: () => now } })
      expect(await verifier.verify(one.secret, 'dispatch')).toMatchObject({ id: one.id })
      now++
      expect(await verifier.verify(one.secret, 'dispatch')).toMatchObject(INVALID)
      expect(await verifier.verify(two.secret, 'dispatch')).toMatchObject({ id: two.id })
    },
  )

  it('appSecrets uses the system clock by default', async () => {
    const verifier = appSecrets([
      { sha256: one.sha256, notAfter: '2001-01-01T00:00:00Z' },
      { sha256: two.sha256, notAfter: '2999-01-01T00:00:00Z' },
    ])
    expect(await verifier.verify(one.secret, 'dispatch')).toMatchObject(INVALID)
    expect(await verifier.verify(two.secret, 'dispatch')).toMatchObject({ id: two.id })
  })

  it('appSecrets answers every string of 0 to 4,096 characters alike, and longer ones', async () => {
    const verifier = appSecrets([one.secret])
    for (let length = 0; length <= 4_096; length++) {
      expect(await verifier.verify('s'.repeat(length), 'dispatch')).toMatchObject(INVALID)
    }
    expect(await verifier.verify('s'.repeat(1_000_000), 'dispatch')).toMatchObject(INVALID)
  })

  it('appSecrets refuses any string at all without throwing', async () => {
    const verifier = appSecrets([one.secret, two.secret])
    const near = fc
      .tuple(fc.constant(one.secret), fc.nat(60), fc.string({ maxLength: 5 }))
      .map(([secret, at, text]) => {
        const spoiled = secret.slice(0, at) + text + secret.slice(at + text.length)
        return spoiled === secret ? `${spoiled}x` : spoiled
      })
    const any = fc.string({ unit: 'binary', maxLength: 4_096 })
    await fc.assert(
      fc.asyncProperty(fc.oneof(any, near, fc.string({ maxLength: 60 })), async (token) => {
        expect(await verifier.verify(token, 'session_run')).toMatchObject(INVALID)
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('appSecrets exposes no secret in its members', () => {
    const verifier = appSecrets([one.secret])
    expect(JSON.stringify(verifier)).not.toContain(one.secret)
    expect(Object.keys(verifier).sort()).toEqual(['reasons', 'verify'])
  })
})

describe('the comparison', () => {
  it('The comparison visits every digest, wherever the match is', () => {
    const digests = ['a', 'b', 'c', 'd'].map((text) => createHash('sha256').update(text).digest('hex'))
    for (const wanted of [...digests, 'f'.repeat(64)]) {
      const visited: number[] = []
      const credentials = digests.map(
        (digest, index): Credential => ({
          get digest() {
            visited.push(index)
            return digest
          },
          notAfter: Number.POSITIVE_INFINITY,
          principal: { id: `app_${index}`, tenant: 'default' },
        }),
      )
      const index = digests.indexOf(wanted)
      expect(matchingCredential(credentials, wanted)?.principal.id).toBe(index < 0 ? undefined : `app_${index}`)
      expect(visited).toEqual([0, 1, 2, 3])
    }
  })

  it('The comparison includes every digit', () => {
    const digest = '0'.repeat(64)
    const credentials = [{ digest, notAfter: 0, principal: { id: 'app_0', tenant: 'default' } }]
    for (let index = 0; index < 64; index++) {
      expect(matchingCredential(credentials, flip(digest, index))).toBeUndefined()
    }
    expect(matchingCredential(credentials, digest)).toBe(credentials[0])
  })

  it('appSecrets gives the operations of `allow`', async () => {
    const [one, two] = [await generateAppSecret(), await generateAppSecret()]
    const verifier = appSecrets([{ sha256: one.sha256, allow: ['read', 'manage'] }, { sha256: two.sha256 }])
    expect(await verifier.verify(one.secret, 'read')).toEqual({
      ...{ id: one.id, tenant: 'default' },
      operations: ['read', 'manage'],
    })
    expect(await verifier.verify(two.secret, 'read')).toEqual({ id: two.id, tenant: 'default' })
  })
})

function flip(text: string, index: number): string {
  return text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1)
}
