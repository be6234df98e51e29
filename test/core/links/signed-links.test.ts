import { describe, expect, it } from 'vitest'
import { linkBaseUrl, type SignedLinks, signedLinks } from '../../../src/core/links/signed-links.ts'
import { keysOf } from './link-keys.ts'

const KEYS = keysOf('k2', 'k1')
const PATH = '/api/outbound/unsubscribe/'
const TEXTS = ['acme', 'email', 'x', 'news']

const linksAt = (baseUrl: string): SignedLinks => signedLinks({ baseUrl, keys: KEYS })

describe('signed links', () => {
  it.each([
    ['https://app.example', 'https://app.example/api/outbound/unsubscribe/'],
    ['https://app.example/', 'https://app.example/api/outbound/unsubscribe/'],
    ['https://app.example:8443/notify/v1/', 'https://app.example:8443/notify/v1/api/outbound/unsubscribe/'],
  ])('A link below %s has a token that gives its texts back', async (baseUrl, prefix) => {
    const links = linksAt(baseUrl)
    const url = await links.sign('unsubscribe', PATH, TEXTS)
    expect(url.startsWith(prefix)).toBe(true)
    const token = url.slice(prefix.length)
    expect(links.read('unsubscribe', token)).toEqual(TEXTS)
    expect(links.read('approve', token)).toBeUndefined()
    expect(signedLinks({ baseUrl, keys: keysOf('k9') }).read('unsubscribe', token)).toBeUndefined()
  })

  it('Equal input gives the same link, and other input another one', async () => {
    const links = linksAt('https://app.example')
    const url = await links.sign('unsubscribe', PATH, TEXTS)
    expect(await links.sign('unsubscribe', PATH, TEXTS)).toBe(url)
    expect(await links.sign('approve', PATH, TEXTS)).not.toBe(url)
    expect(await links.sign('unsubscribe', PATH, ['acme'])).not.toBe(url)
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
