import { describe, expect, test } from 'vitest'
import { call, half } from '../../support/host-call.ts'
import type { Host } from '../../support/hosts/host.ts'
import { RUN } from './paths.ts'
import { starterOf } from './started.ts'

/** Tests of slow bodies and of callers that leave. */
export function testSlowBodies(host: Host): void {
  const start = starterOf(host)

  describe('slow bodies', () => {
    test('A body that does not arrive within 10 s is answered with 408', async () => {
      const { url, endpoints, complete } = await start()
      const sent = half(url + RUN, '{"a":')
      await endpoints.clock.pending(1)
      endpoints.clock.advance(9_999)
      expect(endpoints.refusals).toEqual([])
      endpoints.clock.advance(1)
      const reply = await complete(sent.reply)
      expect(reply.status).toBe(408)
      expect(reply.json).toMatchObject({ code: 'body_timeout', limit: 10_000 })
      expect(endpoints.handled).toEqual([])
      sent.leave()
      expect((await call(url + RUN, { body: '{}' })).status).toBe(201)
    })

    test('A body that arrives within 10 s is handled', async () => {
      const { url, endpoints } = await start()
      const sent = half(url + RUN, '{"a":')
      await endpoints.clock.pending(1)
      endpoints.clock.advance(9_999)
      sent.finish('1}')
      expect((await sent.reply).status).toBe(201)
      await endpoints.clock.pending(0)
    })

    test('A caller that leaves during its body leaves no timer', async () => {
      const { url, endpoints } = await start()
      const sent = half(url + RUN, '{"a":')
      await endpoints.clock.pending(1)
      sent.leave()
      await expect(sent.reply).rejects.toThrow('hang up')
      await endpoints.clock.pending(0)
      expect(endpoints.handled).toEqual([])
      expect((await call(url + RUN, { body: '{}' })).status).toBe(201)
    })

    test('Many callers that leave during their bodies leave no timers', async () => {
      const { url, endpoints } = await start()
      const sent = Array.from({ length: 20 }, () => half(url + RUN, '{"a":'))
      await endpoints.clock.pending(20)
      for (const each of sent) each.leave()
      expect((await Promise.allSettled(sent.map(({ reply }) => reply))).map(({ status }) => status)).toEqual(
        sent.map(() => 'rejected'),
      )
      await endpoints.clock.pending(0)
      expect(endpoints.handled).toEqual([])
    })

    test('A caller that leaves before its answer causes no error', async () => {
      const { url, endpoints, running } = await start()
      let answerNow: () => void = () => {}
      endpoints.held = new Promise((resolve) => {
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
      expect(running.errors).toEqual([])
    })
  })
}
