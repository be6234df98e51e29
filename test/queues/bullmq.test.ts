import { randomUUID } from 'node:crypto'
import { Queue, QueueEvents } from 'bullmq'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type BullmqQueue, type BullmqQueueOptions, bullmqQueue } from '../../src/queues/bullmq.ts'
import { gate } from '../core/dispatch/dispatching.ts'
import { type RecordingLogger, recordingLogger } from '../support/deps.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { accept, fleet, outbox } from './fleet.ts'
import { countWakes } from './listener.ts'
import { serviceOrSkip } from './services.ts'

const PORT = 6379

const describeRedis = await serviceOrSkip('redis')

describeRedis('the BullMQ queue', () => {
  let redis: Redis
  let prefix: string
  let logger: RecordingLogger
  let open: BullmqQueue[]
  /** Stands still at the time of the test, so that no time limit passes. */
  let still: FakeClock

  beforeEach(() => {
    redis = new Redis({ port: PORT })
    prefix = `sallyport-test-${randomUUID()}`
    logger = recordingLogger()
    open = []
    still = fakeClock(Date.now())
  })

  afterEach(async () => {
    await Promise.all(open.map((queue) => queue.close()))
    const keys = await keysOf()
    if (keys.length > 0) await redis.del(keys)
    redis.disconnect()
  })

  /** A queue as one process has it. */
  function process(rest: Partial<BullmqQueueOptions> = {}): BullmqQueue {
    const queue = bullmqQueue({ connection: { port: PORT }, prefix, logger, ...rest })
    open.push(queue)
    return queue
  }

  async function keysOf(): Promise<string[]> {
    return (await redis.keys(`${prefix}:*`)).sort()
  }

  /** Number of entries in the event stream, by event name. */
  async function eventCounts(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const [, fields] of await redis.xrange(`${prefix}:sallyport:events`, '-', '+')) {
      const kind = fields[fields.indexOf('event') + 1] ?? ''
      counts[kind] = (counts[kind] ?? 0) + 1
    }
    return counts
  }

  /** @param look Reads from a BullMQ queue of the same name. */
  async function ofBullmq<T>(look: (queue: Queue) => Promise<T>): Promise<T> {
    const queue = new Queue('sallyport', { connection: { port: PORT }, prefix })
    try {
      return await look(queue)
    } finally {
      await queue.close()
    }
  }

  it('The BullMQ queue wakes every listening process', async () => {
    const [a, b] = [countWakes(process()), countWakes(process())]
    process().wake(0)
    await Promise.all([a.next(), b.next()])
    expect(logger.lines).toEqual([])
  })

  it('The BullMQ queue wakes its own process once, and each other process once', async () => {
    const [a, b] = [process(), process()]
    const [atA, atB] = [countWakes(a), countWakes(b)]
    const emit = vi.spyOn(QueueEvents.prototype, 'emit')
    const events = () => emit.mock.calls.filter(([event]) => `${event}` === 'due')
    for (const [at, queue] of [a, b].entries()) {
      queue.wake(0)
      // Both processes have read the event, the sender too.
      while (events().length < 2 * (at + 1)) await new Promise(setImmediate)
      await new Promise(setImmediate)
    }
    emit.mockRestore()
    expect([atA.wakes, atB.wakes]).toEqual([2, 2])
  })

  it('The BullMQ queue is connected once it hears of the wakes of others', async () => {
    const a = countWakes(process())
    await a.reported(1)
    process().wake(0)
    await a.reached(1)
    expect(a.reports).toEqual(['connected'])
  })

  it('The BullMQ queue is not connected when a reader could not be set up, although its connections are ready', async () => {
    const setUp = vi.spyOn(QueueEvents.prototype, 'waitUntilReady').mockRejectedValue(new Error('NOPERM'))
    const a = countWakes(process())
    setUp.mockRestore()
    process().wake(0)
    await a.reached(1)
    process().wake(1)
    await a.reached(2)
    expect(a.reports).toEqual([])
  })

  it('The BullMQ queue turns ten thousand wakes into two events and no job', async () => {
    const a = process({ clock: still })
    for (let at = 0; at < 10_000; at++) a.wake(0)
    await a.close()
    expect(await eventCounts()).toEqual({ due: 2 })
    expect(await keysOf()).toEqual([`${prefix}:sallyport:events`])
  })

  it('A delayed wake stays in Redis after the process that set it has ended', async () => {
    const a = process({ clock: still })
    for (let at = 0; at < 1_000; at++) a.wake(200)
    await a.close()
    // All wakes share one instant.
    expect(await ofBullmq((queue) => queue.getJobs())).toHaveLength(1)
    const [b, c] = [countWakes(process()), countWakes(process())]
    await Promise.all([b.next(), c.next()])
  })

  it('The BullMQ queue sets one job when several processes ask for the same instant', async () => {
    const processes = [1, 2, 3].map(() => process({ clock: still }))
    for (const { wake } of processes) wake(60_000)
    await Promise.all(processes.map((queue) => queue.close()))
    expect(await ofBullmq((queue) => queue.getJobs())).toHaveLength(1)
  })

  it('The BullMQ queue leaves no job behind', async () => {
    const a = process()
    const atA = countWakes(a)
    a.wake(1)
    await atA.reached(1)
    expect(await ofBullmq((queue) => queue.getJobs())).toEqual([])
  })

  it('The BullMQ queue wakes no process that uses another queue name', async () => {
    const [other, a] = [process({ name: 'other' }), process()]
    const [atOther, atA] = [countWakes(other), countWakes(a)]
    process({ name: 'other' }).wake(0)
    await atOther.reached(1)
    expect(atA.wakes).toBe(0)
  })

  it('The BullMQ queue calls no listener that was stopped or whose queue is closed', async () => {
    const [a, b] = [process(), process()]
    const [stopped, stays, closed] = [countWakes(a), countWakes(a), countWakes(b)]
    stopped.stop()
    await b.close()
    process().wake(0)
    b.wake(0)
    await stays.reached(1)
    expect([stopped.wakes, closed.wakes]).toEqual([0, 0])
  })

  it('The BullMQ queue takes only the options of an ioredis client', async () => {
    const client = new Redis({ port: PORT, lazyConnect: true })
    const a = countWakes(process({ connection: client }))
    process({ connection: client }).wake(0)
    await a.next()
    expect(client.status).toBe('wait')
  })

  it('The worker of one process sends what another process accepted', async () => {
    const { process: start } = fleet()
    const [atA, atB] = [outbox(), outbox()]
    const a = start(process(), atA.send)
    const b = start(process(), atB.send)
    b.worker.start()
    await accept(a)
    await atB.holds(1)
    await b.worker.stop()
    expect(atA.deliveryIds).toEqual([])
  })

  it('The worker of one process sends a delayed delivery of another when it is due', async () => {
    const { process: start } = fleet()
    const atB = outbox()
    const a = start(process(), outbox().send)
    const b = start(process(), atB.send)
    b.worker.start()
    await accept(a, 100)
    await atB.holds(1)
    await b.worker.stop()
  })

  it('Workers share deliveries beyond the limit of one worker', async () => {
    const { process: start } = fleet()
    const all = gate<void>()
    const boxes = [outbox(all.promise), outbox(all.promise), outbox(all.promise)]
    const workers = boxes.map(({ send }) => start(process(), send).worker)
    for (const worker of workers) worker.start()
    const front = start(process(), outbox().send)
    await Promise.all(Array.from({ length: 30 }, () => accept(front)))
    await Promise.all(boxes.map((box) => box.holds(10)))
    all.open()
    await Promise.all(workers.map((worker) => worker.stop()))
    expect(new Set(boxes.flatMap(({ deliveryIds }) => deliveryIds)).size).toBe(30)
  })

  it.each([
    ['no connection', { connection: undefined }, 'connection'],
    ['a cluster', { connection: { isCluster: true, connect() {}, options: {} } }, 'connection'],
    ['a client of another library', { connection: { connect() {}, sendCommand() {} } }, 'connection'],
    ['a key prefix of ioredis', { connection: { keyPrefix: 'app:' } }, 'connection'],
    ['a name with a colon', { connection: {}, name: 'a:b' }, 'name'],
    ['an empty name', { connection: {}, name: '' }, 'name'],
    ['an unknown option', { connection: {}, nam: 'a' }, 'nam'],
  ])('bullmqQueue() refuses %s', (_what, options, field) => {
    expect(() => bullmqQueue(options as BullmqQueueOptions)).toThrow(
      expect.objectContaining({ code: 'option_invalid', problems: [expect.objectContaining({ field })] }),
    )
  })
})
