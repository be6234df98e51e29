import { describe, expect, it } from 'vitest'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { gate } from '../dispatch/dispatching.ts'
import { acceptMany, app, gated, pass, SENT, settled, stopping, totals } from './test-app.ts'

/** A store whose first call of `method` waits for `go`. */
function holding(method: 'claim' | 'settle'): {
  store: (real: DispatchStore) => Partial<DispatchStore>
  go: () => void
} {
  const { promise, open } = gate<void>()
  let held = 0
  async function first<T>(call: () => Promise<T>): Promise<T> {
    if (held++ === 0) await promise
    return call()
  }
  const store = (real: DispatchStore): Partial<DispatchStore> =>
    method === 'claim'
      ? { claim: (request) => first(() => real.claim(request)) }
      : { settle: (settlement) => first(() => real.settle(settlement)) }
  return { store, go: () => open() }
}

describe('the grace of a stop', () => {
  it.each([
    ['onSent', 60_000],
    ['onFailed', 0],
  ])('The grace bounds the wait for a hanging %s hook', async (hook, expiresInMs) => {
    const hooks = { [hook]: () => new Promise(() => {}) }
    const own = app({ a: recordingChannel() }, {}, { hooks, expiresInMs })
    await acceptMany(own.deps, 20)
    own.worker.start()
    await settled(own)
    const { isStopped } = stopping(own, 500)
    await pass(own, 1_499, 1_499)
    expect(isStopped()).toBe(false)
    await pass(own, 1)
    expect(isStopped()).toBe(true)
  })

  it('The grace bounds the wait for a claim, whose deliveries are queued again later', async () => {
    const { store, go } = holding('claim')
    const a = recordingChannel()
    const own = app({ a }, { store })
    await acceptMany(own.deps, 3)
    own.worker.start()
    await settled(own)
    const { isStopped } = stopping(own, 500)
    await pass(own, 1_499, 1_499)
    expect(isStopped()).toBe(false)
    await pass(own, 1)
    expect([isStopped(), own.deps.clock.timers]).toEqual([true, 0])
    go()
    await settled(own)
    expect([a.sent.length, await totals(own.deps), own.deps.clock.timers]).toEqual([0, { queued: 3 }, 0])
  })

  it('The grace bounds the wait for a settlement plus one second, and a later settlement is still stored', async () => {
    const { store, go } = holding('settle')
    const own = app({ a: recordingChannel() }, { store })
    await acceptMany(own.deps, 1)
    own.worker.start()
    await settled(own)
    const { isStopped } = stopping(own, 500)
    await pass(own, 2_499, 1_500)
    expect(isStopped()).toBe(false)
    await pass(own, 1)
    expect([isStopped(), own.deps.clock.timers]).toEqual([true, 0])
    expect(await totals(own.deps)).toEqual({ sending: 1 })
    go()
    await settled(own)
    expect(await totals(own.deps)).toEqual({ sent: 1 })
  })

  it('A stopping worker waits for the settlements of aborted sends', async () => {
    const { store, go } = holding('settle')
    const own = app({ a: recordingChannel([() => new Promise(() => {})]) }, { store })
    await acceptMany(own.deps, 1)
    own.worker.start()
    await settled(own)
    const { isStopped } = stopping(own, 500)
    await pass(own, 2_000)
    expect(isStopped()).toBe(false)
    go()
    await settled(own)
    expect([isStopped(), await totals(own.deps), own.deps.clock.timers]).toEqual([true, { queued: 1 }, 0])
  })

  it.each([undefined, Number.POSITIVE_INFINITY])('A grace of %d sets no timer and aborts nothing', async (graceMs) => {
    const { channel, gates } = gated()
    const own = app({ a: channel }, { sendTimeoutMs: 3_600_000 })
    await acceptMany(own.deps, 1)
    own.worker.start()
    await settled(own)
    const before = own.deps.clock.timers
    const { isStopped } = stopping(own, graceMs)
    expect(own.deps.clock.timers).toBe(before - 1)
    await pass(own, 600_000, 9_000)
    expect(isStopped()).toBe(false)
    gates[0]?.open(SENT)
    await settled(own)
    expect([isStopped(), await totals(own.deps)]).toEqual([true, { sent: 1 }])
  })
})

describe('a worker that is started again', () => {
  it.each([
    ['after', 1_500],
    ['before', 0],
  ])('A worker that is started again %s the stop has ended works beside a hanging claim', async (_, ms) => {
    const { store, go } = holding('claim')
    const own = app({ a: recordingChannel() }, { store })
    await acceptMany(own.deps, 3)
    own.worker.start()
    await settled(own)
    stopping(own, 500)
    if (ms > 0) await pass(own, ms)
    own.worker.start()
    await settled(own)
    expect(await totals(own.deps)).toEqual({ sent: 3 })
    go()
    await settled(own)
    expect(own.deps.clock.timers).toBe(2)
    await pass(own, 1_500)
    expect(own.deps.clock.timers).toBe(2)
    await own.worker.stop()
    expect(own.deps.clock.timers).toBe(0)
  })
})
