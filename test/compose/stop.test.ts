import { describe, expect, it } from 'vitest'
import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'

interface Stopping {
  readonly sallyport: Sallyport<{ e: JsonObject }>
  readonly clock: FakeClock
  readonly channel: ReturnType<typeof recordingChannel>
}

function stopping(): Stopping {
  const clock = fakeClock()
  const channel = recordingChannel()
  const sallyport = createSallyport({
    ...{ auth: testAuth, clock, logger: recordingLogger(), store: memoryStore({ clock }), channels: { a: channel } },
    events: defineEvents({ e: { channels: { a: {} } } }),
  })
  return { sallyport, clock, channel }
}

const EVENT = { eventType: 'e', recipient: 'jane@example.com' } as const

describe('sallyport.stop', () => {
  it('sallyport.stop stops the worker, and makes transports close their connections', async () => {
    const { sallyport, clock, channel } = stopping()
    sallyport.worker.start()
    expect(sallyport.endpoints.isStopping()).toBe(false)
    const stopped = sallyport.stop({ graceMs: 1_000 })
    expect(sallyport.endpoints.isStopping()).toBe(true)
    await stopped
    expect(clock.timers).toBe(0)
    expect((await sallyport.dispatch(EVENT)).status).toBe(202)
    expect(channel.sent).toEqual([])
  })

  it('sallyport.stop may be called before a start, twice at once, and again', async () => {
    const { sallyport, clock } = stopping()
    await Promise.all([sallyport.stop(), sallyport.stop({ graceMs: 0 })])
    sallyport.worker.start()
    await sallyport.stop({ graceMs: Number.POSITIVE_INFINITY })
    await sallyport.stop()
    expect(clock.timers).toBe(0)
  })

  it('After sallyport.stop the worker can be started again, and connections still close', async () => {
    const { sallyport, channel } = stopping()
    await sallyport.stop()
    await sallyport.dispatch(EVENT)
    sallyport.worker.start()
    await sallyport.worker.runDue()
    expect([channel.sent.length, sallyport.endpoints.isStopping()]).toEqual([1, true])
    await sallyport.stop()
  })

  it('worker.stop does not make transports close their connections', async () => {
    const { sallyport } = stopping()
    await sallyport.worker.stop()
    expect(sallyport.endpoints.isStopping()).toBe(false)
  })

  it.each([
    ['a grace below 0', { graceMs: -1 }, 'graceMs', 'is -1; must be milliseconds from 0 on, or Infinity'],
    ['NaN as the grace', { graceMs: Number.NaN }, 'graceMs', 'is NaN; must be milliseconds from 0 on, or Infinity'],
    ['a text', { graceMs: '5000' }, 'graceMs', 'is a string; must be milliseconds from 0 on, or Infinity'],
    ['null', { graceMs: null }, 'graceMs', 'is null; must be milliseconds from 0 on, or Infinity'],
    ['an unknown option', { gracems: 5 }, 'gracems', 'is not an option; near: graceMs'],
    ['no object', 5_000, undefined, 'is a number; must be an object of options'],
    ['null for the options', null, undefined, 'is null; must be an object of options'],
  ])('sallyport.stop and worker.stop refuse %s and stop nothing', async (_, options, field, detail) => {
    const { sallyport, clock } = stopping()
    sallyport.worker.start()
    const problems = [field === undefined ? { detail } : { field, detail }]
    for (const stop of [sallyport.stop, sallyport.worker.stop]) {
      await expect(stop(options as never)).rejects.toMatchObject({ code: 'option_invalid', problems })
    }
    expect([sallyport.endpoints.isStopping(), clock.timers > 0]).toEqual([false, true])
    await sallyport.stop()
  })
})
