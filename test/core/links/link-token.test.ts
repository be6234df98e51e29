import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readLinkToken, linkToken as signToken } from '../../../src/core/links/link-token.ts'
import type { ReadyHashKeys } from '../../../src/options/hash-keys.ts'
import { fc } from '../../support/properties.ts'
import { asynchronous, keysOf, LINK as TARGET } from './link-keys.ts'

const KEYS = keysOf('k2', 'k1')

const visible = fc.stringMatching(/^[\x21-\x7e]{1,200}$/)
const payloads: fc.Arbitrary<readonly string[]> = fc.tuple(
  fc.oneof(visible, fc.string({ minLength: 1, maxLength: 20, unit: 'binary' })),
  fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/),
  fc.stringMatching(/^[\w-]{1,32}\.[\w-]{43}$/),
  fc.stringMatching(/^[A-Za-z0-9._-]{1,256}$/),
)

const PURPOSE = 'unsubscribe'
const LINK = Object.values(TARGET)
const linkToken = (texts: readonly string[], keys: ReadyHashKeys) => signToken(PURPOSE, texts, keys)
const readLink = (token: string, keys: ReadyHashKeys) => readLinkToken(PURPOSE, token, keys)

const CHARACTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n%é']

/** A token for a text, signed by the first key as another purpose or version would. */
function signed(payload: unknown, { purpose = 'sallyport:link:unsubscribe:v1', kid = 'k2' } = {}): string {
  const key = createHash('sha256').update(kid).digest()
  const start = `${kid}.${Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)).toString('base64url')}`
  return `${start}.${createHmac('sha256', key).update(`${purpose}\n${start}`).digest('base64url')}`
}

describe('a link token', () => {
  it('A token gives its payload back, in both kinds of HMAC', async () => {
    await fc.assert(
      fc.asyncProperty(payloads, async (payload) => {
        const token = await linkToken(payload, KEYS)
        expect(token).toMatch(/^[A-Za-z0-9_.-]{1,1024}$/)
        expect(readLink(token, KEYS)).toEqual(payload)
        expect(await linkToken(payload, asynchronous(KEYS))).toBe(token)
        expect(await readLink(token, asynchronous(KEYS))).toEqual(payload)
      }),
    )
  })

  it('The longest names fit in 1,024 characters; longer ones are refused', async () => {
    const addressKey = `${'a'.repeat(32)}.${'x'.repeat(43)}`
    const longest = ['"'.repeat(200), 'c'.repeat(64), addressKey, 'e'.repeat(100)]
    const keys = keysOf('k'.repeat(32))
    expect(readLink(await linkToken(longest, keys), keys)).toEqual(longest)
    const byEventType = ['t'.repeat(200), 'c'.repeat(64), addressKey, 'e'.repeat(256)]
    expect(readLink(await linkToken(byEventType, keys), keys)).toEqual(byEventType)
    await expect(linkToken(['t'.repeat(1_000)], keys)).rejects.toThrow(RangeError)
  })

  it('A token is signed by the first key, and holds its id, the payload and the MAC', async () => {
    expect(await linkToken(LINK, KEYS)).toBe(signed(['acme', 'email', TARGET.addressKey, 'newsletter']))
  })

  it('A retired key verifies; a removed one does not', async () => {
    const token = await linkToken(LINK, keysOf('k1'))
    expect(readLink(token, keysOf('k2', 'k1'))).toEqual(LINK)
    expect(readLink(token, keysOf('k3', 'k2', 'k1'))).toEqual(LINK)
    expect(readLink(token, keysOf('k2'))).toBeUndefined()
  })

  it('Keys of the same material and different ids verify only their own tokens', async () => {
    const [key] = keysOf('k1')
    const token = await linkToken(LINK, [key])
    expect(readLink(token.replace(/^k1/, 'k2'), [{ ...key, kid: 'k2' }, key])).toBeUndefined()
  })
})

describe('a forged link token', () => {
  it('A token with any changed character is refused', async () => {
    const token = await linkToken(LINK, KEYS)
    for (let index = 0; index < token.length; index++) {
      for (const character of CHARACTERS) {
        if (token[index] === character) continue
        expect(readLink(token.slice(0, index) + character + token.slice(index + 1), KEYS)).toBeUndefined()
      }
    }
  })

  it('A token that is cut, extended, or lacks a character is refused', async () => {
    await fc.assert(
      fc.asyncProperty(payloads, fc.nat(), fc.constantFrom(...CHARACTERS), async (payload, at, character) => {
        const token = await linkToken(payload, KEYS)
        const index = at % token.length
        const forged = [
          token.slice(0, index),
          token.slice(index + 1),
          token.slice(0, index) + token.slice(index + 1),
          token.slice(0, index) + character + token.slice(index),
          token + character,
        ]
        for (const text of forged) expect(text === token ? undefined : readLink(text, KEYS)).toBeUndefined()
      }),
    )
  })

  it('No text gives a payload or an error', async () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
        expect(readLink(text, KEYS)).toBeUndefined()
        expect(readLink(`k1.${text}`, KEYS)).toBeUndefined()
        expect(readLink(`k1.${text}.${'x'.repeat(43)}`, KEYS)).toBeUndefined()
      }),
    )
  })

  it.each([
    ['another purpose', signed(LINK, { purpose: 'sallyport:link:approve:v1' })],
    ['another version', signed(LINK, { purpose: 'sallyport:link:unsubscribe:v2' })],
    ['no purpose', signed(LINK, { purpose: '' })],
    ['an unknown key', signed(LINK, { kid: 'k9' })],
  ])('A token of %s is refused', (_, token) => {
    expect(readLink(token, KEYS)).toBeUndefined()
  })

  it.each([
    ['no JSON', 'acme'],
    ['an object', TARGET],
    ['a number', ['acme', 'email', 'x', 5]],
  ])('A signed payload that is %s is refused', (_, payload) => {
    expect(readLink(signed(payload), KEYS)).toBeUndefined()
  })

  it('The names of every object are no key ids', () => {
    for (const kid of ['__proto__', 'constructor', 'undefined'])
      expect(readLink(signed(LINK, { kid }), KEYS)).toBeUndefined()
  })

  it('A text of a million characters is refused without being read', () => {
    let hashed = 0
    const [key] = keysOf('k1')
    const hmac = (text: string) => {
      hashed++
      return key.hmac(text)
    }
    const counting = [{ kid: 'k1', hmac }] as const
    for (const text of ['k1.'.repeat(400_000), `k1.${'A'.repeat(1e6)}.${'A'.repeat(43)}`, '-'.repeat(1e6)])
      expect(readLink(text, counting)).toBeUndefined()
    expect(hashed).toBe(0)
  })
})
