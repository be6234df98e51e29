import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { call } from '../../support/host-call.ts'
import { TOKEN } from '../../support/host-endpoints.ts'
import type { Host } from '../../support/hosts/host.ts'
import { BATCH, DISPATCH, LIMIT, RUN } from './paths.ts'
import { starterOf } from './started.ts'

/** Tests of request bodies and their size limits. */
export function testBodies(host: Host): void {
  const start = starterOf(host)

  describe('bodies', () => {
    test('An answer has as many bytes as its Content-Length', async () => {
      const { url } = await start()
      for (const [body, value] of [
        ['{"name":"Zoë 🚢"}', { name: 'Zoë 🚢' }],
        ['{', undefined],
      ] as const) {
        const reply = await call(url + RUN, { body })
        expect(reply.json.body).toEqual(value)
        if (host.own?.['sends answers chunked']) expect(reply.headers['transfer-encoding']).toBe('chunked')
        else expect(Number(reply.headers['content-length'])).toBe(reply.bytes.byteLength)
      }
    })

    test('A chunked body cut through a character is read', async () => {
      const { url } = await start()
      const bytes = Buffer.from('{"name":"🚢"}')
      const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte))
      expect((await call(url + RUN, { body: pieces })).json.body).toEqual({ name: '🚢' })
    })

    test('A body may begin with a byte order mark', async () => {
      const { url } = await start()
      expect((await call(url + RUN, { body: '\uFEFF{"a":1}' })).json.body).toEqual({ a: 1 })
    })

    test.each([
      ['cut JSON', '{"secret":"canary"', 'The body is not well-formed JSON.'],
      ['words', 'canary', 'The body is not well-formed JSON.'],
      ['two values', '{} {}', 'The body is not well-formed JSON.'],
      ['bytes that are not UTF-8', Uint8Array.of(0x22, 0xc3, 0x28, 0x22), 'The body is not valid UTF-8.'],
      ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 'The body is not valid UTF-8.'],
      ['an empty body', '', 'The body is empty. Send a JSON object.'],
    ])('A malformed body is refused with 400 and not quoted: %s', async (_name, body, detail) => {
      const { url, endpoints } = await start()
      const reply = await call(url + RUN, { body })
      expect(reply.status).toBe(400)
      expect(reply.json).toMatchObject({ code: 'invalid_json', detail })
      expect(reply.text).not.toContain('canary')
      expect(endpoints.handled).toEqual([])
    })

    test.each([{ 'content-length': 0 }, { 'transfer-encoding': 'chunked' }, {}])(
      'A missing body is refused as empty: %j',
      async (headers) => {
        const { url } = await start()
        const reply = await call(url + RUN, { headers })
        expect(reply.json).toMatchObject({ status: 400, code: 'invalid_json', detail: /empty/ })
      },
    )

    test.each([DISPATCH, RUN, BATCH] as const)('A body of %s is read up to the exact limit', async (path) => {
      const { url, complete } = await start()
      const limit = LIMIT[path]
      const fits = `"${'x'.repeat(limit - 2)}"`
      const over = `"${'x'.repeat(limit - 1)}"`
      expect((await call(url + path, { body: fits })).status).toBeLessThan(300)
      expect((await call(url + path, { body: [fits.slice(0, 9), fits.slice(9)] })).status).toBeLessThan(300)
      for (const body of [over, [over.slice(0, 9), over.slice(9)]]) {
        const reply = await complete(call(url + path, { body }))
        expect(reply.json).toMatchObject({ status: 413, code: 'body_too_large', limit })
        expect(reply.status).toBe(413)
      }
    })

    test('A body with a Content-Length over the limit is refused unread', async () => {
      const { url, endpoints } = await start()
      const headers = { authorization: TOKEN, 'content-type': 'application/json', expect: '100-continue' }
      const status = await new Promise((resolve, reject) => {
        const sent = request(url + RUN, {
          method: 'POST',
          agent: false,
          headers: { ...headers, 'content-length': 65_537 },
        })
        sent.on('response', (answer) => {
          resolve(answer.statusCode)
          sent.destroy()
        })
        sent.on('error', reject)
        sent.flushHeaders()
      })
      expect(status).toBe(413)
      expect(endpoints.handled).toEqual([])
    })

    const { parser } = host
    if (parser === 'first') {
      test('A body parsed by the host is used as it is', async () => {
        const { url } = await start({ parser: true })
        expect((await call(url + RUN, { body: '{"a":"ü"}' })).json.body).toEqual({ a: 'ü' })
        expect((await call(url + DISPATCH, { body: ['{"a":', '[1]}'] })).json.body).toEqual({ a: [1] })
      })

      test('A body that the host parser skips is refused by its type', async () => {
        const { url } = await start({ parser: true })
        const reply = await call(url + RUN, { headers: { 'content-type': 'text/x-other' }, body: 'hello' })
        expect(reply.status).toBe(415)
      })
    } else {
      test.skip(`A body parsed by the host is not tested: ${parser.none}`)
    }
  })
}
