import { expect, it } from 'vitest'
import { visible } from '../../../../src/plugins/approvals/page/visible-text.ts'
import { fc } from '../../../support/properties.ts'
import { unescaped } from './approvals.ts'

const MARK = /<span class="mark">U\+([0-9A-F]{4,6})<\/span>/g

it.each([
  ...[0x0, 0x7, 0x8, 0xb, 0xd, 0x1b, 0x7f, 0x85, 0x9f],
  ...[0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x200e, 0x200f, 0x61c],
  ...[0xad, 0x200b, 0x2028, 0x2029, 0x2060, 0x3164, 0xfeff, 0xfff9, 0xe0041, 0xe0100],
])('The code point %i stands in the text as such', (code) => {
  const mark = `<span class="mark">U+${code.toString(16).toUpperCase().padStart(4, '0')}</span>`
  expect(String(visible(`a${String.fromCodePoint(code)}b`))).toBe(`a${mark}b`)
})

it.each(['a\nb\tc', 'می‌خواهم', '👨‍👩‍👧', '❤️', 'שלום', 'ünï'])('A usual text stays as it is: %s', (text) => {
  expect(String(visible(text))).toBe(text)
})

it('Line breaks of Windows are line breaks, and markup is text', () => {
  expect(String(visible('a\r\nb\rc<b>'))).toBe('a\nb<span class="mark">U+000D</span>c&lt;b&gt;')
})

it('Nothing of any text is lost', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const read = String(visible(text)).replaceAll(MARK, (_, code: string) =>
        String.fromCodePoint(Number.parseInt(code, 16)),
      )
      expect(unescaped(read)).toBe(text.replaceAll('\r\n', '\n'))
    }),
  )
})
