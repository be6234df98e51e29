import { describe, expect, it } from 'vitest'
import { text } from './compile.ts'

const safeUrl = (url: unknown) => text('{{ data.url | safe_url }}', { url })

describe('safe_url', () => {
  it.each([
    ['https://shop.example/a?b=1&c=2#d', 'https://shop.example/a?b=1&c=2#d'],
    ['http://shop.example', 'http://shop.example/'],
    ['mailto:ada@example.com?subject=Hi', 'mailto:ada@example.com?subject=Hi'],
    ['  HTTPS://Shop.Example/\t\n', 'https://shop.example/'],
    ['https://shop.example/"><script>', 'https://shop.example/%22%3E%3Cscript%3E'],
  ])('safe_url returns %j as parsed', async (given, url) => {
    expect(await safeUrl(given)).toBe(url)
  })

  it.each([
    ...['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', '\u0001javascript:alert(1)'],
    ...['java\tscript:alert(1)', 'java\r\nscript:alert(1)', 'javascript\u00a0:alert(1)', 'javascript&colon;alert(1)'],
    ...['javascript&#58;alert(1)', '&#106;avascript:alert(1)', 'javascript%3Aalert(1)', 'ｊavascript:alert(1)'],
    ...['data:text/html,<script>alert(1)</script>', 'vbscript:msgbox', 'file:///etc/passwd', 'blob:https://a/1'],
    ...['view-source:https://a', '//evil.example', '/relative', 'x', '', 'https://', 'http://[', 'ftp://a'],
  ])('safe_url returns # for %j', async (given) => {
    expect(await safeUrl(given)).toBe('#')
  })

  it('the result of safe_url is escaped like any other output', async () => {
    const html = (url: unknown) => text('<a href="{{ data.url | safe_url }}">', { url }, 'html')
    expect(await html('https://shop.example/?a=1&b=2')).toBe('<a href="https://shop.example/?a=1&amp;b=2">')
    for (const url of ['javascript:alert(1)', null, 7]) expect(await html(url)).toBe('<a href="#">')
  })
})
