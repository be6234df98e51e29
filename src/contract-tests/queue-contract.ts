import { equal, ok } from './assertions.ts'
import { type ContractOptions, type ContractSubject, registerCases } from './contract.ts'
import { NOTICES } from './queue-notices.ts'
import {
  connected,
  type Listener,
  listen,
  otherOf,
  type QueueCapabilities,
  type QueueCase,
  type QueueTrial,
  queueCases,
} from './queue-trial.ts'

/** Options of {@link queueContract}. */
export interface QueueContractOptions extends ContractOptions {
  /** Returns an empty queue for each case. */
  readonly create: () => QueueTrial | Promise<QueueTrial>
  readonly capabilities?: QueueCapabilities
}

const QUEUE: ContractSubject<QueueCapabilities> = {
  name: 'queue',
  defaults: { secondHandle: true, injectedTime: true, disconnect: true, reportsConnection: true, notices: false },
}

const SOON_MS = 120
const HOUR_MS = 3_600_000
/** A timer of a real clock may be early by this: clocks are read in whole milliseconds. */
const ROUNDING_MS = 3

/** Requests a wake and waits for it. Fails if it comes too early. */
async function wakes(t: QueueTrial, delayMs: number, listener: Listener, by = t.queue): Promise<void> {
  const calls = listener.calledAt.length
  const askedAt = t.now()
  by.wake(delayMs)
  await t.until(() => listener.calledAt.length > calls)
  const after = (listener.calledAt[calls] ?? 0) - askedAt
  ok(after >= delayMs - ROUNDING_MS, `a wake in ${delayMs} ms called the listener after ${after} ms`)
}

function isCalledAfter({ calledAt }: Listener, time: number): boolean {
  return calledAt.some((at) => at >= time - ROUNDING_MS)
}

const CASES: readonly QueueCase[] = [
  ...queueCases([], {
    'wake without a delay calls the listener': async (t) => {
      const listener = await listen(t)
      for (let times = 0; times < 3; times++) await wakes(t, 0, listener)
    },
    'wake with a delay calls the listener, and not earlier': async (t) => {
      const listener = await listen(t)
      await wakes(t, SOON_MS, listener)
      await wakes(t, 1.5, listener)
    },
    'wake with a negative delay calls the listener at once': async (t) => {
      await wakes(t, -5_000, await listen(t))
    },
    'wake calls all listeners': async (t) => {
      const [one, two, three] = [await listen(t), await listen(t), await listen(t)]
      t.queue.wake(1)
      await t.until(() => [one, two, three].every(({ calledAt }) => calledAt.length > 0))
    },
    'a distant wake does not delay a near one': async (t) => {
      const listener = await listen(t)
      for (const days of [1, 30, 10_000]) t.queue.wake(days * 24 * HOUR_MS)
      await wakes(t, SOON_MS, listener)
    },
    'near and distant wakes do not replace one another': async (t) => {
      const listener = await listen(t)
      for (const delays of [
        [2 * SOON_MS, SOON_MS, 0],
        [0, SOON_MS, 2 * SOON_MS],
      ]) {
        const askedAt = t.now()
        for (const delayMs of delays) t.queue.wake(delayMs)
        await t.until(() => isCalledAfter(listener, askedAt + 2 * SOON_MS))
      }
    },
    'a thousand wakes call the listener at least once': async (t) => {
      const listener = await listen(t)
      for (let times = 0; times < 1_000; times++) t.queue.wake(times % 2)
      await t.until(() => listener.calledAt.length > 0)
    },
    'wake inside a listener calls it again': async (t) => {
      let rung = 0
      const due = (): void => {
        rung += 1
        if (rung < 5) t.queue.wake(0)
      }
      const stop = t.queue.listen({ due, connected() {}, lost() {} })
      await t.ready?.()
      t.queue.wake(0)
      await t.until(() => rung >= 5)
      stop()
    },
    'wake without a listener does nothing': async (t) => {
      for (const delayMs of [0, 1, HOUR_MS]) t.queue.wake(delayMs)
      await wakes(t, 0, await listen(t))
    },
    'a stopped listener is not called, and others are': async (t) => {
      const [stopped, listener] = [await listen(t), await listen(t)]
      const askedAt = t.now()
      t.queue.wake(SOON_MS)
      stopped.stop()
      await wakes(t, 0, listener)
      await t.until(() => isCalledAfter(listener, askedAt + SOON_MS))
      equal(stopped.calledAt, [])
    },
    'stopping a listener twice stops no other, and listening again works': async (t) => {
      const [stopped, listener] = [await listen(t), await listen(t)]
      stopped.stop()
      stopped.stop()
      await wakes(t, 0, listener)
      listener.stop()
      const again = await listen(t)
      stopped.stop()
      listener.stop()
      await wakes(t, 0, again)
      equal(stopped.calledAt, [])
    },
    'wake does not throw after the queue is closed': async (t) => {
      const { stop } = await listen(t)
      stop()
      await t.close?.()
      for (const delayMs of [0, 1, HOUR_MS]) t.queue.wake(delayMs)
    },
  }),
  ...queueCases(['disconnect'], {
    'wake does not throw while the queue is disconnected': async (t) => {
      const { stop } = await listen(t)
      await t.disconnect?.()
      for (let times = 0; times < 100; times++) t.queue.wake(times % 3)
      stop()
    },
  }),
  ...queueCases(['reportsConnection'], {
    'each listener is told that the queue is connected': async (t) => {
      const first = await connected(t)
      const second = await connected(t)
      second.stop()
      equal((await connected(t)).reports, ['connected'])
      equal(first.reports, ['connected'])
    },
  }),
  ...queueCases(['reportsConnection', 'disconnect'], {
    'each listener is told that the connection is lost, and a later one of none': async (t) => {
      const listeners = [await connected(t), await connected(t)]
      await t.disconnect?.()
      await t.until(() => listeners.every(({ reports }) => reports.at(-1) === 'lost'))
      equal((await listen(t)).reports, [])
    },
    'a stopped listener is not told that the connection is lost': async (t) => {
      const [stopped, listener] = [await connected(t), await connected(t)]
      stopped.stop()
      await t.disconnect?.()
      await t.until(() => listener.reports.at(-1) === 'lost')
      equal(stopped.reports, ['connected'])
    },
  }),
  ...queueCases(['reportsConnection', 'secondHandle'], {
    'wake through one handle calls each connected listener of the other': async (t) => {
      const there = [await connected(t, otherOf(t)), await connected(t, otherOf(t))]
      t.queue.wake(0)
      await t.until(() => there.every(({ calledAt }) => calledAt.length > 0))
    },
  }),
  ...queueCases(['secondHandle'], {
    'wake through one handle calls the listeners of the other': async (t) => {
      const there = await listen(t, otherOf(t))
      await wakes(t, 0, there)
      await wakes(t, SOON_MS, there)
      const here = await listen(t)
      await wakes(t, 0, here, otherOf(t))
    },
    'stopping a listener of one handle leaves those of the other': async (t) => {
      const [here, there] = [await listen(t), await listen(t, otherOf(t))]
      here.stop()
      await wakes(t, 0, there)
      equal(here.calledAt, [])
    },
  }),
  ...queueCases(['injectedTime'], {
    'wake calls the listener to the millisecond': async (t) => {
      const { calledAt } = await listen(t)
      t.queue.wake(1_000)
      await t.advance?.(999)
      equal(calledAt, [])
      await t.advance?.(1)
      ok(calledAt.length > 0, 'the listener is called at the time of the wake')
    },
    'pending wakes do not call a stopped listener': async (t) => {
      const { calledAt, stop } = await listen(t)
      for (const delayMs of [0, 1, SOON_MS, HOUR_MS]) t.queue.wake(delayMs)
      stop()
      await t.advance?.(2 * HOUR_MS)
      equal(calledAt, [])
    },
  }),
  ...NOTICES,
]

/**
 * Tests a `DeliveryQueue`: registers a case per guarantee of the port with your test runner. A queue may call listeners more often than
 * requested, but not before the first wake is due.
 */
export function queueContract(options: QueueContractOptions): void {
  registerCases('queueContract', QUEUE, CASES, options)
}
