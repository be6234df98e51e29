import { Agent } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { type Call, call, half } from '../support/host-call.ts'
import { FakeEndpoints } from '../support/host-endpoints.ts'
import { HOST_ANSWER, type HostOptions, hosts } from '../support/hosts.ts'

const DISPATCH = '/api/outbound/dispatch'
const RUN = '/api/agents/session/run'
const LIMIT = { [DISPATCH]: 262_144, [RUN]: 65_536 }

describe.each(hosts)('$name', (host) => {
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const running of open.splice(0)) await running.close()
  })
  async function start(options?: HostOptions): Promise<{ url: string; endpoints: FakeEndpoints }> {
    const endpoints = new FakeEndpoints()
    const running = await host.start({ endpoints }, options)
    open.push(running)
    return { url: running.url, endpoints }
  }

  describe('routes', () => {
    test.each([
      [DISPATCH, 'dispatch', 202],
      [RUN, 'session_run', 201],
      [`${RUN}/`, 'session_run', 201],
    ])('hands a post of %s to %s', async (path, operation, status) => {
      const { url } = await start()
      const reply = await call(url + path, { body: '{"a":1}' })
      expect(reply.status).toBe(status)
      expect(reply.json).toEqual({ operation, body: { a: 1 } })
      expect(reply.headers).toMatchObject({
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-answered': 'yes',
      })
    })

    test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
      'refuses %s with 405 and says what is allowed',
      async (method) => {
        const { url, endpoints } = await start()
        const reply = await call(url + RUN, { method, headers: { authorization: undefined } })
        expect(reply.status).toBe(405)
        expect(reply.headers.allow).toBe('POST')
        expect(reply.headers['content-type']).toBe('application/problem+json')
        expect(reply.json).toMatchObject({ code: 'method_not_allowed', status: 405, requestId: 'req_test' })
        expect(endpoints.handled).toEqual([])
      },
    )

    test('refuses HEAD with 405 and no body', async () => {
      const { url } = await start()
      const reply = await call(url + RUN, { method: 'HEAD' })
      expect(reply.status).toBe(405)
      expect(reply.headers.allow).toBe('POST')
      expect(reply.bytes.byteLength).toBe(0)
    })

    test.each(['/', '/elsewhere?a=1', '/API/agents/session/run'])('leaves %s to the host', async (path) => {
      const { url, endpoints } = await start()
      const reply = await call(url + path, { method: 'GET' })
      expect([reply.status, reply.text]).toEqual([200, HOST_ANSWER])
      expect(endpoints.refusals).toEqual([])
    })

    test('stands below a base path, and only there', async () => {
      const { url } = await start({ basePath: '/notify/v1' })
      expect((await call(`${url}/notify/v1${RUN}`, { body: '{}' })).status).toBe(201)
      expect((await call(url + RUN, { body: '{}' })).text).toBe(HOST_ANSWER)
    })

    test('hands over the query, the first value of each name', async () => {
      const { url } = await start()
      const reply = await call(`${url}${DISPATCH}?dryRun=true&dryRun=false&n=%C3%A4+b&__proto__=x`, { body: '{}' })
      expect(reply.text).toContain('"query":{"dryRun":"true","n":"ä b","__proto__":"x"}')
    })
  })

  describe('bodies', () => {
    test('measures Content-Length in bytes', async () => {
      const { url } = await start()
      const reply = await call(url + RUN, { body: '{"name":"Zoë 🚢"}' })
      expect(reply.json.body).toEqual({ name: 'Zoë 🚢' })
      expect(Number(reply.headers['content-length'])).toBe(reply.bytes.byteLength)
      const problem = await call(url + RUN, { body: '{' })
      expect(Number(problem.headers['content-length'])).toBe(problem.bytes.byteLength)
    })

    test('puts a chunked body together, cut through a character', async () => {
      const { url } = await start()
      const bytes = Buffer.from('{"name":"🚢"}')
      const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte))
      expect((await call(url + RUN, { body: pieces })).json.body).toEqual({ name: '🚢' })
    })

    test('drops a byte order mark', async () => {
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
    ])('refuses %s with 400 and quotes none of it', async (_name, body, detail) => {
      const { url, endpoints } = await start()
      const reply = await call(url + RUN, { body })
      expect(reply.status).toBe(400)
      expect(reply.json).toMatchObject({ code: 'invalid_json', detail })
      expect(reply.text).not.toContain('canary')
      expect(endpoints.handled).toEqual([])
    })

    test('refuses a post with no body at all as an empty one', async () => {
      const { url } = await start()
      const reply = await call(url + RUN, { headers: { 'content-length': 0 } })
      expect(reply.json).toMatchObject({ status: 400, code: 'invalid_json', detail: /empty/ })
    })

    test.each([DISPATCH, RUN] as const)('takes %s up to its limit and not a byte more', async (path) => {
      const { url } = await start()
      const limit = LIMIT[path]
      const fits = `"${'x'.repeat(limit - 2)}"`
      const over = `"${'x'.repeat(limit - 1)}"`
      expect((await call(url + path, { body: fits })).status).toBeLessThan(300)
      expect((await call(url + path, { body: [fits.slice(0, 9), fits.slice(9)] })).status).toBeLessThan(300)
      for (const body of [over, [over.slice(0, 9), over.slice(9)]]) {
        const reply = await call(url + path, { body })
        expect(reply.json).toMatchObject({ status: 413, code: 'body_too_large', limit })
        expect(reply.status).toBe(413)
      }
    })

    test('does not wait for a body that says it is too large', async () => {
      const { url, endpoints } = await start()
      const agent = new Agent()
      const headers = { 'content-length': 65_537, expect: '100-continue' }
      const { request } = await import('node:http')
      const status = await new Promise((resolve, reject) => {
        const sent = request(url + RUN, {
          method: 'POST',
          agent,
          headers: { authorization: 'Bearer good', 'content-type': 'application/json', ...headers },
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

    test.each([
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;Charset="UTF-8"',
      'application/json ; profile=x;',
    ])('takes %s', async (type) => {
      const { url } = await start()
      expect((await call(url + RUN, { headers: { 'content-type': type }, body: '{}' })).status).toBe(201)
    })

    test.each([
      undefined,
      'text/plain',
      'text/json',
      'application/problem+json',
      'application/jsonx',
      'application/json, text/plain',
      'application/json; charset=utf-16',
      'application/json; charset=utf-8; charset=latin1',
      'multipart/form-data; boundary=application/json',
    ])('refuses the type %s with 415', async (type) => {
      const { url, endpoints } = await start()
      const reply = await call(url + RUN, { headers: { 'content-type': type }, body: '{}' })
      expect(reply.status).toBe(415)
      expect(reply.json).toMatchObject({ code: 'unsupported_media_type' })
      expect(reply.headers.accept).toBe('application/json')
      expect(endpoints.handled).toEqual([])
    })

    test.each(['gzip', 'br', 'identity, gzip', 'x'])('refuses the encoding %s with 415', async (encoding) => {
      const { url } = await start()
      const reply = await call(url + RUN, { headers: { 'content-encoding': encoding }, body: '{}' })
      expect(reply.status).toBe(415)
      expect(reply.headers['accept-encoding']).toBe('identity')
    })

    test('takes the encoding identity', async () => {
      const { url } = await start()
      const reply = await call(url + RUN, { headers: { 'content-encoding': 'Identity' }, body: '{}' })
      expect(reply.status).toBe(201)
    })

    test('takes what the host has parsed as it is', async () => {
      const { url } = await start({ parser: true })
      expect((await call(url + RUN, { body: '{"a":"ü"}' })).json.body).toEqual({ a: 'ü' })
      expect((await call(url + DISPATCH, { body: ['{"a":', '[1]}'] })).json.body).toEqual({ a: [1] })
    })

    test('refuses by type what the host has not parsed', async () => {
      const { url } = await start({ parser: true })
      const reply = await call(url + RUN, { headers: { 'content-type': 'text/plain' }, body: 'hello' })
      expect(reply.status).toBe(415)
    })
  })

  describe('callers', () => {
    test.each<[string, Call]>([
      ['malformed', { body: '{' }],
      ['of another type', { body: 'x', headers: { 'content-type': 'text/plain' } }],
      ['compressed', { body: 'x', headers: { 'content-encoding': 'gzip' } }],
      ['too large', { body: 'x'.repeat(65_537) }],
      ['too large, chunked', { body: ['x'.repeat(65_537), 'x'] }],
      ['empty', { body: '' }],
    ])('learn nothing about a body that is %s, without a good token', async (_name, wrong) => {
      const { url, endpoints } = await start()
      const unknown = await call(url + RUN, { ...wrong, headers: { ...wrong.headers, authorization: undefined } })
      expect(unknown.status).toBe(401)
      expect(unknown.json.code).toBe('unauthorized')
      expect(unknown.headers['www-authenticate']).toBe('Bearer realm="sallyport"')
      const bad = await call(url + RUN, { ...wrong, headers: { ...wrong.headers, authorization: 'Bearer bad' } })
      expect(bad.json).toMatchObject({ status: 401, code: 'invalid_token' })
      expect(endpoints.refusals).toHaveLength(2)
    })

    test('are refused at once, with the body still to come', async () => {
      const { url, endpoints } = await start()
      const sent = half(url + RUN, '{"a":')
      endpoints.authenticate = async () => ({ refused: 'unauthorized', detail: 'No.' })
      expect((await sent.reply).status).toBe(401)
      sent.leave()
    })

    test('with two Authorization headers are refused', async () => {
      const { url } = await start()
      const headers = { authorization: undefined, Authorization: ['Bearer good', 'Bearer bad'] }
      const reply = await call(url + RUN, { headers, body: '{}' })
      expect(reply.json).toMatchObject({ status: 401, code: 'invalid_token' })
    })

    test('get 408 when their body does not arrive in 10 s', async () => {
      const { url, endpoints } = await start()
      const sent = half(url + RUN, '{"a":')
      await endpoints.clock.pending(1)
      endpoints.clock.advance(9_999)
      expect(endpoints.refusals).toEqual([])
      endpoints.clock.advance(1)
      const reply = await sent.reply
      expect(reply.status).toBe(408)
      expect(reply.json).toMatchObject({ code: 'body_timeout', limit: 10_000 })
      expect(endpoints.handled).toEqual([])
      sent.leave()
    })

    test('may take their time within 10 s', async () => {
      const { url, endpoints } = await start()
      const sent = half(url + RUN, '{"a":')
      await endpoints.clock.pending(1)
      endpoints.clock.advance(9_999)
      sent.finish('1}')
      expect((await sent.reply).status).toBe(201)
      await endpoints.clock.pending(0)
    })

    test('who leave half-way leave nothing behind', async () => {
      const { url, endpoints } = await start()
      const sent = half(url + RUN, '{"a":')
      await endpoints.clock.pending(1)
      sent.leave()
      await expect(sent.reply).rejects.toThrow('hang up')
      await endpoints.clock.pending(0)
      expect(endpoints.handled).toEqual([])
      expect((await call(url + RUN, { body: '{}' })).status).toBe(201)
    })

    test('who leave before the answer break nothing', async () => {
      const { url, endpoints } = await start()
      let answerNow: () => void = () => {}
      endpoints.gate = new Promise((resolve) => {
        answerNow = resolve
      })
      const handled = new Promise<void>((resolve) => {
        endpoints.onHandle = resolve
      })
      const sent = half(url + RUN, '{}')
      sent.finish('')
      await handled
      sent.leave()
      await expect(sent.reply).rejects.toThrow('hang up')
      answerNow()
      expect((await call(url + RUN, { body: '{}' })).status).toBe(201)
    })

    test('in parallel get each their own answer', async () => {
      const { url } = await start()
      const replies = await Promise.all(
        Array.from({ length: 60 }, (_, n) => call(url + (n % 2 ? RUN : DISPATCH), { body: ['{"n":', `${n}}`] })),
      )
      expect(replies.map((reply) => reply.json.body.n)).toEqual(Array.from({ length: 60 }, (_, n) => n))
    })

    test('keep their connection through refusals', async () => {
      const { url } = await start()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const big = 'x'.repeat(200_000)
      const ports = new Set<number | undefined>()
      const statuses: number[] = []
      for (const sent of [
        { body: '{}' },
        { body: big, headers: { authorization: undefined } },
        { body: big },
        { body: [big, big] },
        { body: 'x', headers: { 'content-type': 'text/plain' } },
        { body: '{' },
        { method: 'PUT', body: big },
        { body: '{"a":1}' },
      ]) {
        const reply = await call(url + RUN, { ...sent, agent })
        statuses.push(reply.status)
        ports.add(reply.port)
      }
      agent.destroy()
      expect(statuses).toEqual([201, 401, 413, 413, 415, 400, 405, 201])
      expect(ports.size).toBe(1)
    })
  })
})
