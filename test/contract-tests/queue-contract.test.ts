import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { queueContract } from '../../src/contract-tests/queue-contract.ts'
import type { QueueTrial } from '../../src/contract-tests/queue-trial.ts'
import type { DeliveryQueue, QueueListener } from '../../src/ports/delivery-queue.ts'
import { localQueue } from '../../src/queues/local.ts'
import { createWakeEmitter } from '../../src/queues/wake-emitter.ts'
import { systemClock } from '../../src/runtime/system-clock.ts'

/** Longer than any case takes, by an injected clock. */
const CAP_MS = 10_000

/** Waits one turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function injected(change: (queue: DeliveryQueue) => DeliveryQueue = (queue) => queue): QueueTrial {
  const clock = fakeClock()
  const queue = change(localQueue(clock))
  return {
    queue,
    other: queue,
    now: clock.now,
    async advance(ms) {
      await turn()
      clock.advance(ms)
      await turn()
    },
    async until(condition) {
      await turn()
      for (let ms = 0; !condition(); ms++) {
        if (ms > CAP_MS) throw new Error('it did not come about')
        clock.advance(1)
        await turn()
      }
    },
  }
}

/** A queue with a connection, which `disconnect` ends. */
function connected(plant: (queue: DeliveryQueue) => DeliveryQueue = (queue) => queue): QueueTrial {
  const connection = createWakeEmitter()
  connection.connected()
  const trial = injected((queue) =>
    plant({
      wake: queue.wake,
      notify: connection.notice,
      listen(listener) {
        const stops = [queue.listen(listener), connection.listen(listener)]
        return () => {
          for (const stop of stops) stop()
        }
      },
    }),
  )
  return { ...trial, disconnect: connection.lost }
}

function running(): QueueTrial {
  const queue = localQueue(systemClock)
  return {
    queue,
    now: systemClock.now,
    async until(condition) {
      while (!condition()) await turn()
    },
  }
}

describe('queueContract on the queue of one process', () => {
  queueContract({
    test: it,
    skip: it.skip,
    create: () => injected(),
    capabilities: { disconnect: false, reportsConnection: false },
  })
})

describe('queueContract on a queue with a connection and notices', () => {
  queueContract({ test: it, create: () => connected(), capabilities: { notices: true } })
})

describe('queueContract on the queue of one process, whose clock runs', () => {
  const capabilities = { disconnect: false, injectedTime: false, secondHandle: false, reportsConnection: false }
  queueContract({ test: it, skip: it.skip, create: running, capabilities })
})

/** Plausible bugs of a queue, and the case that must catch each. */
const BUGS: readonly { it: string; plant: (queue: DeliveryQueue) => DeliveryQueue; caughtBy: string }[] = [
  {
    it: 'ignores the delay',
    plant: (queue) => ({ ...queue, wake: () => queue.wake(0) }),
    caughtBy: 'wake with a delay calls the listener, and not earlier',
  },
  {
    it: 'never wakes without a delay',
    plant: (queue) => ({ ...queue, wake: (delayMs) => (delayMs > 0 ? queue.wake(delayMs) : undefined) }),
    caughtBy: 'wake with a negative delay calls the listener at once',
  },
  {
    it: 'counts time in 32 bits',
    plant: (queue) => ({ ...queue, wake: (delayMs) => queue.wake(delayMs > 2 ** 31 ? 1 : delayMs) }),
    caughtBy: 'a distant wake does not delay a near one',
  },
  {
    it: 'keeps only the nearest wake',
    plant(queue) {
      let nearest = Number.POSITIVE_INFINITY
      const set = (): void => {
        queue.wake(nearest)
        nearest = Number.POSITIVE_INFINITY
      }
      return {
        ...queue,
        wake(delayMs) {
          if (nearest === Number.POSITIVE_INFINITY) queueMicrotask(set)
          nearest = Math.min(nearest, delayMs)
        },
      }
    },
    caughtBy: 'near and distant wakes do not replace one another',
  },
  {
    it: 'wakes only the last listener',
    plant(queue) {
      let stop = (): void => {}
      const listen: DeliveryQueue['listen'] = (listener) => {
        stop()
        stop = queue.listen(listener)
        return stop
      }
      return { ...queue, listen }
    },
    caughtBy: 'wake calls all listeners',
  },
  {
    it: 'wakes stopped listeners',
    plant: (queue) => ({
      ...queue,
      listen(listener) {
        queue.listen(listener)
        return () => {}
      },
    }),
    caughtBy: 'a stopped listener is not called, and others are',
  },
  {
    it: 'throws in wake',
    plant: (queue) => ({
      ...queue,
      wake() {
        throw new Error('there is no server')
      },
    }),
    caughtBy: 'wake does not throw after the queue is closed',
  },
  {
    it: 'does not report that it is connected',
    plant: reporting(() => ({ connected() {} })),
    caughtBy: 'each listener is told that the queue is connected',
  },
  {
    it: 'reports that it is connected to the first listener only',
    plant: reporting((at) => (at === 0 ? {} : { connected() {} })),
    caughtBy: 'each listener is told that the queue is connected',
  },
  {
    it: 'does not report that its connection is lost',
    plant: reporting(() => ({ lost() {} })),
    caughtBy: 'each listener is told that the connection is lost, and a later one of none',
  },
  {
    it: 'reports a lost connection to the last listener only',
    plant: reporting((at) => (at === 1 ? {} : { lost() {} })),
    caughtBy: 'each listener is told that the connection is lost, and a later one of none',
  },
  {
    it: 'is connected for new listeners after its connection is lost',
    plant: (queue) => ({
      ...queue,
      listen(listener) {
        listener.connected()
        return queue.listen({ ...listener, connected() {} })
      },
    }),
    caughtBy: 'each listener is told that the connection is lost, and a later one of none',
  },
  {
    it: 'reports to stopped listeners',
    plant: (queue) => ({
      ...queue,
      listen(listener) {
        queue.listen({ ...listener, due() {} })
        return queue.listen({ ...listener, connected() {}, lost() {} })
      },
    }),
    caughtBy: 'a stopped listener is not told that the connection is lost',
  },
  {
    it: 'wakes one listener of another process only',
    plant(queue) {
      let isFirst = true
      return {
        ...queue,
        listen(listener) {
          const stop = queue.listen(isFirst ? listener : { ...listener, due() {} })
          isFirst = false
          return stop
        },
      }
    },
    caughtBy: 'wake through one handle calls each connected listener of the other',
  },
  {
    it: 'has no notify, although it declares notices',
    plant: ({ wake, listen }) => ({ wake, listen }),
    caughtBy: 'notify does not throw after the queue is closed',
  },
  {
    it: 'throws in notify',
    plant: (queue) => ({
      ...queue,
      notify() {
        throw new Error('there is no server')
      },
    }),
    caughtBy: 'notify does not throw while the queue is disconnected',
  },
  {
    it: 'drops the topic of a notice',
    plant: (queue) => ({ ...queue, notify: () => queue.notify?.('a') }),
    caughtBy: 'notify through one handle calls `noticed` of all listeners of the other, with the topic',
  },
  {
    it: 'sends one notice of a topic only',
    plant(queue) {
      const sent = new Set<string>()
      return {
        ...queue,
        notify(topic) {
          if (!sent.has(topic)) queue.notify?.(topic)
          sent.add(topic)
        },
      }
    },
    caughtBy: 'each notice arrives, also after others of its topic',
  },
  {
    it: 'sends only the last of several notices',
    plant(queue) {
      let last: string | undefined
      const send = (): void => {
        if (last !== undefined) queue.notify?.(last)
        last = undefined
      }
      return {
        ...queue,
        notify(topic) {
          if (last === undefined) queueMicrotask(send)
          last = topic
        },
      }
    },
    caughtBy: 'notices of several topics do not replace one another',
  },
  {
    it: 'polls for notices too',
    plant: (queue) => ({
      ...queue,
      notify(topic) {
        queue.notify?.(topic)
        queue.wake(0)
      },
    }),
    caughtBy: 'a notice does not call `due`, and a wake does not call `noticed`',
  },
  {
    it: 'sends a notice with each wake',
    plant: (queue) => ({
      ...queue,
      wake(delayMs) {
        queue.wake(delayMs)
        queue.notify?.('due')
      },
    }),
    caughtBy: 'a notice does not call `due`, and a wake does not call `noticed`',
  },
  {
    it: 'sends notices to stopped listeners',
    plant: (queue) => ({
      ...queue,
      listen(listener) {
        queue.listen({ ...listener, due() {}, connected() {}, lost() {} })
        const { noticed: _, ...rest } = listener
        return queue.listen(rest)
      },
    }),
    caughtBy: 'a stopped listener gets no notices, and others do',
  },
]

/** Plants a queue that replaces methods of each listener, by its number. */
function reporting(methods: (at: number) => Partial<QueueListener>): (queue: DeliveryQueue) => DeliveryQueue {
  return (queue) => {
    let listeners = 0
    return { ...queue, listen: (listener) => queue.listen({ ...listener, ...methods(listeners++) }) }
  }
}

describe('queueContract', () => {
  it.each(BUGS)('queueContract catches an implementation that $it', async ({ plant, caughtBy }) => {
    const cases = new Map<string, () => Promise<void>>()
    queueContract({
      test: (name, body) => cases.set(name, body),
      create: () => connected(plant),
      capabilities: { notices: true },
    })
    await expect(cases.get(caughtBy)?.()).rejects.toThrow()
  })
})
