import { describe, expect, it } from 'vitest'
import { fc, runs } from '../support/properties.ts'
import { text } from './compile.ts'

const safeUrl = (url: unknown) => text('{{ data.url | safe_url }}', { url })
const link = (url: unknown) => text('<a href="{{ data.url | safe_url }}">', { url }, 'html')

const SCRIPTS = [
  ...['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', '\u0001javascript:alert(1)'],
  ...['java\tscript:alert(1)', 'java\r\nscript:alert(1)', 'javascript\u00a0:alert(1)', 'javascript&colon;alert(1)'],
  ...['javascript&#58;alert(1)', '&#106;avascript:alert(1)', 'javascript%3Aalert(1)', '\uff4aavascript:alert(1)'],
  ...['javascript\uff1aalert(1)', 'java\u017fcript:alert(1)', 'java\u0000script:alert(1)', 'java\u00adscript:alert(1)'],
  ...['\u200bjavascript:alert(1)', '\u202ejavascript:alert(1)', '\ufeffjavascript:alert(1)', 'javascript\t:alert(1)'],
  ...['javascript://shop.example/%0aalert(1)', 'javascript:https://shop.example', 'feed:javascript:alert(1)'],
  ...['&Tab;javascript:alert(1)', 'java&NewLine;script:alert(1)', '&#x6A;avascript:alert(1)', '\\javascript:alert(1)'],
]

describe('safe_url', () => {
  it.each([
    ['https://shop.example/a?b=1&c=2#d', 'https://shop.example/a?b=1&c=2#d'],
    ['http://shop.example', 'http://shop.example/'],
    ['mailto:ada@example.com?subject=Hi', 'mailto:ada@example.com?subject=Hi'],
    ['mailto:ada@example.com onclick=alert(1)', 'mailto:ada@example.com%20onclick=alert(1)'],
    ['  HTTPS://Shop.Example/\t\n', 'https://shop.example/'],
    ['https://shop.example/"><script>', 'https://shop.example/%22%3E%3Cscript%3E'],
  ])('safe_url returns %j as parsed', async (given, url) => {
    expect(await safeUrl(given)).toBe(url)
  })

  it.each([
    ...SCRIPTS,
    ...['data:text/html,<script>alert(1)</script>', 'vbscript:msgbox', 'file:///etc/passwd', 'blob:https://a/1'],
    ...['view-source:https://a', '//evil.example', '/relative', 'x', '', 'https://', 'http://[', 'ftp://a'],
  ])('safe_url returns # for %j', async (given) => {
    expect(await safeUrl(given)).toBe('#')
  })

  it.each(SCRIPTS)('The href of a link to %j is #', async (given) => {
    expect(await link(given)).toBe('<a href="#">')
  })

  it('The result of safe_url is escaped like any other output', async () => {
    expect(await link('https://shop.example/?a=1&b=2')).toBe('<a href="https://shop.example/?a=1&amp;b=2">')
    for (const url of [null, 7]) expect(await link(url)).toBe('<a href="#">')
  })

  it('safe_url returns # or an http, https or mailto URL for any spelling of any scheme', async () => {
    const scheme = fc.constantFrom('javascript', 'vbscript', 'data', 'file', 'http', 'https', 'mailto')
    const ignored = fc.constantFrom('', '', '', '\t', '\n', '\r')
    const noise = fc.constantFrom(' ', '\f', '\u0000', '\u00a0', '\u2028')
    const letter = (char: string) =>
      fc.oneof(
        { weight: 30, arbitrary: fc.tuple(fc.constantFrom(char, char.toUpperCase()), ignored) },
        { weight: 1, arbitrary: fc.tuple(fc.constantFrom(entity(char), percent(char), fullWidth(char)), noise) },
      )
    const spelling = fc
      .tuple(
        fc.constantFrom('', ' ', '\u0001', '\u00a0', '\n'),
        scheme,
        fc.constantFrom('', '/', '//', '\\\\'),
        fc.string(),
      )
      .chain(([start, name, slashes, rest]) =>
        fc.tuple(...[...name, ':'].map(letter)).map((letters) => [start, ...letters.flat(), slashes, rest].join('')),
      )
    await fc.assert(
      fc.asyncProperty(spelling, async (given) => {
        expect(await safeUrl(given)).toMatch(/^(?:#|https?:\/\/\S+|mailto:\S*)$/)
        expect(await link(given)).toMatch(/^<a href="(?:#|(?:https?:\/\/|mailto:)[^\s"<>]*)">$/)
      }),
      { numRuns: runs(2_000) },
    )
  })
})

const entity = (char: string): string => `&#${char.charCodeAt(0)};`
const percent = (char: string): string => `%${char.charCodeAt(0).toString(16)}`
const fullWidth = (char: string): string => String.fromCodePoint(char.charCodeAt(0) + 0xfee0)
