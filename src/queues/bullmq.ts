/**
 * Wakes workers on other machines through Redis, by BullMQ.
 *
 * @module sallyport/queue/bullmq
 */
import {
  type ConnectionOptions,
  Queue,
  QueueEvents,
  type QueueEventsListener,
  QueueEventsProducer,
  Worker,
} from 'bullmq'
import { has, like, word } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import type { Logger } from '../ports/logger.ts'
import { consoleLogger } from '../runtime/console-logger.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { type Coalescer, coalesced } from './coalescer.ts'
import { faultLog } from './faults.ts'
import { instantOf } from './instants.ts'
import { connectionFault, connectionsOf } from './redis-connection.ts'
import { withTimeout } from './time-out.ts'
import { createWakeEmitter } from './wake-emitter.ts'

/** Where the alarms of {@link bullmqQueue} are kept. */
export interface BullmqQueueOptions {
  /**
   * As BullMQ takes it: the options of a Redis connection, or an ioredis client, of which only the options are used. One server
   * or a Sentinel group.
   */
  readonly connection: ConnectionOptions
  /** The name of the queue: processes with the same one wake each other. No colon. Default: `sallyport`. */
  readonly name?: string
  /** What its keys begin with. Default: BullMQ's own, `bull`. */
  readonly prefix?: string
  /** Default: the machine's time. */
  readonly clock?: Clock
  /** Is told once a minute, as `queue.unavailable`, while Redis cannot be used. Default: the console, as JSON lines. */
  readonly logger?: Logger
}

/** Alarms through Redis, by BullMQ. */
export interface BullmqQueue extends DeliveryQueue {
  /** Ends its connections, once the alarm that it still owes is out; within seconds, also without Redis. It rings no more. */
  close(): Promise<void>
}

/** A part of BullMQ. */
interface Part {
  on(event: 'error', listener: (cause: Error) => void): unknown
  close(): Promise<unknown>
  disconnect(): Promise<unknown>
}

interface WakeEvents extends QueueEventsListener {
  /** `from`: the queue that says so. */
  due(event: { readonly from: string }): void
}

/** Of the stream of events: one would do, but for who reads slowly. */
const KEPT_EVENTS = 100
/** Alarms for so many instants may wait to be set; those beyond are left to the workers' polls. */
const MAX_UNSET = 1_000
/** What BullMQ can count, some decades. Alarms beyond are left to the workers' polls too. */
const FARTHEST_MS = 2 ** 40
const GOODBYE_MS = 1_000
/** More than it takes BullMQ to notice that Redis is away, and that nobody waits for it any more. */
const CLOSE_MS = 3_000

const CHECKS: Checks<BullmqQueueOptions> = {
  connection: required(connectionFault),
  name: like(/^[^:]+$/, 'must be a text without a colon'),
  prefix: word,
  clock: has('now', 'after'),
  logger: has('log'),
}

/**
 * Wakes the workers of all processes that share a Redis, as their `queue`.
 *
 * `wake(0)` is an event that every process hears, and makes no job: each looks for what is due, and takes what it has places
 * for. `wake(delayMs)` is a delayed job, which outlives the process that set it; whichever process takes it, all hear of its
 * end. Alarms for the same instant are one job; instants are rounded up, to a tenth of a second within a minute, to a second within
 * an hour, to a minute beyond. `wake(0)` wakes the workers of its own process without Redis. Many wakes at once make few: one
 * every 10 ms.
 *
 * Nothing depends on Redis: while it is down or has lost everything, workers find what is due when they next look. Wakes never
 * wait and never throw; what is not yet said is said, once, when Redis is back. Needs `bullmq` 6 and `ioredis`. A process that
 * wakes has one connection, one more once it sets delayed alarms, and three more once it listens.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options.
 */
export function bullmqQueue(options: BullmqQueueOptions): BullmqQueue {
  const own = readOptions('bullmqQueue', options, CHECKS)
  const { name = 'sallyport', prefix, clock = systemClock, logger = consoleLogger } = own
  const from = crypto.randomUUID()
  const connections = connectionsOf(own.connection, () => !closing)
  const toReport = { connection: connections.telling, ...(prefix !== undefined && { prefix }) }
  const toWait = { ...toReport, connection: connections.waiting }
  const wakeEmitter = createWakeEmitter()
  const onFault = faultLog('bullmq', logger, clock)
  const parts: Part[] = []
  const unset = new Set<number>()
  let isListening = false
  let closing: Promise<void> | undefined

  function open<T extends Part>(part: T): T {
    part.on('error', onFault)
    parts.push(part)
    return part
  }

  const producer = once(() => open(new QueueEventsProducer(name, toReport)))
  const timers = once(() => open(new Queue(name, { ...toReport, streams: { events: { maxLen: KEPT_EVENTS } } })))
  const telling = coalesced(() => producer().publishEvent({ eventName: 'due', from }, KEPT_EVENTS), clock, onFault)
  const setting: Coalescer = coalesced(setTimers, clock, onFault)

  async function setTimers(): Promise<void> {
    const instants = [...unset]
    // A job that is there already stays: whatever asked for it again is due by its end.
    await timers().addBulk(
      instants.map((instant) => ({
        name: 'wake',
        data: {},
        opts: {
          jobId: `due-${instant}`,
          delay: Math.max(0, instant - clock.now()),
          removeOnComplete: true,
          removeOnFail: true,
        },
      })),
    )
    for (const instant of instants) unset.delete(instant)
  }

  function receive(): void {
    open(new Worker(name, async () => {}, { ...toWait, runRetryDelay: 1_000 }))
    // From the first event that is kept: none is missed before this one reads, and one too many only makes a worker look.
    const events = open(new QueueEvents(name, { ...toWait, lastEventId: '0-0' }))
    events.on<WakeEvents, 'due'>('due', (event) => {
      if (event.from !== from) ring()
    })
    events.on('completed', ring)
  }

  function ring(): void {
    if (!closing) wakeEmitter.ring()
  }

  async function closeAll(): Promise<void> {
    await Promise.all(
      [telling, setting].map((coalescers) => withTimeout(coalescers.close(), GOODBYE_MS, clock).catch(() => {})),
    )
    await Promise.all(parts.map(closePart))
  }

  async function closePart(part: Part): Promise<void> {
    const inTime = (end: Promise<unknown>): Promise<unknown> => withTimeout(end, CLOSE_MS, clock)
    await inTime(part.close()).catch(() => inTime(part.disconnect()).catch(() => {}))
  }

  return {
    wake(delayMs) {
      if (closing) return
      if (delayMs > 0) {
        if (unset.size >= MAX_UNSET || delayMs > FARTHEST_MS) return
        unset.add(instantOf(clock.now(), delayMs))
        setting.ask()
      } else {
        wakeEmitter.ring()
        telling.ask()
      }
    },
    listen(onDue) {
      if (!isListening && !closing) receive()
      isListening = true
      return wakeEmitter.listen(onDue)
    },
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

/** Makes it when it is first asked for. */
function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
