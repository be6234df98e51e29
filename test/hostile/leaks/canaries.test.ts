import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createCanaries } from './canaries.ts'

const canaries = createCanaries()
const word = canaries.word('word')
const phone = canaries.phone('phone')
const key = canaries.watch('key', 'Q2FuYXJ5IG9mIGEga2V5')

const FORMS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'in upper case': (text) => text.toUpperCase(),
  'in lower case': (text) => text.toLowerCase(),
  'cut after 16 characters': (text) => text.slice(0, 16),
  'within an address': (text) => `"Jane" <${text}@example.com>`,
  'URL-encoded': (text) => encodeURIComponent(`<${text}&é>`),
  'URL-encoded throughout': (text) =>
    [...text].map((one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`).join(''),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify({ text: `"${text}\n"` })),
  'HTML-escaped': (text) => `&lt;${text}&quot;`,
  'in hex': (text) => Buffer.from(`x${text}x`).toString('hex'),
  'in base64': (text) => Buffer.from(text).toString('base64'),
  'in base64, one byte on': (text) => Buffer.from(`1${text}!`).toString('base64'),
  'in base64url, two bytes on': (text) => Buffer.from(`12${text}??`).toString('base64url'),
  'as its digest': (text) => createHash('sha256').update(text).digest('hex'),
  'as an inspected error': (text) => inspect(new Error('no', { cause: new Error(text) }), { depth: 10 }),
}

describe('a canary', () => {
  it.each(Object.entries(FORMS))('A canary is found %s', (_, form) => {
    expect(canaries.in(`before ${form(word)} after`)).toEqual(['word'])
    expect(canaries.in(`before ${form(phone.slice(1))} after`)).toEqual(['phone'])
    expect(canaries.in(`before ${form(key)} after`)).toContain('key')
  })

  it('A canary is found neither in other canaries nor in a short part of itself', () => {
    const other = createCanaries()
    expect(canaries.in(`${other.word('word')} ${other.phone('phone')} ${word.slice(0, 15)}`)).toEqual([])
  })
})
