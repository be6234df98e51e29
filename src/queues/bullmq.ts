/**
 * Wakes workers on other machines through Redis, by BullMQ.
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
import { withTimeout } from '../model/time-out.ts'
import { clock, like, loggerPort, word } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import type { GivenLogger } from '../ports/logger.ts'
import { consoleLogger } from '../runtime/console-logger.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { type Coalescer, coalesced } from './coalescer.ts'
import { faultLog } from './faults.ts'
import { createNotices } from './notices.ts'
import { connectionFault, connectionsOf } from './redis-connections.ts'
import { instantOf } from './timers.ts'
import { createWakeEmitter } from './wake-emitter.ts'

/** Options of {@link bullmqQueue}. */
export interface BullmqQueueOptions {
  /**
   * Options of a Redis connection as in BullMQ, or an ioredis client, whose options are used. One server or a Sentinel group, no cluster.
   */
  readonly connection: ConnectionOptions
  /** Name of the queue; processes with the same name wake each other. No colon. Default: `sallyport`. */
  readonly name?: string
  /** Prefix of its keys. Default: BullMQ's own, `bull`. */
  readonly prefix?: string
  /** Default: the system clock. */
  readonly clock?: Clock
  /** Logs `queue.unavailable` once a minute while Redis is unavailable. Default: the console, as JSON lines. */
  readonly logger?: GivenLogger
}

/** A queue over Redis and BullMQ. */
export interface BullmqQueue extends DeliveryQueue {
  /** Sends pending wakes and notices and ends the connections within seconds, also without Redis. Later ones have no effect. */
  close(): Promise<void>
}

interface Part {
  on(event: 'error', listener: (cause: Error) => void): unknown
  waitUntilReady(): Promise<unknown>
  close(): Promise<unknown>
  disconnect(): Promise<unknown>
}

type Reader = Pick<Worker | QueueEvents, 'getBackend' | 'waitUntilReady'>

interface WakeEvents extends QueueEventsListener {
  due(event: { readonly from: string }): void
  notice(event: { readonly from: string; readonly topic: string }): void
}

/** Length of the event stream. One event is enough for a fast reader. */
const KEPT_EVENTS = 100
/** Maximum instants that wait for Redis. Workers find later ones by polling. */
const MAX_UNSET = 1_000
/** Longest delay of a BullMQ job, some decades. Workers find later deliveries by polling. */
const FARTHEST_MS = 2 ** 40
const GOODBYE_MS = 1_000
/** Longer than BullMQ needs to notice that Redis is unavailable and the queue is closed. */
const CLOSE_MS = 3_000

const CHECKS: Checks<BullmqQueueOptions> = {
  connection: required(connectionFault),
  name: like(/^[^:]+$/, 'must be a text without a colon'),
  prefix: word,
  clock,
  logger: loggerPort,
}

/**
 * Wakes the workers of all processes that share a Redis. Pass it as `queue`.
 *
 * `wake(0)` publishes an event, not a job: every process polls and claims up to its free slots. Workers of the same process are woken
 * without Redis. `wake(delayMs)` adds a delayed job, which outlives its process; when it completes, every process polls. The due time is
 * rounded up: to a tenth of a second within a minute, to a second within an hour, to a minute beyond. Deliveries with the same due time
 * share one job. Concurrent wakes are coalesced to one every 10 ms. `notify(topic)` publishes an event that wakes no worker; notices are
 * coalesced to one every 10 ms for each topic.
 *
 * Deliveries do not depend on Redis: while it is unavailable or has lost its data, workers find due deliveries at their next poll. Wakes
 * never wait and never throw; a pending wake is sent once when Redis is back. Needs `bullmq` 6 and `ioredis`. A process that wakes has
 * one connection, one more with delayed wakes, and three more when it listens; it is `connected` while these three are.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function bullmqQueue(options: BullmqQueueOptions): BullmqQueue {
  const own = readOptions('bullmqQueue', options, CHECKS)
  const { name = 'sallyport', prefix, clock = systemClock, logger = consoleLogger } = own
  const from = crypto.randomUUID()
  const connections = connectionsOf(own.connection, () => !closing)
  const forWrites = { connection: connections.writing, ...(prefix !== undefined && { prefix }) }
  const forReads = { ...forWrites, connection: connections.waiting }
  const wakeEmitter = createWakeEmitter()
  const onFault = faultLog('bullmq', logger, clock)
  const parts = new Set<Part>()
  const unset = new Set<number>()
  let isListening = false
  let closing: Promise<void> | undefined

  function open<T extends Part>(part: T): T {
    part.on('error', onFault)
    parts.add(part)
    return part
  }

  /** BullMQ sets up a connection once. If that fails, all calls fail, so the next call opens another part. */
  function writing<T extends Part>(make: () => T): () => Promise<T> {
    let made: T | undefined
    return async () => {
      const part = made ?? open(make())
      made = part
      try {
        await part.waitUntilReady()
        return part
      } catch (cause) {
        made = undefined
        parts.delete(part)
        void closePart(part)
        throw cause
      }
    }
  }

  const producer = writing(() => new QueueEventsProducer(name, forWrites))
  const queue = writing(() => new Queue(name, { ...forWrites, streams: { events: { maxLen: KEPT_EVENTS } } }))
  const events = coalesced(
    async () => (await producer()).publishEvent({ eventName: 'due', from }, KEPT_EVENTS),
    clock,
    onFault,
  )
  const notices = createNotices(
    async (topic) => (await producer()).publishEvent({ eventName: 'notice', from, topic }, KEPT_EVENTS),
    clock,
    onFault,
  )
  const jobs: Coalescer = coalesced(addJobs, clock, onFault)

  async function addJobs(): Promise<void> {
    const jobQueue = await queue()
    const instants = [...unset]
    // An existing job of the same id stays: it completes at the same instant.
    await jobQueue.addBulk(
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

  function subscribe(): void {
    const worker = open(new Worker(name, async () => {}, { ...forReads, runRetryDelay: 1_000 }))
    // From the first stored event: misses none before the first read, and one too many only causes a poll.
    const stream = open(new QueueEvents(name, { ...forReads, lastEventId: '0-0' }))
    stream.on<WakeEvents, 'due'>('due', (event) => {
      if (event.from !== from) emit()
    })
    stream.on<WakeEvents, 'notice'>('notice', ({ from: sender, topic }) => {
      if (sender !== from && !closing) wakeEmitter.notice(topic)
    })
    stream.on('completed', emit)
    void watch([worker, stream])
  }

  /** Reports `connected` while all connections of the readers are ready. */
  async function watch(readers: readonly Reader[]): Promise<void> {
    const broken = new Set<unknown>()
    let isSetUp = false
    const report = (): void => {
      if (isSetUp && broken.size === 0 && !closing) wakeEmitter.connected()
      else wakeEmitter.lost()
    }
    const backends = readers.map((reader) => reader.getBackend())
    for (const one of backends.flatMap(({ connection, blockingConnection }) => [connection, blockingConnection])) {
      one?.on('ready', () => {
        broken.delete(one)
        report()
      })
      one?.on('close', () => {
        broken.add(one)
        report()
      })
    }
    // A reader whose set-up failed reads nothing, although it reconnects.
    isSetUp = await Promise.all(readers.map((reader) => reader.waitUntilReady())).then(
      () => true,
      () => false,
    )
    report()
  }

  function emit(): void {
    if (!closing) wakeEmitter.emit()
  }

  async function closeAll(): Promise<void> {
    wakeEmitter.lost()
    await Promise.all(
      [events, notices, jobs].map((calls) => withTimeout(calls.close(), { ms: GOODBYE_MS, clock }).catch(() => {})),
    )
    await Promise.all([...parts].map(closePart))
  }

  async function closePart(part: Part): Promise<void> {
    const inTime = (end: Promise<unknown>): Promise<unknown> => withTimeout(end, { ms: CLOSE_MS, clock })
    await inTime(part.close()).catch(() => inTime(part.disconnect()).catch(() => {}))
  }

  return {
    wake(delayMs) {
      if (closing) return
      if (delayMs > 0) {
        if (unset.size >= MAX_UNSET || delayMs > FARTHEST_MS) return
        unset.add(instantOf(clock.now(), delayMs))
        jobs.ask()
      } else {
        wakeEmitter.emit()
        events.ask()
      }
    },
    notify: notices.add,
    listen(listener) {
      if (!isListening && !closing) subscribe()
      isListening = true
      return wakeEmitter.listen(listener)
    },
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}
