import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import { toNode } from '../../src/adapters/node.ts'
import { isSallyportError } from '../../src/errors.ts'
import { call } from '../support/host-call.ts'
import { FakeEndpoints, TOKEN } from '../support/host-endpoints.ts'
import { listen } from '../support/hosts/host.ts'
import { withoutStrayRejections } from '../support/stray-rejections.ts'

const RUN = '/api/agents/session/run'
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const running of open.splice(0)) await running.close()
})

async function start(
  listener: (endpoints: FakeEndpoints) => RequestListener = (endpoints) => toNode({ endpoints }),
): Promise<{ url: string; endpoints: FakeEndpoints }> {
  const endpoints = new FakeEndpoints()
  const running = await listen(listener(endpoints))
  open.push(running)
  return { url: running.url, endpoints }
}

function rawHead(headers: readonly string[], target = RUN, token = TOKEN): string {
  const all = ['host: a', `authorization: ${token}`, 'content-type: application/json', ...headers]
  return `POST ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`
}

/** A connection with the beginning of a request, in these bytes. */
function raw(url: string, headers: readonly string[], body: string, target = RUN, token = TOKEN): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(rawHead(headers, target, token) + body)
  return socket
}

/** A part of a chunked body. */
function chunk(length: number): string {
  return `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`
}

describe('toNode', () => {
  test('toNode answers other paths with a 404 problem when there is no next', async () => {
    const { url } = await start()
    const reply = await call(`${url}/elsewhere`, { body: 'anything' })
    expect(reply.status).toBe(404)
    expect(reply.headers['content-type']).toBe('application/problem+json')
    expect(reply.json.code).toBe('not_found')
  })

  test('toNode passes an unexpected error to next, or answers 500', async () => {
    const broken = async (): Promise<never> => {
      throw new Error('canary')
    }
    const alone = await start()
    alone.endpoints.handle = broken
    const reply = await call(alone.url + RUN, { body: '{}' })
    expect(reply.json).toMatchObject({ status: 500, code: 'internal_error' })
    expect(reply.text).not.toContain('canary')
    const followed = await start((endpoints) => (req, res) => {
      endpoints.handle = broken
      return toNode({ endpoints })(req, res, (error) => void res.writeHead(599).end(String(error)))
    })
    expect((await call(followed.url + RUN, { body: '{}' })).text).toBe('Error: canary')
  })

  test.each<['write' | 'end', string, string]>([
    ['write', 'content-length: 60000', 'x'],
    ['end', 'content-length: 2', '{}'],
  ])('toNode ends the connection when the %s of the response throws', async (method, header, body) => {
    const broken = new Error('wrapped wrongly')
    const { url, endpoints } = await start((endpoints) => (req, res) => {
      res[method] = () => {
        throw broken
      }
      return toNode({ endpoints })(req, res)
    })
    const socket = raw(url, [header], body, RUN, 'Bearer bad').on('error', () => {})
    socket.resume()
    await once(socket, 'close')
    expect(endpoints.refusals.at(-1)).toMatchObject({ refused: 'internal_error', cause: broken })
    await endpoints.clock.pending(0)
  })

  test('toNode ends a connection whose last answer cannot be ended', async () => {
    await withoutStrayRejections(async () => {
      const { url, endpoints } = await start((endpoints) => (req, res) => {
        res.end = () => {
          throw new Error('wrapped wrongly')
        }
        return toNode({ endpoints })(req, res)
      })
      const socket = raw(url, ['content-length: 60000'], 'x', RUN, 'Bearer bad').on('error', () => {})
      const closed = once(socket, 'close')
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 401 /)
      await endpoints.clock.pending(1)
      endpoints.clock.advance(1_000)
      await closed
    })
  })

  test('toNode takes an absolute URL as the request target', async () => {
    const { url } = await start()
    const socket = raw(url, ['content-length: 2'], '{}', `http://a.example${RUN}?x=1`)
    const [answer] = await once(socket, 'data')
    socket.destroy()
    expect(String(answer)).toMatch(/^HTTP\/1\.1 201 /)
  })

  test('toNode answers two requests of one packet', async () => {
    const { url } = await start()
    const socket = raw(
      url,
      ['content-length: 7'],
      `{"n":1}${rawHead(['content-length: 7', 'connection: close'])}{"n":2}`,
    )
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text.match(/"n":\d/g)).toEqual(['"n":1', '"n":2'])
  })

  test('toNode stops reading a stream that is destroyed before or while it is read', async () => {
    const endpoints = new FakeEndpoints()
    const headers = { authorization: TOKEN, 'content-type': 'application/json' }
    for (const early of [true, false]) {
      const stream = new Readable({ read() {} })
      const req = Object.assign(stream, {
        method: 'POST',
        url: RUN,
        headers,
        rawHeaders: [],
        httpVersionMajor: 1,
        complete: false,
      })
      if (early) await once(stream.destroy(), 'close')
      const res = { headersSent: true, setHeader() {}, write() {}, writeHead() {}, end() {}, destroy() {} }
      const answered = toNode({ endpoints })(req, res)
      if (!early) {
        await endpoints.clock.pending(1)
        req.destroy()
      }
      await answered
      await endpoints.clock.pending(0)
    }
    expect(endpoints.refusals.map(({ detail }) => detail)).toEqual(Array(2).fill('The body broke off before its end.'))
  })

  test('toNode closes the connection a second after a 408', async () => {
    const { url, endpoints } = await start()
    const socket = raw(url, ['content-length: 7'], '{')
    const closed = once(socket, 'close')
    await endpoints.clock.pending(1)
    endpoints.clock.advance(10_000)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 408 (?:.*\r\n)*connection: close\r\n/)
    endpoints.clock.advance(999)
    expect(socket.closed).toBe(false)
    endpoints.clock.advance(1)
    await closed
    await endpoints.clock.pending(0)
  })

  test('toNode closes the connection as soon as a refused body has ended', async () => {
    const { url, endpoints } = await start()
    const socket = raw(url, ['content-length: 60000'], 'x', RUN, 'Bearer bad')
    const ended = once(socket, 'end')
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 401 (?:.*\r\n)*connection: close\r\n/)
    await endpoints.clock.pending(1)
    socket.write('x'.repeat(59_999))
    await ended
    await endpoints.clock.pending(0)
  })

  test('toNode reads on after it refused a body that was arriving, and closes the connection at its end', async () => {
    const { url, endpoints } = await start()
    const socket = raw(url, ['transfer-encoding: chunked'], chunk(70_000))
    const ended = once(socket, 'end')
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 413 (?:.*\r\n)*connection: close\r\n/)
    await endpoints.clock.pending(1)
    socket.write(`${chunk(1_000)}0\r\n\r\n`)
    await ended
    await endpoints.clock.pending(0)
  })

  test('toNode keeps the connection for an unknown path with a complete body', async () => {
    const { url } = await start()
    const socket = raw(url, ['content-length: 2'], '{}', '/elsewhere')
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 404 (?:.*\r\n)*connection: keep-alive\r\n/i)
    socket.write(`${rawHead(['content-length: 2'])}{}`)
    expect(String((await once(socket, 'data'))[0])).toContain('HTTP/1.1 201 ')
    socket.destroy()
  })

  test('toNode closes the connection for an unknown path with an endless body', async () => {
    const { url, endpoints } = await start()
    const socket = raw(url, ['transfer-encoding: chunked'], '20000\r\nx', '/elsewhere')
    const closed = once(socket, 'close')
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 404 (?:.*\r\n)*connection: close\r\n/)
    await endpoints.clock.pending(1)
    endpoints.clock.advance(1_000)
    await closed
  })

  test('toNode refuses an invalid base path at start-up', () => {
    for (const basePath of ['/a?b', '/a//b', '//', 'a b', 'https://x.example/a', '/ü']) {
      try {
        toNode({ endpoints: new FakeEndpoints() }, { basePath })
        expect.unreachable(basePath)
      } catch (error) {
        expect(isSallyportError(error) && error.code).toBe('option_invalid')
      }
    }
  })

  test.each(['', '/', undefined])('toNode treats the base path %j as empty', async (basePath) => {
    const { url } = await start((endpoints) => toNode({ endpoints }, { basePath }))
    expect((await call(url + RUN, { body: '{}' })).status).toBe(201)
  })

  test.each(['v1', '/v1', '/v1/'])('toNode treats the base path %s as /v1', async (basePath) => {
    const { url } = await start((endpoints) => toNode({ endpoints }, { basePath }))
    expect((await call(`${url}/v1${RUN}`, { body: '{}' })).status).toBe(201)
  })
})
