import { Agent } from 'node:http'
import { describe, expect, test } from 'vitest'
import { type Call, call, half } from '../../support/host-call.ts'
import type { Host } from '../../support/hosts/host.ts'
import { DISPATCH, RUN } from './paths.ts'
import { starterOf } from './started.ts'

/** Tests of authentication, parallel callers and kept connections. */
export function testCallers(host: Host): void {
  const start = starterOf(host)

  describe('callers', () => {
    test.each<[string, Call]>([
      ['malformed', { body: '{' }],
      ['of another type', { body: 'x', headers: { 'content-type': 'text/plain' } }],
      ['compressed', { body: 'x', headers: { 'content-encoding': 'gzip' } }],
      ['too large', { body: 'x'.repeat(65_537) }],
      ['too large, chunked', { body: ['x'.repeat(65_537), 'x'] }],
      ['empty', { body: '' }],
    ])('A caller without a valid token gets only 401 for a body that is %s', async (_name, wrong) => {
      const { url, endpoints, complete } = await start()
      const send = (authorization?: string) =>
        complete(call(url + RUN, { ...wrong, headers: { ...wrong.headers, authorization } }))
      const unknown = await send()
      expect(unknown.status).toBe(401)
      expect(unknown.json.code).toBe('unauthorized')
      expect(unknown.headers['www-authenticate']).toBe('Bearer realm="sallyport"')
      const bad = await send('Bearer bad')
      expect(bad.json).toMatchObject({ status: 401, code: 'invalid_token' })
      expect(endpoints.refusals).toHaveLength(2)
    })

    test('A caller is refused before its body has arrived', async () => {
      const { url, endpoints, complete } = await start()
      const sent = half(url + RUN, '{"a":')
      endpoints.authenticate = async () => ({ refused: 'unauthorized', detail: 'No.' })
      expect((await complete(sent.reply)).status).toBe(401)
      sent.leave()
    })

    test('A request with two Authorization headers is refused', async () => {
      const { url } = await start()
      const headers = { authorization: undefined, Authorization: ['Bearer good', 'Bearer bad'] }
      const reply = await call(url + RUN, { headers, body: '{}' })
      if (host.own?.['hands over the first of two Authorization headers']) expect(reply.status).toBe(201)
      else expect(reply.json).toMatchObject({ status: 401, code: 'invalid_token' })
    })

    test('Parallel callers each get their own answer', async () => {
      const { url } = await start()
      const replies = await Promise.all(
        Array.from({ length: 60 }, (_, n) => call(url + (n % 2 ? RUN : DISPATCH), { body: ['{"n":', `${n}}`] })),
      )
      expect(replies.map((reply) => reply.json.body.n)).toEqual(Array.from({ length: 60 }, (_, n) => n))
    })

    test('A connection is kept when complete bodies are refused', async () => {
      const { url } = await start()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const ports = new Set<number | undefined>()
      const statuses: number[] = []
      for (const sent of [
        { body: '{}' },
        { body: 'x', headers: { authorization: undefined } },
        { body: 'x', headers: { 'content-type': 'text/plain' } },
        { body: '{' },
        { method: 'PUT', body: 'x' },
        { body: '{"a":1}' },
      ]) {
        const reply = await call(url + RUN, { ...sent, agent })
        statuses.push(reply.status)
        ports.add(reply.port)
      }
      agent.destroy()
      expect(statuses).toEqual([201, 401, 415, 400, 405, 201])
      expect(ports.size).toBe(1)
    })
  })
}
