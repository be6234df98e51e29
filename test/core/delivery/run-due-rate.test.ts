import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, gate } from '../dispatch/dispatching.ts'
import { acceptMany, app, BODY, pass, settled } from './test-app.ts'

describe('runDue', () => {
  it('runDue waits for a rate limit without blocking other channels', async () => {
    const both = defineEvents({ e: { channels: { a: {}, b: {} } } })
    const [a, b] = [recordingChannel(), recordingChannel()]
    const own = app({ a, b }, { channels: { a: { rate: { max: 2, perMs: 1_000 } } } }, { events: both })
    await acceptMany(own.deps, 5)
    const run = own.worker.runDue()
    await settled(own)
    expect([a.sent.length, b.sent.length]).toEqual([2, 5])
    await pass(own, 999, 999)
    expect(a.sent).toHaveLength(2)
    await pass(own, 1)
    expect(a.sent).toHaveLength(4)
    await pass(own, 1_000)
    expect(await run).toMatchObject({ attempted: 10, sent: 10 })
    expect(own.deps.clock.timers).toBe(0)
  })

  it('runDue does not wait for a rate limit when nothing is left to send', async () => {
    const a = recordingChannel()
    const own = app({ a }, { rate: { max: 2, perMs: 3_600_000 } })
    await acceptMany(own.deps, 2)
    expect(await own.worker.runDue()).toMatchObject({ sent: 2 })
    expect(own.deps.clock.timers).toBe(0)
  })

  it.each([
    [3_000, 1],
    [3_001, 0],
  ])('runDue with a rate limit of 3,000 ms and a delivery due in %d ms sends %d more', async (delayMs, more) => {
    const events = defineEvents({ e: { channels: { a: {} } }, later: { delayMs, channels: { a: {} } } })
    const own = app({ a: recordingChannel() }, { rate: { max: 1, perMs: 3_000 } }, { events })
    await accepted(own.deps, { ...BODY, eventType: 'later' })
    await accepted(own.deps, BODY)
    const run = own.worker.runDue()
    await settled(own)
    expect(own.deps.clock.timers).toBe(more)
    await pass(own, 3_000)
    expect(await run).toMatchObject({ sent: 1 + more })
    expect(own.deps.clock.timers).toBe(0)
  })

  it('runDue does not wait for a rate limit when only another channel has a due delivery', async () => {
    const events = defineEvents({ e: { channels: { a: {} } }, later: { delayMs: 1_000, channels: { b: {} } } })
    const channels = { a: { rate: { max: 1, perMs: 3_600_000 } } }
    const own = app({ a: recordingChannel(), b: recordingChannel() }, { channels }, { events })
    await accepted(own.deps, { ...BODY, eventType: 'later' })
    await accepted(own.deps, BODY)
    expect(await own.worker.runDue()).toMatchObject({ sent: 1 })
  })

  it('runDue that is stopped during its rate-limit claim does not wait', async () => {
    const asking = gate<void>()
    const store = (real: DispatchStore): Partial<DispatchStore> => ({
      async claim(request) {
        const found = await real.claim(request)
        if (request.limits.a === 0) await asking.promise
        return found
      },
    })
    const own = app({ a: recordingChannel() }, { store, rate: { max: 1, perMs: 3_600_000 } })
    await acceptMany(own.deps, 2)
    const run = own.worker.runDue()
    await settled(own)
    const stopping = own.worker.stop()
    asking.open()
    await stopping
    await settled(own)
    expect(own.deps.clock.timers).toBe(0)
    expect(await run).toMatchObject({ sent: 1 })
  })

  it('runDue throws the error of the store in its rate-limit claim', async () => {
    const store = (real: DispatchStore): Partial<DispatchStore> => ({
      claim: (request) => (request.limits.a === 0 ? Promise.reject(new Error('down')) : real.claim(request)),
    })
    const own = app({ a: recordingChannel() }, { store, rate: { max: 1, perMs: 60_000 } })
    await acceptMany(own.deps, 2)
    await expect(own.worker.runDue()).rejects.toThrow('down')
  })
})
