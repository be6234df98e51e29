import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import { equal, ok } from './assertions.ts'
import { type ContractCase, type ContractOptions, type ContractSubject, registerCases } from './contract.ts'

/** A queue that one case is tried on: nobody else's alarms ring in it. */
export interface QueueTrial {
  readonly queue: DeliveryQueue
  /** A second handle on the same alarms, as another process has it. Left out where there can be none. */
  readonly other?: DeliveryQueue
  /** The time that alarms go by, in milliseconds. */
  now(): number
  /** Resolves once that is so, and throws when it takes far too long. Meanwhile time goes on: by itself, or moved by this. */
  until(condition: () => boolean): Promise<void>
  /** Moves time on by just so much, and lets ring what is due by then. Left out where time cannot be moved. */
  advance?(ms: number): void | Promise<void>
  /** Resolves once whoever listens by now would hear an alarm. Left out where that is so at once. */
  ready?(): Promise<void>
  /** Takes from the queue what it rings through, such as its server. Left out where there is nothing. */
  disconnect?(): void | Promise<void>
  /** Lets go of it when the case is over, however it ended. A case may have done so before. */
  close?(): void | Promise<void>
}

/** What a queue is said to be able to do: a case that needs what it cannot is skipped. */
export interface QueueCapabilities {
  /** There is an `other` handle. Default: `true`. */
  readonly secondHandle?: boolean
  /** Time can be moved: there is an `advance`. Default: `true`. */
  readonly injectedTime?: boolean
  /** There is a `disconnect`. Default: `true`. */
  readonly disconnect?: boolean
}

/** Which queue is tried, and how. */
export interface QueueContractOptions extends ContractOptions {
  readonly create: () => QueueTrial | Promise<QueueTrial>
  readonly capabilities?: QueueCapabilities
}

type QueueCase = ContractCase<QueueTrial, QueueCapabilities>

const QUEUE: ContractSubject<QueueCapabilities> = {
  name: 'queue',
  defaults: { secondHandle: true, injectedTime: true, disconnect: true },
}

const SOON_MS = 120
const HOUR_MS = 3_600_000
/** By so much a timer of a real clock may be early: clocks are read in whole milliseconds. */
const ROUNDING_MS = 3

/** Somebody who listens: when it was rung for. */
interface Listener {
  readonly rungAt: readonly number[]
  stop(): void
}

async function listen(trial: QueueTrial, queue: DeliveryQueue = trial.queue): Promise<Listener> {
  const rungAt: number[] = []
  const stop = queue.listen(() => void rungAt.push(trial.now()))
  await trial.ready?.()
  return { rungAt, stop }
}

function otherOf({ other }: QueueTrial): DeliveryQueue {
  ok(other, 'the trial has a second handle, or the queue declares that there is none')
  return other
}

/** Asks for an alarm, and waits for it. It must not ring before its time. */
async function ringsAfter(trial: QueueTrial, delayMs: number, listener: Listener, by = trial.queue): Promise<void> {
  const rung = listener.rungAt.length
  const askedAt = trial.now()
  by.wake(delayMs)
  await trial.until(() => listener.rungAt.length > rung)
  const after = (listener.rungAt[rung] ?? 0) - askedAt
  ok(after >= delayMs - ROUNDING_MS, `an alarm in ${delayMs} ms rang after ${after} ms`)
}

const CASES: readonly QueueCase[] = [
  {
    name: 'an alarm for now rings',
    async run(trial) {
      const listener = await listen(trial)
      for (let times = 0; times < 3; times++) await ringsAfter(trial, 0, listener)
    },
  },
  {
    name: 'an alarm for later rings, and not before its time',
    async run(trial) {
      const listener = await listen(trial)
      await ringsAfter(trial, SOON_MS, listener)
      await ringsAfter(trial, 1.5, listener)
    },
  },
  {
    name: 'an alarm for a time that is over rings like one for now',
    async run(trial) {
      await ringsAfter(trial, -5_000, await listen(trial))
    },
  },
  {
    name: 'an alarm rings to all who listen',
    async run(trial) {
      const [one, two, three] = [await listen(trial), await listen(trial), await listen(trial)]
      trial.queue.wake(1)
      await trial.until(() => [one, two, three].every(({ rungAt }) => rungAt.length > 0))
    },
  },
  {
    name: 'an alarm that is far away holds up none that is near, however far it is',
    async run(trial) {
      const listener = await listen(trial)
      for (const days of [1, 30, 10_000]) trial.queue.wake(days * 24 * HOUR_MS)
      await ringsAfter(trial, SOON_MS, listener)
    },
  },
  {
    name: 'an alarm that is near takes none away that is later, and the other way round',
    async run(trial) {
      const listener = await listen(trial)
      for (const delays of [
        [2 * SOON_MS, SOON_MS, 0],
        [0, SOON_MS, 2 * SOON_MS],
      ]) {
        const askedAt = trial.now()
        for (const delayMs of delays) trial.queue.wake(delayMs)
        await trial.until(() => listener.rungAt.some((at) => at - askedAt >= 2 * SOON_MS - ROUNDING_MS))
      }
    },
  },
  {
    name: 'a thousand alarms at once ring, be it once or each',
    async run(trial) {
      const listener = await listen(trial)
      for (let times = 0; times < 1_000; times++) trial.queue.wake(times % 2)
      await trial.until(() => listener.rungAt.length > 0)
    },
  },
  {
    name: 'an alarm that is asked for while one rings, rings too',
    async run(trial) {
      let rung = 0
      const stop = trial.queue.listen(() => {
        rung += 1
        if (rung < 5) trial.queue.wake(0)
      })
      await trial.ready?.()
      trial.queue.wake(0)
      await trial.until(() => rung >= 5)
      stop()
    },
  },
  {
    name: 'an alarm that nobody listens for does no harm',
    async run(trial) {
      for (const delayMs of [0, 1, HOUR_MS]) trial.queue.wake(delayMs)
      await ringsAfter(trial, 0, await listen(trial))
    },
  },
  {
    name: 'who has stopped listening hears nothing more, while others do',
    async run(trial) {
      const [stopped, listener] = [await listen(trial), await listen(trial)]
      trial.queue.wake(SOON_MS)
      stopped.stop()
      await ringsAfter(trial, 0, listener)
      await ringsAfter(trial, SOON_MS, listener)
      equal(stopped.rungAt, [])
    },
  },
  {
    name: 'to stop listening twice stops nobody else, and one can listen again',
    async run(trial) {
      const [stopped, listener] = [await listen(trial), await listen(trial)]
      stopped.stop()
      stopped.stop()
      await ringsAfter(trial, 0, listener)
      listener.stop()
      const again = await listen(trial)
      stopped.stop()
      listener.stop()
      await ringsAfter(trial, 0, again)
      equal(stopped.rungAt, [])
    },
  },
  {
    name: 'a wake does not throw once the queue was let go of',
    async run(trial) {
      const { stop } = await listen(trial)
      stop()
      await trial.close?.()
      for (const delayMs of [0, 1, HOUR_MS]) trial.queue.wake(delayMs)
    },
  },
  {
    name: 'a wake does not throw while there is nothing to ring through',
    needs: ['disconnect'],
    async run(trial) {
      const { stop } = await listen(trial)
      await trial.disconnect?.()
      for (let times = 0; times < 100; times++) trial.queue.wake(times % 3)
      stop()
    },
  },
  {
    name: 'an alarm that one handle asks for rings at the other, now and later',
    needs: ['secondHandle'],
    async run(trial) {
      const there = await listen(trial, otherOf(trial))
      await ringsAfter(trial, 0, there)
      await ringsAfter(trial, SOON_MS, there)
      const here = await listen(trial)
      await ringsAfter(trial, 0, here, otherOf(trial))
    },
  },
  {
    name: 'who has stopped listening at one handle stops nobody at the other',
    needs: ['secondHandle'],
    async run(trial) {
      const [here, there] = [await listen(trial), await listen(trial, otherOf(trial))]
      here.stop()
      await ringsAfter(trial, 0, there)
      equal(here.rungAt, [])
    },
  },
  {
    name: 'an alarm rings when its time has come, to the millisecond',
    needs: ['injectedTime'],
    async run(trial) {
      const { rungAt } = await listen(trial)
      trial.queue.wake(1_000)
      await trial.advance?.(999)
      equal(rungAt, [])
      await trial.advance?.(1)
      ok(rungAt.length > 0, 'an alarm rings at its time')
    },
  },
  {
    name: 'alarms that were asked for ring no more to who has stopped listening, however much time goes by',
    needs: ['injectedTime'],
    async run(trial) {
      const { rungAt, stop } = await listen(trial)
      for (const delayMs of [0, 1, SOON_MS, HOUR_MS]) trial.queue.wake(delayMs)
      stop()
      await trial.advance?.(2 * HOUR_MS)
      equal(rungAt, [])
    },
  },
]

/**
 * Tries a queue: each sentence of {@link DeliveryQueue} is one case or more, registered with your test runner. An alarm may
 * ring more often than it was asked to, but not before the first of them is due.
 */
export function queueContract(options: QueueContractOptions): void {
  registerCases('queueContract', QUEUE, CASES, options)
}
