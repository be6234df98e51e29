import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { call } from '../../support/host-call.ts'
import { TOKEN } from '../../support/host-endpoints.ts'
import type { Host } from '../../support/hosts/host.ts'
import { BATCH, DISPATCH, LIMIT, RUN } from './paths.ts'
import { starterOf } from './started.ts'

/** What is read of a body, however it comes, and up to where. */
export function testBodies(host: Host): void {
  const start = starterOf(host)

  describe('bodies', () => {
    test('are answered with as many bytes as the Content-Length says', async () => {
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

    test('come chunked, cut through a character', async () => {
      const { url } = await start()
      const bytes = Buffer.from('{"name":"🚢"}')
      const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte))
      expect((await call(url + RUN, { body: pieces })).json.body).toEqual({ name: '🚢' })
    })

    test('may begin with a byte order mark', async () => {
      const { url } = await start()
      expect((await call(url + RUN, { body: '\uFEFF{"a":1}' })).json.body).toEqual({ a: 1 })
    })

    test.each([
      ['a cut one', '{"secret":"canary"', 'The body is not well-formed JSON.'],
      ['words', 'canary', 'The body is not well-formed JSON.'],
      ['two values', '{} {}', 'The body is not well-formed JSON.'],
      ['bytes that are not UTF-8', Uint8Array.of(0x22, 0xc3, 0x28, 0x22), 'The body is not valid UTF-8.'],
      ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 'The body is not valid UTF-8.'],
      ['nothing', '', 'The body is empty. Send a JSON object.'],
    ])('are refused with 400 and not quoted: %s', async (_name, body, detail) => {
      const { url, endpoints } = await start()
      const reply = await call(url + RUN, { body })
      expect(reply.status).toBe(400)
      expect(reply.json).toMatchObject({ code: 'invalid_json', detail })
      expect(reply.text).not.toContain('canary')
      expect(endpoints.handled).toEqual([])
    })

    test.each([{ 'content-length': 0 }, { 'transfer-encoding': 'chunked' }, {}])(
      'that are not there are empty ones: %j',
      async (headers) => {
        const { url } = await start()
        const reply = await call(url + RUN, { headers })
        expect(reply.json).toMatchObject({ status: 400, code: 'invalid_json', detail: /empty/ })
      },
    )

    test.each([DISPATCH, RUN, BATCH] as const)('of %s are taken up to the limit and not a byte more', async (path) => {
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

    test('that say that they are too large are not waited for', async () => {
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
      test('that the host has parsed are taken as they are', async () => {
        const { url } = await start({ parser: true })
        expect((await call(url + RUN, { body: '{"a":"ü"}' })).json.body).toEqual({ a: 'ü' })
        expect((await call(url + DISPATCH, { body: ['{"a":', '[1]}'] })).json.body).toEqual({ a: [1] })
      })

      test('that the host would not parse are refused by their type', async () => {
        const { url } = await start({ parser: true })
        const reply = await call(url + RUN, { headers: { 'content-type': 'text/x-other' }, body: 'hello' })
        expect(reply.status).toBe(415)
      })
    } else {
      test.skip(`that the host has parsed: ${parser.none}`)
    }
  })
}
