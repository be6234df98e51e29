import { describe, expect, it } from 'vitest'
import { linkBaseUrl, linkService } from '../../../src/core/links/link-service.ts'
import { readLink } from '../../../src/core/links/link-token.ts'
import { keysOf, LINK } from './link-keys.ts'

const KEYS = keysOf('k2', 'k1')
const { tenant, channel, category } = LINK
const TARGET = { tenant, channel, category, address: 'jane@example.com' }

function serviceAt(baseUrl: string, asked: unknown[] = []) {
  return linkService({
    ...{ baseUrl, keys: KEYS },
    addressKeyOf(...of) {
      asked.push(of)
      return LINK.addressKey
    },
  })
}

describe('the links of a recipient', () => {
  it.each([
    ['https://app.example', 'https://app.example/api/outbound/unsubscribe/'],
    ['https://app.example/', 'https://app.example/api/outbound/unsubscribe/'],
    ['https://app.example:8443/notify/v1/', 'https://app.example:8443/notify/v1/api/outbound/unsubscribe/'],
  ])('An unsubscribe link below %s has a token with the address key', async (baseUrl, prefix) => {
    const asked: unknown[] = []
    const url = await serviceAt(baseUrl, asked).unsubscribeUrl(TARGET)
    expect(url.startsWith(prefix)).toBe(true)
    expect(readLink(url.slice(prefix.length), KEYS)).toEqual(LINK)
    expect(asked).toEqual([['acme', 'jane@example.com']])
    expect(Buffer.from(url.split('.')[2] ?? '', 'base64url').toString()).not.toContain('jane')
  })

  it('Equal input gives the same link, and other input another one', async () => {
    const service = serviceAt('https://app.example')
    const url = await service.unsubscribeUrl(TARGET)
    expect(await service.unsubscribeUrl(TARGET)).toBe(url)
    for (const other of [{ tenant: 'x' }, { channel: 'sms' }, { category: 'x' }])
      expect(await service.unsubscribeUrl({ ...TARGET, ...other })).not.toBe(url)
  })

  it('The placeholder is a URL of a name that no host has', () => {
    const { unsubscribe } = serviceAt('https://app.example').placeholders
    expect(new URL(unsubscribe).href).toBe(unsubscribe)
    expect(new URL(unsubscribe).hostname).toMatch(/\.invalid$/)
  })
})

describe('the base URL of links', () => {
  it.each([
    'https://app.example',
    'http://localhost:3000',
    'https://app.example/',
    'https://app.example/a/b-c_d.e~f%20/',
    'http://[::1]:8080/x',
    `https://app.example/${'x'.repeat(180)}`,
  ])('%s is accepted', (url) => {
    expect(linkBaseUrl(url, {})).toBeUndefined()
  })

  it.each([
    ...[
      '',
      'app.example',
      '/base',
      'ftp://app.example',
      'javascript:alert(1)',
      'https://',
      'https://[x]/',
      'https://a:99999/',
    ],
    ...['https://u:p@app.example', 'https://app.example/?a=1', 'https://app.example/#a', 'https://app.example//'],
    ...[
      'https://app.example/"',
      "https://app.example/'",
      'https://app.example/<b>',
      'https://app.example/a&b',
      'https://app.example/ a',
    ],
    ...['https://app.example/\n', 'https://bücher.example', `https://app.example/${'x'.repeat(181)}`],
    ...[null, 5, new URL('https://app.example')],
  ])('%j is refused', (url) => {
    expect(linkBaseUrl(url, {})).toContain('must be an https URL')
  })
})
