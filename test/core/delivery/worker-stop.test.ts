import { describe, expect, it } from 'vitest'
import type { Channel, SendOutcome } from '../../../src/ports/channel.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, gate, outcomes, stored } from '../dispatch/dispatching.ts'
import { acceptMany, app, BODY, gated, pass, SENT, settled, stopping, totals } from './test-app.ts'

describe('a worker that is stopped', () => {
  it('A stopped worker waits for deliveries in flight and claims nothing more', async () => {
    const { channel, gates } = gated()
    const own = app({ a: channel }, { concurrency: 2 })
    await acceptMany(own.deps, 4)
    own.worker.start()
    await settled(own)
    const stop = stopping(own)
    await settled(own)
    expect(stop.isStopped()).toBe(false)
    gates[0]?.open(SENT)
    await settled(own)
    expect(stop.isStopped()).toBe(false)
    gates[1]?.open(SENT)
    await stop.ended
    expect(await totals(own.deps)).toEqual({ sent: 2, queued: 2 })
    expect(own.deps.clock.timers).toBe(0)
    await accepted(own.deps, BODY)
    await pass(own, 5_000)
    expect(await totals(own.deps)).toEqual({ sent: 2, queued: 3 })
  })

  it('A stopped worker queues claimed deliveries again, unsent and uncounted', async () => {
    const handing = gate<void>()
    const a = recordingChannel()
    const own = app(
      { a },
      {
        store: (real) => ({
          async claim(request) {
            const found = await real.claim(request)
            await handing.promise
            return found
          },
        }),
      },
    )
    await accepted(own.deps, BODY)
    own.worker.start()
    await settled(own)
    const stop = stopping(own)
    await settled(own)
    expect(stop.isStopped()).toBe(false)
    handing.open()
    await stop.ended
    expect(a.sent).toEqual([])
    expect(await outcomes(own.deps)).toEqual(['a: queued 0'])
    expect(own.deps.clock.timers).toBe(0)
  })

  it('`stop` waits for deliveries in flight of runDue', async () => {
    const { promise, open } = gate<SendOutcome>()
    const own = app({ a: recordingChannel([() => promise]) })
    await accepted(own.deps, BODY)
    const due = own.worker.runDue()
    await settled(own)
    const stop = stopping(own)
    await settled(own)
    expect(stop.isStopped()).toBe(false)
    open(SENT)
    await stop.ended
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
    await due
  })

  it('A worker that was not started may be stopped, also twice', async () => {
    const own = app({ a: recordingChannel() })
    await own.worker.stop()
    own.worker.start()
    await Promise.all([own.worker.stop(), own.worker.stop()])
    await own.worker.stop()
    expect(own.deps.clock.timers).toBe(0)
  })

  it('A worker may be started again, also while it stops', async () => {
    const { channel, gates } = gated()
    const own = app({ a: channel }, { concurrency: 1 })
    await acceptMany(own.deps, 2)
    own.worker.start()
    await settled(own)
    const ended = own.worker.stop()
    own.worker.start()
    gates[0]?.open(SENT)
    await settled(own)
    gates[1]?.open(SENT)
    await settled(own)
    await ended
    expect(await totals(own.deps)).toEqual({ sent: 2 })
    expect(own.deps.clock.timers).toBe(2)
    await own.worker.stop()
  })

  it.each([0, 5_000])('`stop` aborts sends after %d ms of grace and gives them one second more', async (graceMs) => {
    const aborted: boolean[] = []
    const deaf: Channel = recordingChannel([
      (_, { signal }) => {
        signal.addEventListener('abort', () => aborted.push(true))
        return new Promise(() => {})
      },
    ])
    const own = app({ a: deaf }, { concurrency: 2 })
    await acceptMany(own.deps, 3)
    own.worker.start()
    await settled(own)
    const stop = stopping(own, graceMs)
    await pass(own, graceMs + 999, 999)
    expect([aborted.length, stop.isStopped()]).toEqual([2, false])
    await pass(own, 1)
    await stop.ended
    expect(await totals(own.deps)).toEqual({ queued: 3 })
    const logs = (await stored(own.deps)).map(({ deliveries: [first] }) => first?.attemptLog[0]?.code)
    expect(logs.toSorted()).toEqual(['stopped', 'stopped', undefined])
    expect(own.deps.clock.timers).toBe(0)
  })

  it('`stop` takes results within its grace and leaves no timer', async () => {
    const { channel, gates } = gated()
    const own = app({ a: channel })
    await acceptMany(own.deps, 1)
    own.worker.start()
    await settled(own)
    const ended = own.worker.stop({ graceMs: 5_000 })
    await pass(own, 4_999)
    gates[0]?.open(SENT)
    await ended
    expect(await totals(own.deps)).toEqual({ sent: 1 })
    expect(own.deps.clock.timers).toBe(0)
  })

  it('A second stop may shorten the grace', async () => {
    const own = app({ a: recordingChannel([() => new Promise(() => {})]) })
    await acceptMany(own.deps, 1)
    own.worker.start()
    await settled(own)
    const ended = own.worker.stop()
    const hurried = own.worker.stop({ graceMs: 0 })
    await pass(own, 1_000)
    await Promise.all([ended, hurried])
    expect(await outcomes(own.deps)).toEqual(['a: queued 1'])
  })

  it('The end of the grace does not abort sends begun after a restart', async () => {
    const signals: AbortSignal[] = []
    const deaf = recordingChannel([
      (_, { signal }) => {
        signals.push(signal)
        return new Promise(() => {})
      },
    ])
    const own = app({ a: deaf })
    await acceptMany(own.deps, 1)
    own.worker.start()
    await settled(own)
    void own.worker.stop({ graceMs: 1_000 })
    own.worker.start()
    await acceptMany(own.deps, 1)
    await settled(own)
    await pass(own, 1_000)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  })

  it('`stop` ends runDue, which claims nothing more and gives its counts', async () => {
    const { channel, gates } = gated()
    const own = app({ a: channel }, { concurrency: 2 })
    await acceptMany(own.deps, 5)
    const run = own.worker.runDue()
    await settled(own)
    const ended = own.worker.stop()
    gates[0]?.open(SENT)
    gates[1]?.open(SENT)
    await ended
    expect(await run).toMatchObject({ attempted: 2, sent: 2 })
    expect(await totals(own.deps)).toEqual({ sent: 2, queued: 3 })
  })

  it('A queued claim does not run after stop', async () => {
    const claiming = gate<void>()
    const own = app(
      { a: recordingChannel() },
      {
        store: (real) => ({
          async claim(request) {
            await claiming.promise
            return real.claim(request)
          },
        }),
      },
    )
    await acceptMany(own.deps, 2)
    const runs = [own.worker.runDue(), own.worker.runDue()]
    await settled(own)
    const ended = own.worker.stop()
    claiming.open()
    await Promise.all([...runs, ended])
    expect(own.claims).toHaveLength(1)
    expect(await totals(own.deps)).toEqual({ queued: 2 })
  })

  it('`stop` ends a runDue that waits for a rate limit', async () => {
    const own = app({ a: recordingChannel() }, { rate: { max: 1, perMs: 60_000 } })
    await acceptMany(own.deps, 2)
    const run = own.worker.runDue()
    await settled(own)
    await own.worker.stop()
    expect(await run).toMatchObject({ sent: 1 })
    expect(own.deps.clock.timers).toBe(0)
  })

  it('runDue works after a stop', async () => {
    const own = app({ a: recordingChannel() })
    await acceptMany(own.deps, 2)
    await own.worker.stop()
    expect(await own.worker.runDue()).toMatchObject({ sent: 2 })
  })

  it('`stop` waits for the hooks of sent and expired deliveries', async () => {
    for (const expiresInMs of [1_000, 2_000]) {
      const hookDone = gate<void>()
      const hooks = { onSent: () => hookDone.promise, onFailed: () => hookDone.promise }
      const own = app({ a: recordingChannel() }, {}, { hooks, expiresInMs })
      await acceptMany(own.deps, 1)
      own.deps.clock.advance(1_000)
      own.worker.start()
      await settled(own)
      const stop = stopping(own)
      await settled(own)
      expect(stop.isStopped()).toBe(false)
      hookDone.open()
      await stop.ended
    }
  })
})
