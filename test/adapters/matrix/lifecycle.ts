import { Agent } from 'node:http'
import { describe, expect, test } from 'vitest'
import { call, half } from '../../support/host-call.ts'
import type { Host } from '../../support/hosts/host.ts'
import { DISPATCH, RUN } from './paths.ts'
import { starterOf } from './started.ts'

/** Tests of errors, and of requests in flight when the host stops. */
export function testLifecycle(host: Host): void {
  const start = starterOf(host)

  describe('errors', () => {
    test.each(['authenticate', 'handle'] as const)('An error in %s is answered once and not quoted', async (step) => {
      const { url, endpoints, running } = await start()
      const broken = new Error('canary')
      Object.assign(endpoints, { [step]: () => Promise.reject(broken) })
      const reply = await call(url + RUN, { body: '{}' })
      expect(reply.text).not.toContain('canary')
      if (host.errors === 'framework') {
        expect(running.errors).toEqual([broken])
        expect(reply.status).toBeGreaterThanOrEqual(500)
        expect(endpoints.refusals).toEqual([])
      } else {
        expect(reply.json).toMatchObject({ status: 500, code: 'internal_error', requestId: 'req_test' })
        expect(endpoints.refusals).toMatchObject([{ cause: broken }])
      }
    })

    test('A refusal by Sallyport reaches no error handler of the host', async () => {
      const { url, running } = await start()
      for (const refused of [{ body: '{' }, { method: 'PUT' }, { headers: { authorization: undefined } }]) {
        expect((await call(url + RUN, refused)).headers['content-type']).toBe('application/problem+json')
      }
      expect(running.errors).toEqual([])
    })
  })

  test(`An accepted dispatch is delivered ${host.delivers ?? 'by a worker'}`, async () => {
    const { url, endpoints } = await start()
    expect((await call(url + DISPATCH, { body: '{}' })).status).toBe(202)
    expect((await call(url + DISPATCH, { body: '{' })).status).toBe(400)
    expect(endpoints.delivered).toBe(host.delivers ? 1 : 0)
  })

  describe('a host that stops', () => {
    test('A stopping host answers requests in flight before it ends', async () => {
      const { url, endpoints, running } = await start()
      let answerNow: () => void = () => {}
      endpoints.held = new Promise((resolve) => {
        answerNow = resolve
      })
      const sent = [DISPATCH, RUN, DISPATCH, RUN].map((path) => call(url + path, { body: '{"a":1}' }))
      const reading = half(url + RUN, '{"a":')
      await new Promise<void>((resolve) => {
        endpoints.onHandle = () => endpoints.handled.length === sent.length && resolve()
      })
      await endpoints.clock.pending(1)
      const stopped = running.drain()
      reading.finish('1}')
      answerNow()
      expect((await Promise.all([...sent, reading.reply])).map(({ status }) => status)).toEqual([
        202, 201, 202, 201, 201,
      ])
      await stopped
      await expect(call(url + RUN, { body: '{}' })).rejects.toThrow('ECONNREFUSED')
    })

    test('A stopping host closes each connection with its next answer', async () => {
      const { url, endpoints } = await start()
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const answers = [
        { body: '{}' },
        { body: '{' },
        { method: 'PUT' },
        { body: '{}', headers: { authorization: 'no' } },
      ]
      const connections = async () => {
        const replies = []
        for (const answer of answers) replies.push(await call(url + RUN, { ...answer, agent }))
        return replies.map(({ headers }) => headers.connection)
      }
      expect(await connections()).toEqual(answers.map(() => 'keep-alive'))
      endpoints.stopping = true
      expect(await connections()).toEqual(answers.map(() => 'close'))
      agent.destroy()
    })

    test('A stopping host does not wait for idle connections', async () => {
      const { url, running } = await start()
      const agent = new Agent({ keepAlive: true })
      expect((await call(url + RUN, { body: '{}', agent })).status).toBe(201)
      expect((await call(url + RUN, { body: '{', agent })).status).toBe(400)
      await running.drain()
      agent.destroy()
    })
  })
}
