import { Agent } from 'node:http'
import { describe, expect, test } from 'vitest'
import { call } from '../../support/host-call.ts'
import { HOST_ANSWER, type Host } from '../../support/hosts/host.ts'
import { BATCH, DISPATCH, RUN } from './paths.ts'
import { starterOf } from './started.ts'

/** Tests of paths and methods. */
export function testRoutes(host: Host): void {
  const start = starterOf(host)

  describe('routes', () => {
    test.each([
      [DISPATCH, 'dispatch', 202],
      [RUN, 'session_run', 201],
      [BATCH, 'session_run_batch', 201],
    ])('A post to %s reaches the operation %s', async (path, operation, status) => {
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

    test.each([DISPATCH, RUN, BATCH])('The path %s may have one trailing slash, and no more', async (path) => {
      const { url, endpoints } = await start()
      const reply = await call(`${url}${path}/?a=1`, { body: '{}' })
      if (host.own?.['redirects trailing slashes']) {
        expect([reply.status, reply.headers.location]).toEqual([308, `${path}?a=1`])
      } else {
        expect(reply.json.query).toEqual({ a: '1' })
      }
      endpoints.handled.length = 0
      await call(`${url}${path}//`, { body: '{}' })
      await call(`${url}${path}/x`, { body: '{}' })
      expect(endpoints.handled).toEqual([])
    })

    test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
      '%s is refused with 405 and an Allow header',
      async (method) => {
        const { url, endpoints } = await start()
        for (const path of [DISPATCH, RUN, BATCH]) {
          const reply = await call(url + path, { method, headers: { authorization: undefined } })
          expect(reply.status).toBe(405)
          expect(reply.headers.allow).toBe('POST')
          expect(reply.headers['content-type']).toBe('application/problem+json')
          expect(reply.json).toMatchObject({ code: 'method_not_allowed', status: 405, requestId: 'req_test' })
        }
        expect(endpoints.handled).toEqual([])
      },
    )

    test('HEAD is refused like GET, without a body', async () => {
      const { url, endpoints } = await start()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      for (const path of [DISPATCH, RUN, BATCH]) {
        const asking = (method: string) => call(url + path, { method, agent, headers: { authorization: undefined } })
        const get = await asking('GET')
        const head = await asking('HEAD')
        expect([head.status, head.headers.allow, head.bytes.byteLength]).toEqual([405, 'POST', 0])
        expect(head.headers['content-type']).toBe(get.headers['content-type'])
        expect(head.headers['content-length']).toBe(get.headers['content-length'])
        // The connection works for the next request: the HEAD answer had no body.
        expect((await call(url + path, { agent, body: '{}' })).status).toBeLessThan(300)
      }
      expect(endpoints.handled).toHaveLength(3)
      agent.destroy()
    })

    test.each(['/', '/elsewhere?a=1', '/API/agents/session/run', '/%C3%A4/%F0%9F%9A%A2?q=%C3%A4'])(
      'The path %s is left to the host',
      async (path) => {
        const { url, endpoints } = await start()
        const reply = await call(url + path, { method: 'GET' })
        expect([reply.status, reply.text]).toEqual([200, HOST_ANSWER])
        expect(endpoints.refusals.map(({ refused }) => refused)).toEqual([])
      },
    )

    test.each(['/api/outbound/disp%61tch', '/api/outbound/dispatch%C3%A4', '/api/%F0%9F%9A%A2', '/api/outbound'])(
      'The path %s reaches no operation',
      async (path) => {
        const { url, endpoints } = await start()
        const reply = await call(url + path, { body: '{}' })
        expect(reply.status).toBeLessThan(500)
        expect(endpoints.handled).toEqual([])
      },
    )

    test.each(['/api/outbound/%', '/api/outbound/dispatch%ff', '/%c3'])(
      'The malformed path %s does not break the host',
      async (path) => {
        const { url, endpoints } = await start()
        const { status } = await call(url + path, { body: '{}' })
        if (host.own?.['answers 500 to a malformed path']) expect(status).toBe(500)
        else expect(status).toBeLessThan(500)
        expect((await call(url + RUN, { body: '{}' })).status).toBe(201)
        expect(endpoints.handled).toHaveLength(1)
      },
    )

    test('The query is passed with all values of a repeated name', async () => {
      const { url } = await start()
      const reply = await call(`${url}${DISPATCH}?dryRun=true&dryRun=false&n=%C3%A4+b&__proto__=x`, { body: '{}' })
      const odd = host.own?.['drops the parameter __proto__'] ? '' : ',"__proto__":"x"'
      expect(reply.text).toContain(`"query":{"dryRun":["true","false"],"n":"ä b"${odd}}`)
    })
  })
}
