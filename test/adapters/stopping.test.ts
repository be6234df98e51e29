import { once } from 'node:events'
import { Agent } from 'node:http'
import { type ClientHttp2Session, connect, createServer, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type Mountable, toFetch } from '../../src/adapters/fetch.ts'
import { toNode } from '../../src/adapters/node.ts'
import { call } from '../support/host-call.ts'
import { FakeEndpoints, TOKEN } from '../support/host-endpoints.ts'
import { express5Host } from '../support/hosts/express.ts'
import { express4Host } from '../support/hosts/express4.ts'
import { fetchHost } from '../support/hosts/fetch.ts'
import { HOST_ANSWER } from '../support/hosts/host.ts'
import { koa2Host, koa3Host } from '../support/hosts/koa.ts'
import { nodeHost } from '../support/hosts/node.ts'

const RUN = '/api/agents/session/run'

describe.each([express5Host, express4Host, koa3Host, koa2Host, nodeHost, fetchHost])(
  'the routes of $name',
  ({ start }) => {
    test('The routes of a stopping host change only in closing their connections', async () => {
      const endpoints = new FakeEndpoints()
      const running = await start({ endpoints })
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const own = () => call(`${running.url}/own`, { method: 'GET', agent })
      const before = await own()
      endpoints.stopping = true
      const after = await own()
      expect([before, after].map(({ status, text, headers }) => [status, text, headers.connection])).toEqual([
        [200, HOST_ANSWER, 'keep-alive'],
        [200, HOST_ANSWER, 'close'],
      ])
      const headersOf = ({ headers }: typeof before) => ({ ...headers, date: '', connection: '', 'keep-alive': '' })
      expect(headersOf(after)).toEqual(headersOf(before))
      agent.destroy()
      await running.close()
    })
  },
)

describe('under fetch', () => {
  const endpoints = new FakeEndpoints()
  endpoints.stopping = true
  const connectionOf = async (notFound?: () => Response | Promise<Response>) =>
    (await toFetch({ endpoints }, { notFound })(new Request('http://a/b'))).headers.get('connection')

  test('A stopping toFetch closes the connection after a 404 and after an answer of notFound', async () => {
    expect([await connectionOf(), await connectionOf(() => new Response('a'))]).toEqual(['close', 'close'])
  })

  test('A stopping toFetch keeps an answer with immutable headers as it is', async () => {
    expect(await connectionOf(() => fetch('data:text/plain,a'))).toBeNull()
  })
})

describe('over HTTP/2', () => {
  const sessions: ClientHttp2Session[] = []
  const warnings: Error[] = []
  const warned = (warning: Error): void => void warnings.push(warning)
  afterEach(() => {
    for (const session of sessions.splice(0)) session.close()
    process.off('warning', warned)
  })

  async function headersOf(sallyport: Mountable, path: string): Promise<IncomingHttpHeaders> {
    const handle = toNode(sallyport)
    const server = createServer((req, res) => void handle(req, res, () => res.end('own'))).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    sessions.push(session)
    const sent = session.request({
      ':path': path,
      ':method': 'POST',
      authorization: TOKEN,
      'content-type': 'application/json',
    })
    sent.end('{}')
    const [headers] = await once(sent, 'response')
    sent.resume()
    server.close()
    return headers
  }

  test('A stopping toNode sets no forbidden header over HTTP/2, and Node prints no warning', async () => {
    process.on('warning', warned)
    const endpoints = new FakeEndpoints()
    endpoints.stopping = true
    expect(await headersOf({ endpoints }, RUN)).toMatchObject({ ':status': 201 })
    expect(await headersOf({ endpoints }, '/own')).toMatchObject({ ':status': 200 })
    await new Promise(setImmediate)
    expect(warnings).toEqual([])
  })
})
