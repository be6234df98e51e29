import { crc32 as zlibCrc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { base62, composeAppSecret, crc32, isAppSecret, isEnv, randomBase62 } from '../../src/auth/app-secret.ts'
import { fc } from '../support/properties.ts'

const RANDOM = '0123456789abcdefghijABCDEFGHIJ'

describe('an application secret', () => {
  it('An application secret ends with the CRC-32 of the rest, in base 62', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    let rest = zlibCrc32(`sp_live_${RANDOM}`)
    let checksum = ''
    for (let place = 0; place < 6; place++, rest = Math.floor(rest / 62)) checksum = digits.charAt(rest % 62) + checksum
    expect(composeAppSecret('live', RANDOM)).toBe(`sp_live_${RANDOM}${checksum}`)
  })

  it('An application secret is well-formed for every env and every random part', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9]{1,16}$/), fc.stringMatching(/^[0-9A-Za-z]{30}$/), (env, random) => {
        expect(isEnv(env)).toBe(true)
        expect(isAppSecret(composeAppSecret(env, random))).toBe(true)
      }),
    )
  })

  it('An application secret with one changed character is malformed', () => {
    const secret = composeAppSecret('live', RANDOM)
    for (let index = 0; index < secret.length; index++) {
      for (const other of ['0', 'Q', 'z', '_', '!', ' ', '\n', 'é']) {
        if (secret[index] === other) continue
        expect(isAppSecret(secret.slice(0, index) + other + secret.slice(index + 1))).toBe(false)
      }
    }
  })

  it('An application secret is malformed with swapped, missing or additional characters', () => {
    const secret = composeAppSecret('live', RANDOM)
    for (let index = 0; index < secret.length - 1; index++) {
      const [left = '', right = ''] = secret.slice(index, index + 2)
      if (left !== right) {
        expect(isAppSecret(secret.slice(0, index) + right + left + secret.slice(index + 2))).toBe(false)
      }
      expect(isAppSecret(secret.slice(0, index))).toBe(false)
    }
    for (const added of [`${secret}0`, `0${secret}`, `${secret}\n`, ` ${secret}`, secret + secret]) {
      expect(isAppSecret(added)).toBe(false)
    }
  })

  it('The env of an application secret has 1 to 16 lower-case letters and digits', () => {
    expect(isAppSecret(composeAppSecret('a', RANDOM))).toBe(true)
    expect(isAppSecret(composeAppSecret('a'.repeat(16), RANDOM))).toBe(true)
    for (const env of ['', 'a'.repeat(17), 'Live', 'li_ve', 'lïve', 'live ']) {
      expect(isEnv(env)).toBe(false)
      expect(isAppSecret(composeAppSecret(env, RANDOM))).toBe(false)
    }
  })
})

describe('the checksum', () => {
  it("The checksum is zlib's CRC-32", () => {
    expect(crc32('123456789', 9)).toBe(0xcbf43926)
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 80 }), (text) => {
        expect(crc32(text, text.length)).toBe(zlibCrc32(text))
      }),
    )
  })

  it('The checksum is padded to its full width', () => {
    expect(base62(0, 6)).toBe('000000')
    expect(base62(61, 6)).toBe('00000z')
    expect(base62(62, 6)).toBe('000010')
    expect(base62(2 ** 32 - 1, 6)).toBe('4gfFC3')
  })
})

describe('random base 62', () => {
  it('randomBase62 draws every digit equally often', () => {
    const counts = new Map<string, number>()
    const draws = 62 * 2_000
    for (const digit of randomBase62(draws)) counts.set(digit, (counts.get(digit) ?? 0) + 1)
    expect(counts.size).toBe(62)
    // Without rejection the first 8 digits would occur 25 % more often: 2,422 times. 8 sigma is 355.
    for (const count of counts.values()) expect(Math.abs(count - 2_000)).toBeLessThan(355)
  })

  it('randomBase62 discards bytes that would favour some digits', () => {
    const original = crypto.getRandomValues
    crypto.getRandomValues = <T extends ArrayBufferView | null>(array: T): T => {
      if (array instanceof Uint8Array) for (const index of array.keys()) array[index] = 255 - (index % 64)
      return array
    }
    try {
      // 255 to 248 are discarded; 247 is 61 modulo 62.
      expect(randomBase62(3)).toBe('zyx')
    } finally {
      crypto.getRandomValues = original
    }
  })
})
