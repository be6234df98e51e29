import { Agent, type OutgoingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import { call, half } from '../../support/host-call.ts'
import { HOST_ANSWER, type Host } from '../../support/hosts/host.ts'
import { fc } from '../../support/properties.ts'
import { FEEDBACK, UNSUBSCRIBE } from './paths.ts'
import { starterOf } from './started.ts'

const MIB = 1_048_576
const NO_TOKEN = { authorization: undefined, 'content-type': undefined }

/** Tests of endpoints without a bearer token. */
export function testOpenEndpoints(host: Host): void {
  const start = starterOf(host)

  describe('open endpoints', () => {
    test.each([
      ['feedback', 'POST', FEEDBACK, ['POST'], 'bytes'],
      ['unsubscribe', 'POST', UNSUBSCRIBE, ['GET', 'HEAD', 'POST'], 'bytes'],
      ['unsubscribe', 'GET', UNSUBSCRIBE, ['GET', 'HEAD', 'POST'], ''],
      ['unsubscribe', 'HEAD', UNSUBSCRIBE, ['GET', 'HEAD', 'POST'], ''],
    ])('The endpoint %s answers %s', async (action, method, path, methods, text) => {
      const { url, endpoints } = await start()
      const reply = await call(`${url}${path}?a=%C3%A4&b=1`, {
        ...{ method, headers: NO_TOKEN },
        ...(method === 'POST' && { body: text }),
      })
      expect([reply.status, reply.headers['x-answered']]).toEqual([200, 'yes'])
      expect(reply.text).toBe(method === 'HEAD' ? '' : '{"open":true}')
      const [opened] = endpoints.opened
      expect(opened).toMatchObject({ action, method, url: `${path}?a=%C3%A4&b=1`, parameter: 'a b' })
      expect(Buffer.from(opened?.body ?? []).toString()).toBe(text)
      for (const wrong of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (methods.includes(wrong)) continue
        const refused = await call(url + path, { method: wrong, headers: NO_TOKEN })
        expect([refused.status, refused.headers.allow]).toEqual([405, methods.join(', ')])
      }
      expect(endpoints.opened).toHaveLength(1)
    })

    test('The exact bytes of a body arrive, with a length or chunked', async () => {
      const { url, endpoints } = await start()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const bytes = fc.uint8Array({ maxLength: 40_000, size: 'max' })
      const kinds = fc.constantFrom(undefined, 'application/json', 'multipart/form-data; boundary=x', 'text/plain')
      await fc.assert(
        fc.asyncProperty(bytes, fc.nat(), kinds, fc.boolean(), async (sent, at, type, isChunked) => {
          const cut = at % (sent.length + 1)
          const body = isChunked ? [sent.subarray(0, cut), sent.subarray(cut)] : sent
          const headers = { ...NO_TOKEN, 'content-type': type }
          expect((await call(url + FEEDBACK, { agent, headers, body })).status).toBe(200)
          expect(Buffer.compare(endpoints.opened.pop()?.body ?? Buffer.alloc(1), sent)).toBe(0)
        }),
        // All of them each time: the files of the hosts do not run in the second part.
        { numRuns: 60 },
      )
      agent.destroy()
    })

    test.each([
      [FEEDBACK, MIB],
      [UNSUBSCRIBE, 65_536],
    ])('The body of %s is read up to the exact limit of %i bytes', async (path, limit) => {
      const { url, endpoints, complete } = await start()
      const fits = Buffer.alloc(limit, 0xff)
      const over = Buffer.alloc(limit + 1, 0xff)
      for (const body of [fits, [fits.subarray(0, 9), fits.subarray(9)], Buffer.alloc(0)]) {
        expect((await call(url + path, { headers: NO_TOKEN, body })).status).toBe(200)
      }
      expect(endpoints.opened.map(({ body }) => body.byteLength)).toEqual([limit, limit, 0])
      expect(Buffer.compare(endpoints.opened[1]?.body ?? over, fits)).toBe(0)
      for (const body of [over, [over.subarray(0, 9), over.subarray(9)]]) {
        const reply = await complete(call(url + path, { headers: NO_TOKEN, body }))
        expect(reply.json).toMatchObject({ status: 413, code: 'body_too_large', limit })
      }
      expect(endpoints.opened).toHaveLength(3)
    })

    test('All headers arrive, with names in lower case', async () => {
      const { url, endpoints } = await start()
      const headers = { ...NO_TOKEN, 'X-Twilio-Signature': 'a+b=', 'svix-id': 'msg_1', 'X_odd.name': 'x' }
      await call(url + FEEDBACK, { headers: { ...headers, authorization: 'Basic eDp5' }, body: 'a' })
      expect(endpoints.opened[0]?.headers).toMatchObject({
        authorization: 'Basic eDp5',
        'x-twilio-signature': 'a+b=',
        'svix-id': 'msg_1',
        'x_odd.name': 'x',
        'content-length': '1',
      })
    })

    test('An answer of the handler is sent as it is', async () => {
      const { url, endpoints } = await start()
      const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'" }
      endpoints.openAnswer = { status: 403, headers, text: '<p>Zoë 🚢</p>' }
      const [get, head] = [
        await call(url + UNSUBSCRIBE, { method: 'GET' }),
        await call(url + UNSUBSCRIBE, { method: 'HEAD' }),
      ]
      expect([get.status, get.text, head.status, head.text]).toEqual([403, '<p>Zoë 🚢</p>', 403, ''])
      expect(get.headers).toMatchObject(headers)
      expect(head.headers).toMatchObject(headers)
      expect(get.headers['cache-control']).toBeUndefined()
    })

    test('An answer 204 has no body and no length', async () => {
      const { url, endpoints } = await start()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      endpoints.openAnswer = { status: 204, headers: { 'x-answered': 'yes' }, text: '' }
      for (let times = 0; times < 2; times++) {
        const { status, text, headers } = await call(url + FEEDBACK, { agent, headers: NO_TOKEN, body: 'a' })
        expect([status, text, headers['content-length'], headers['x-answered']]).toEqual([204, '', undefined, 'yes'])
      }
      agent.destroy()
    })
  })

  describe('the parameter of an open endpoint', () => {
    test.each([
      ['/%F0%9F%9A%A2', '🚢'],
      ['/a%2Fb%3F', 'a/b?'],
      ['/~a.b-c_d', '~a.b-c_d'],
      [`/${'x'.repeat(2_048)}`, 'x'.repeat(2_048)],
    ])('The parameter of %s is decoded', async (encoded, parameter) => {
      const { url, endpoints } = await start()
      await call(url + FEEDBACK.replace('/a%20b', encoded), { headers: NO_TOKEN, body: 'a' })
      expect(endpoints.opened.map((opened) => opened.parameter)).toEqual([parameter])
    })

    test.each(['', '/', '//', '/a/b', '/a//', `/${'x'.repeat(2_049)}`, '/%', '/%ff'])(
      'A wrong parameter reaches no handler: %s',
      async (encoded) => {
        const { url, endpoints } = await start()
        const { status, text } = await call(url + FEEDBACK.replace('/a%20b', encoded), { headers: NO_TOKEN, body: 'a' })
        expect(endpoints.opened).toEqual([])
        if (status === 200) expect(text).toBe(HOST_ANSWER)
      },
    )

    test('One trailing slash is ignored', async () => {
      const { url, endpoints } = await start()
      const { status } = await call(`${url}${FEEDBACK}/?a=1`, { headers: NO_TOKEN, body: 'a' })
      if (host.own?.['redirects trailing slashes']) return expect(status).toBe(308)
      return expect(endpoints.opened).toMatchObject([{ parameter: 'a b', url: `${FEEDBACK}/?a=1` }])
    })

    test('An unknown parameter is answered with 404 for any method', async () => {
      const { url, complete } = await start()
      for (const method of ['POST', 'GET', 'PUT']) {
        const sent = { method, headers: NO_TOKEN, ...(method !== 'GET' && { body: 'x'.repeat(MIB + 1) }) }
        const reply = await complete(call(url + FEEDBACK.replace('a%20b', 'unknown'), sent))
        expect(reply.json).toMatchObject({ status: 404, code: 'not_found', detail: 'No endpoint has this path.' })
      }
    })
  })

  describe('refusals of open endpoints', () => {
    test.each<[string, OutgoingHttpHeaders, number, string]>([
      ['compressed', { 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
      ['compressed twice', { 'content-encoding': 'gzip, identity' }, 415, 'unsupported_media_type'],
    ])('A body that is %s is refused', async (_, headers, status, code) => {
      const { url, endpoints } = await start()
      const reply = await call(url + FEEDBACK, { headers: { ...NO_TOKEN, ...headers }, body: 'a' })
      expect([reply.status, reply.json.code]).toEqual([status, code])
      expect(endpoints.opened).toEqual([])
    })

    test('A body that does not arrive within 10 s is answered with 408', async () => {
      const { url, endpoints, complete } = await start()
      const sent = half(url + FEEDBACK, 'a', NO_TOKEN)
      await endpoints.clock.pending(1)
      endpoints.clock.advance(9_999)
      expect(endpoints.refusals).toEqual([])
      endpoints.clock.advance(1)
      expect((await complete(sent.reply)).json).toMatchObject({ status: 408, code: 'body_timeout', limit: 10_000 })
      expect(endpoints.opened).toEqual([])
      sent.leave()
    })

    test('A caller that leaves during its body leaves no timer and no place', async () => {
      const { url, endpoints } = await start()
      const sent = half(url + FEEDBACK, 'a', NO_TOKEN)
      await endpoints.clock.pending(1)
      sent.leave()
      await expect(sent.reply).rejects.toThrow('hang up')
      await endpoints.clock.pending(0)
      expect(endpoints.opened).toEqual([])
      expect((await call(url + FEEDBACK, { headers: NO_TOKEN, body: 'a' })).status).toBe(200)
    })

    test('A stopping host closes each connection with its next answer', async () => {
      const { url, endpoints } = await start()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const connections = async () => {
        const replies = [
          await call(url + FEEDBACK, { agent, headers: NO_TOKEN, body: 'a' }),
          await call(url + UNSUBSCRIBE, { agent, method: 'GET' }),
          await call(url + FEEDBACK, { agent, method: 'GET' }),
        ]
        return replies.map(({ headers }) => headers.connection)
      }
      expect(await connections()).toEqual(['keep-alive', 'keep-alive', 'keep-alive'])
      endpoints.stopping = true
      expect(await connections()).toEqual(['close', 'close', 'close'])
      agent.destroy()
    })
  })

  describe('mounts of open endpoints', () => {
    test('A base path mounts open endpoints there and nowhere else', async () => {
      const { url, endpoints } = await start({ basePath: '/notify/v1' })
      await call(`${url}/notify/v1${FEEDBACK}`, { headers: NO_TOKEN, body: 'a' })
      expect(endpoints.opened).toMatchObject([{ parameter: 'a b', url: `/notify/v1${FEEDBACK}` }])
      expect((await call(url + FEEDBACK, { headers: NO_TOKEN, body: 'a' })).text).toBe(HOST_ANSWER)
    })

    const { mounts } = host
    if (mounts === 'strips') {
      test('The handler gets the URL as the host received it', async () => {
        const { url, endpoints } = await start({ mountPath: '/v1' })
        await call(`${url}/v1${FEEDBACK}?a=1`, { headers: NO_TOKEN, body: 'a' })
        const isCut = host.own?.['hands over no prefix of a mount'] !== undefined
        expect(endpoints.opened).toMatchObject([{ parameter: 'a b', url: `${isCut ? '' : '/v1'}${FEEDBACK}?a=1` }])
      })
    } else {
      test.skip(`A prefix removed by the framework is not tested: ${mounts.whole}`)
    }
  })
}
