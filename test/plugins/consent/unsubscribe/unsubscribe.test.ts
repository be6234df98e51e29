import { describe, expect, it } from 'vitest'
import type { OpenRequest } from '../../../../src/core/endpoints.ts'
import { unsubscribeEndpoint } from '../../../../src/plugins/consent/unsubscribe/unsubscribe.ts'
import { asynchronous, keysOf, LINK, unsubscribeToken } from '../../../core/links/link-keys.ts'
import { fc } from '../../../support/properties.ts'
import { endpoint, form, URLENCODED } from './unsubscribing.ts'

const { category: _, ...EVERY } = LINK

/** A multipart body of these fields. */
function multipart(fields: Readonly<Record<string, string>>, boundary = 'b-1'): Partial<OpenRequest> {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return form(`multipart/form-data; boundary=${boundary}`, `${parts.join('')}--${boundary}--\r\n`)
}

describe('reading an unsubscribe link', () => {
  it.each(['GET', 'HEAD'])('%s shows the page and changes nothing', async (method) => {
    const { send, stored } = endpoint()
    const answer = await send({
      method,
      body: new TextEncoder().encode('scope=all'),
      headers: { 'content-type': URLENCODED },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'x-content-type-options': 'nosniff',
    })
    expect(answer.text).toContain('newsletter')
    expect(stored).toEqual([])
  })

  it('The page shows neither the address key nor the token', async () => {
    const { send, deps } = endpoint()
    const { text } = await send()
    expect(text).not.toContain(LINK.addressKey)
    expect(text).not.toContain(await unsubscribeToken(LINK, deps.keys))
  })

  it.each(['PUT', 'DELETE', 'OPTIONS', 'post'])('%s is answered 405 and changes nothing', async (method) => {
    const { send, stored } = endpoint()
    expect(await send({ method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } })
    expect(stored).toEqual([])
  })
})

describe('unsubscribing', () => {
  it.each<[string, Partial<OpenRequest>]>([
    ['one click', form(URLENCODED, 'List-Unsubscribe=One-Click')],
    ['one click as multipart', multipart({ 'List-Unsubscribe': 'One-Click' })],
    ['the button of the page', form(URLENCODED, 'scope=category')],
    ['the button as multipart', multipart({ scope: 'category' })],
    ['an unknown scope', form(URLENCODED, 'scope=none')],
    ['no body', { method: 'POST' }],
    ['an empty form', form(URLENCODED, '')],
    ['JSON', form('application/json', '{"scope":"all"}')],
    ['plain text', form('text/plain', 'scope=all')],
    ['a body without a type', { ...form('', 'scope=all'), headers: {} }],
    ['multipart without a boundary', form('multipart/form-data', 'scope=all')],
    ['malformed multipart', form('multipart/form-data; boundary=b', '--b\r\nscope=all')],
    [
      'cut multipart',
      form('multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="scope"\r\n\r\nal'),
    ],
    ['an empty multipart body', form('multipart/form-data; boundary=b', '')],
    ['bytes that are no text', { ...form(URLENCODED, ''), body: Uint8Array.of(0xff, 0x00, 0xfe) }],
    ['a type with a line break', form(`${URLENCODED};\r\nx: y`, 'scope=all')],
  ])('A POST with %s unsubscribes from the category', async (_, request) => {
    const { send, stored } = endpoint()
    const { status, text } = await send(request)
    expect(status).toBe(200)
    expect(text).toContain('You no longer receive “newsletter”.')
    expect(stored).toEqual([LINK])
  })

  it.each<[string, Partial<OpenRequest>]>([
    ['a form', form(URLENCODED, 'scope=all')],
    ['a form with a charset', form('Application/X-WWW-Form-Urlencoded ; charset=UTF-8', 'a=1&scope=all')],
    ['multipart', multipart({ scope: 'all' })],
    [
      'multipart with a quoted boundary',
      { ...multipart({ scope: 'all' }, 'b'), headers: { 'content-type': 'multipart/form-data; boundary="b"' } },
    ],
    ['a list of headers', { ...form('', 'scope=all'), headers: { 'content-type': [URLENCODED] } }],
  ])('The field scope=all of %s unsubscribes from every category', async (_, request) => {
    const { send, stored } = endpoint()
    const { status, text } = await send(request)
    expect(status).toBe(200)
    expect(text).toContain('You are unsubscribed from everything on this channel.')
    expect(stored).toEqual([EVERY])
    expect(stored[0]).not.toHaveProperty('category')
  })

  it('A repetition is answered alike', async () => {
    const { send, stored } = endpoint()
    const first = await send({ method: 'POST' })
    expect(await send({ method: 'POST' })).toEqual(first)
    expect(stored).toEqual([LINK, LINK])
  })

  it('Any body of any type is answered 200', async () => {
    const types = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.constantFrom(URLENCODED, 'multipart/form-data; boundary=b', 'multipart/form-data; boundary=', 'text/html'),
    )
    await fc.assert(
      fc.asyncProperty(types, fc.uint8Array({ maxLength: 300 }), async (type, body) => {
        const { send, stored } = endpoint()
        expect((await send({ method: 'POST', headers: { 'content-type': type }, body })).status).toBe(200)
        expect(stored).toHaveLength(1)
      }),
    )
  })

  it('After the category, the page offers the rest of the channel; after that, nothing', async () => {
    const { send } = endpoint()
    const shown = await Promise.all([send(), send({ method: 'POST' }), send(form(URLENCODED, 'scope=all'))])
    const buttons = shown.map(({ text }) => [...text.matchAll(/name="scope" value="(\w+)"/g)].map(([, value]) => value))
    expect(buttons).toEqual([['category', 'all'], ['all'], []])
  })
})

describe('a store that fails', () => {
  it('A POST is answered 503 with the form, and reported', async () => {
    const errors: unknown[] = []
    const fault = new Error('connection lost')
    const { send, deps } = endpoint({
      unsubscribe: () => Promise.reject(fault),
      hooks: { onError: (...report) => errors.push(report) },
    })
    const answer = await send({ method: 'POST' })
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1', 'cache-control': 'no-store' } })
    expect(answer.text).toContain('Please try again')
    expect(answer.text).toContain('value="category"')
    expect(errors).toEqual([[fault, { operation: 'store', channel: 'email' }]])
    expect(deps.logger.lines).toMatchObject([
      { level: 'error', event: 'request.failed', fields: { code: 'store_unavailable' } },
    ])
    expect(JSON.stringify(deps.logger.lines)).not.toContain(LINK.addressKey)
  })

  it('A store that throws at once is answered alike', async () => {
    const { send } = endpoint({
      unsubscribe() {
        throw new Error('no store')
      },
    })
    expect(await send({ method: 'POST' })).toMatchObject({ status: 503 })
  })
})

describe('an invalid token', () => {
  it('A forged, cut or extended token has no handler', async () => {
    const { deps } = endpoint()
    const token = await unsubscribeToken(LINK, deps.keys)
    const other = await unsubscribeToken(LINK, keysOf('k9'))
    for (const forged of ['', 'x', other, `${token}A`, token.slice(1), token.slice(0, -1), `k1.${'A'.repeat(90)}`])
      expect(unsubscribeEndpoint(deps)(forged)).toBeUndefined()
  })

  it('With asynchronous HMACs its handler answers 404 and changes nothing', async () => {
    const { deps, send, stored } = endpoint({ keys: asynchronous(keysOf('k1')) })
    const token = await unsubscribeToken(LINK, deps.keys)
    expect(
      await send({ method: 'POST' }, `${token.slice(0, -1)}~`.replace('~', token.endsWith('A') ? 'B' : 'A')),
    ).toMatchObject({
      status: 404,
    })
    expect(stored).toEqual([])
    expect(await send({ method: 'POST' })).toMatchObject({ status: 200 })
    expect(stored).toEqual([LINK])
  })

  it('An HMAC that rejects is answered 503 and reported', async () => {
    const hmac = () => Promise.reject(new Error('no crypto'))
    const { send, deps } = endpoint({ keys: [{ kid: 'k1', hmac }] })
    expect(await send({}, await unsubscribeToken(LINK, keysOf('k1')))).toMatchObject({ status: 503 })
    expect(deps.logger.lines).toMatchObject([{ event: 'request.failed' }])
  })
})
