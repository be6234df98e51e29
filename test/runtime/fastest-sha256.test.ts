import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { appSecrets, type GeneratedAppSecret, generateAppSecret } from '../../src/auth/index.ts'
import { fastestSha256 } from '../../src/runtime/fastest-sha256.ts'

const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'

let one: GeneratedAppSecret
let two: GeneratedAppSecret

beforeAll(async () => {
  one = await generateAppSecret()
  two = await generateAppSecret()
})

/** Runs a function with another `process`. The function must be synchronous. */
function where<T>(process: unknown, make: () => T): T {
  vi.stubGlobal('process', process)
  try {
    return make()
  } finally {
    vi.unstubAllGlobals()
  }
}

describe('SHA-256', () => {
  it('SHA-256 is synchronous on Node', () => {
    expect(fastestSha256()('abc')).toBe(ABC)
  })

  it('SHA-256 is synchronous where node:crypto has no one-shot hash', () => {
    const sha256 = where({ getBuiltinModule: () => ({ createHash }) }, fastestSha256)
    expect(sha256('abc')).toBe(ABC)
  })

  it.each([
    ['there is no process', undefined],
    ['process has no getBuiltinModule', {}],
    ['there is no node:crypto', { getBuiltinModule: () => undefined }],
  ])('SHA-256 comes from WebCrypto where %s', async (_, process) => {
    const digest = where(process, fastestSha256)('abc')
    expect(digest).toBeInstanceOf(Promise)
    expect(await digest).toBe(ABC)
  })
})

describe('appSecrets with WebCrypto alone', () => {
  it('With WebCrypto alone, appSecrets accepts and refuses as with node:crypto', async () => {
    let now = Date.UTC(2027, 0, 31)
    const { sha256 } = two
    const options = { clock: { now: () => now } }
    const verifier = where(undefined, () =>
      appSecrets([one.secret, { sha256, tenant: 'acme', notAfter: now }], options),
    )
    expect(await verifier.verify(one.secret, 'dispatch')).toEqual({ id: one.id, tenant: 'default' })
    expect(await verifier.verify(two.secret, 'dispatch')).toEqual({ id: two.id, tenant: 'acme' })
    now++
    expect(await verifier.verify(two.secret, 'dispatch')).toMatchObject({ refused: 'invalid_token' })
    const stranger = await generateAppSecret()
    for (const token of [stranger.secret, '', 'x'.repeat(5_000), one.secret.slice(0, -1)]) {
      expect(await verifier.verify(token, 'dispatch')).toMatchObject({ refused: 'invalid_token' })
    }
  })

  it('With WebCrypto alone, appSecrets accepts a secret given as its digest', async () => {
    const verifier = where(undefined, () => appSecrets([{ sha256: one.sha256 }]))
    expect(await verifier.verify(one.secret, 'dispatch')).toEqual({ id: one.id, tenant: 'default' })
  })

  it('With WebCrypto alone, appSecrets reports a duplicate at the first call', async () => {
    const digest = vi.spyOn(crypto.subtle, 'digest')
    const verifier = where(undefined, () => appSecrets([one.secret, { sha256: one.sha256, tenant: 'acme' }]))
    await Promise.all(digest.mock.results.map(({ value }) => value))
    digest.mockRestore()
    await new Promise(setImmediate)
    await expect(verifier.verify(one.secret, 'dispatch')).rejects.toMatchObject({
      code: 'option_invalid',
      message: expect.stringContaining('"secrets[1]": is the same as secrets[0]'),
    })
  })

  it('With WebCrypto alone, generateAppSecret gives a digest and an id that match the secret', async () => {
    const { id, secret, sha256 } = await where(undefined, () => generateAppSecret())
    expect(sha256).toBe(createHash('sha256').update(secret).digest('hex'))
    expect(id).toBe(`app_${sha256.slice(0, 8)}`)
  })
})
