import { inspect } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { type AppSecretDigest, appSecrets, type GeneratedAppSecret, generateAppSecret } from '../../src/auth/index.ts'
import { isSallyportError, type SallyportError } from '../../src/errors.ts'
import { reported } from '../support/reported.ts'

let good: GeneratedAppSecret
let other: GeneratedAppSecret

beforeAll(async () => {
  good = await generateAppSecret()
  other = await generateAppSecret()
})

function fault(secrets: unknown): SallyportError {
  try {
    appSecrets(secrets as readonly (string | undefined | AppSecretDigest)[])
  } catch (error) {
    if (isSallyportError(error)) return error
    throw error
  }
  throw new Error('appSecrets accepted them')
}

describe('appSecrets at start-up', () => {
  it.each<[string, unknown, string]>([
    ['unset', undefined, 'secrets[1] is undefined: is its environment variable set?'],
    ['null', null, 'secrets[1] is null'],
    ['empty', '', 'secrets[1] is empty'],
    ['foreign', 'hunter2-hunter2-hunter2', 'secrets[1] is not an application secret'],
    ['a number', 42, 'secrets[1] is a number; must be a secret or { sha256 }'],
    ['without a digest', { id: 'x' }, 'secrets[1].sha256 is required'],
    ['with a short digest', { sha256: 'abc' }, 'secrets[1].sha256 must be 64 hex digits'],
  ])('appSecrets names an entry that is %s, and mentions generateAppSecret', (_, entry, message) => {
    const error = fault([good.secret, entry])
    expect(error.code).toBe('option_invalid')
    expect(reported(error)).toContain(message)
    expect(error.message).toContain('generateAppSecret')
    expect(error.problems).toHaveLength(1)
  })

  it('appSecrets distinguishes a mistyped secret from one with white space around it', () => {
    expect(reported(fault([good.secret.slice(0, -1)]))).toContain('secrets[0] is malformed: mistyped, or cut short')
    expect(reported(fault([`${good.secret}\n`]))).toContain(
      'secrets[0] is malformed: it begins or ends with white space',
    )
  })

  it('appSecrets refuses an empty list and a missing list', () => {
    for (const secrets of [[], undefined, good.secret]) {
      expect(fault(secrets)).toMatchObject({ code: 'option_invalid', message: expect.stringContaining('at least one') })
    }
  })

  it('appSecrets refuses the same secret twice, in any form', () => {
    const { secret, sha256 } = good
    for (const twice of [
      [secret, other.secret, secret],
      [{ sha256 }, other.secret, { sha256: sha256.toUpperCase(), tenant: 'acme' }],
      [secret, other.secret, { sha256 }],
    ]) {
      expect(reported(fault(twice))).toContain('secrets[2] is the same as secrets[0]')
    }
  })

  it.each<[keyof AppSecretDigest, unknown, string]>([
    ['id', '', 'is an empty string; must be'],
    ['id', 'with space', 'must be'],
    ['id', 'x'.repeat(201), 'must be'],
    ['id', 7, 'is a number; must be'],
    ['tenant', '', 'is an empty string; must be'],
    ['tenant', 'a\nb', 'must be'],
    ['notAfter', 'soon', 'must be a Date'],
    ['notAfter', '2027-01-31', 'must be a Date'],
    ['notAfter', '2027-01-31T00:00:00', 'must be a Date'],
    ['notAfter', '2027-02-30T00:00:00Z', 'must be a Date'],
    ['notAfter', '2027-01-31T25:00:00Z', 'must be a Date'],
    ['notAfter', 1_800_000_000, 'is 1800000000; must be a Date'],
    ['notAfter', Number.NaN, 'is NaN; must be a Date'],
    ['notAfter', Number.POSITIVE_INFINITY, 'is Infinity; must be a Date'],
    ['notAfter', new Date(Number.NaN), 'is an invalid Date; must be a Date'],
    ['notAfter', null, 'is null; must be a Date'],
    ['notAfter', true, 'is true; must be a Date'],
  ])('appSecrets refuses an invalid %s: %o', (name, value, message) => {
    expect(reported(fault([{ sha256: good.sha256, [name]: value }]))).toContain(`secrets[0].${name} ${message}`)
  })

  it('appSecrets lists all problems at once', () => {
    const error = fault([undefined, 'x', { sha256: 'x', id: '', tenant: '', notAfter: 'x' }])
    expect(error.problems.map(({ field }) => field)).toEqual([
      'secrets[0]',
      'secrets[1]',
      ...['sha256', 'id', 'notAfter', 'tenant'].map((name) => `secrets[2].${name}`),
    ])
  })

  it('appSecrets never shows a secret', () => {
    const spoiled = good.secret.slice(0, -1)
    const canary = 'canary-7f3a'
    for (const error of [
      fault([spoiled, canary, `${good.secret} `]),
      fault([good.secret, good.secret]),
      fault([{ sha256: canary, id: `${canary} `, tenant: `${canary} `, notAfter: canary }]),
      fault(good.secret),
    ]) {
      const shown = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error)
      expect(shown).not.toContain(spoiled)
      expect(shown).not.toContain(good.secret.slice(8, 38))
      expect(shown).not.toContain(canary)
    }
  })
})
