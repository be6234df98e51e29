import { describe, expect, it } from 'vitest'
import type { WorkerOptions } from '../../../src/core/delivery/worker.ts'
import type { DeliveryQueue, QueueListener } from '../../../src/ports/delivery-queue.ts'
import type { DispatchStore, LeaseToken } from '../../../src/ports/dispatch-store.ts'
import { createWakeEmitter, type WakeEmitter } from '../../../src/queues/wake-emitter.ts'
import type { TestDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, outcomes } from '../dispatch/dispatching.ts'
import { app, BODY, pass, settled, type TestApp } from './test-app.ts'

/** A queue whose connection and wakes a test makes. */
interface TestQueue extends DeliveryQueue, Pick<WakeEmitter, 'emit' | 'connected' | 'lost'> {
  readonly listeners: readonly QueueListener[]
}

function testQueue(): TestQueue {
  const emitter = createWakeEmitter()
  const listeners: QueueListener[] = []
  return {
    ...emitter,
    listeners,
    wake() {},
    listen(listener) {
      listeners.push(listener)
      return emitter.listen(listener)
    },
  }
}

type Options = WorkerOptions & { store?: (real: DispatchStore) => Partial<DispatchStore> }

/** A started worker over such a queue. */
async function started(options: Options = {}, queue = testQueue()) {
  const own = app({ a: recordingChannel() }, options, { queue })
  own.worker.start()
  await settled(own)
  return { own, queue }
}

/** Times of the claims in the next milliseconds, from now on. */
async function claimTimes(own: TestApp, ms: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let at = 0, seen = own.claims.length; at <= ms; at += 100) {
    for (; seen < own.claims.length; seen++) times.push(at)
    if (at < ms) await pass(own, 100, 100)
  }
  return times
}

/** Accepts an event in another process, whose wake is lost. */
async function acceptedElsewhere({ deps }: TestApp): Promise<void> {
  await accepted({ ...deps, queue: undefined } as unknown as TestDeps, BODY)
}

/** Claims the one due delivery in another process. */
async function claimedElsewhere({ deps }: TestApp, leaseMs = 30_000): Promise<LeaseToken> {
  const [claimed] = (await deps.store.claim({ limits: { a: 1 }, leaseMs, busy: [] })).deliveries
  if (!claimed) throw new Error('nothing is due')
  return { deliveryId: claimed.deliveryId, fence: claimed.fence }
}

describe('a worker and the connection of its queue', () => {
  it('A worker polls every second until its queue is connected, and then every five seconds', async () => {
    const { own, queue } = await started()
    expect(await claimTimes(own, 2_500)).toEqual([1_000, 2_000])
    queue.connected()
    await settled(own)
    expect(await claimTimes(own, 10_400)).toEqual([5_000, 10_000])
  })

  it('A worker polls at once when its queue is connected, connected again or lost', async () => {
    const { own, queue } = await started()
    for (const report of [queue.connected, queue.lost, queue.connected, queue.lost]) {
      const before = own.claims.length
      report()
      await settled(own)
      expect(own.claims.length).toBe(before + 1)
    }
  })

  it('A worker polls every second again as soon as its queue is lost', async () => {
    const { own, queue } = await started()
    queue.connected()
    await settled(own)
    await pass(own, 1_500)
    queue.lost()
    await settled(own)
    expect(await claimTimes(own, 3_000)).toEqual([1_000, 2_000, 3_000])
  })

  it('A worker whose queue is lost during a claim polls every second after it', async () => {
    let report = (): void => {}
    const { own, queue } = await started({
      store: (real) => ({
        async claim(request) {
          const claims = await real.claim(request)
          report()
          report = () => {}
          return claims
        },
      }),
    })
    queue.connected()
    await settled(own)
    report = queue.lost
    expect(await claimTimes(own, 8_000)).toEqual([5_000, 5_000, 6_000, 7_000, 8_000])
  })

  it('A queue that is connected before the worker starts is polled every five seconds from the start', async () => {
    const queue = testQueue()
    queue.connected()
    const { own } = await started({}, queue)
    expect(own.claims).toHaveLength(1)
    expect(await claimTimes(own, 10_000)).toEqual([5_000, 10_000])
  })

  it('A wake of a connected queue causes a poll', async () => {
    const { own, queue } = await started()
    queue.connected()
    await settled(own)
    await acceptedElsewhere(own)
    expect(await outcomes(own.deps)).toEqual(['a: queued 0'])
    queue.emit()
    await settled(own)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
  })

  it('A worker with a connected queue sends a delivery whose wake was lost within five seconds', async () => {
    const { own, queue } = await started()
    queue.connected()
    await settled(own)
    await acceptedElsewhere(own)
    await pass(own, 4_900)
    expect(await outcomes(own.deps)).toEqual(['a: queued 0'])
    await pass(own, 100)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
  })

  it('A worker with a connected queue polls when the next known delivery is due', async () => {
    const { own, queue } = await started()
    queue.connected()
    await settled(own)
    await acceptedElsewhere(own)
    await own.deps.store.settle({ ...(await claimedElsewhere(own)), to: 'queued', delayMs: 7_300 })
    await pass(own, 7_200)
    expect(await outcomes(own.deps)).toEqual(['a: queued 0'])
    await pass(own, 100)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
  })

  it.each([
    ['30 seconds', {}, 30_000],
    ['two seconds', { leaseMs: 2_000 }, 2_000],
  ])(
    'A worker with a connected queue claims what a dead worker held when its lease of %s ends',
    async (_, own, leaseMs) => {
      const { own: alive, queue } = await started(own)
      queue.connected()
      await settled(alive)
      await pass(alive, 700)
      await acceptedElsewhere(alive)
      // The other worker dies at once.
      await claimedElsewhere(alive, leaseMs)
      await pass(alive, leaseMs - 100)
      expect(await outcomes(alive.deps)).toEqual(['a: sending 1'])
      await pass(alive, 100)
      expect(await outcomes(alive.deps)).toEqual(['a: sent 2'])
    },
  )

  it('A worker polls every pollMs, if that is set, also with a connected queue', async () => {
    const { own, queue } = await started({ pollMs: 2_000 })
    queue.connected()
    await settled(own)
    expect(await claimTimes(own, 4_000)).toEqual([2_000, 4_000])
  })

  it('A worker with a connected queue claims again a second after its store failed', async () => {
    let isDown = false
    const { own, queue } = await started({
      store: (real) => ({ claim: (request) => (isDown ? Promise.reject(new Error('down')) : real.claim(request)) }),
    })
    queue.connected()
    await settled(own)
    isDown = true
    expect(await claimTimes(own, 7_000)).toEqual([5_000, 6_000, 7_000])
  })

  it('A worker ignores the reports of a queue that it listened to before a stop', async () => {
    const { own, queue } = await started()
    await own.worker.stop()
    own.worker.start()
    await settled(own)
    expect(queue.listeners).toHaveLength(2)
    queue.listeners[0]?.connected()
    await settled(own)
    expect(await claimTimes(own, 2_000)).toEqual([1_000, 2_000])
  })
})
