import { randomUUID } from 'node:crypto'
import { Queue, QueueEvents } from 'bullmq'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type BullmqQueue, type BullmqQueueOptions, bullmqQueue } from '../../src/queues/bullmq.ts'
import { systemClock } from '../../src/runtime/system-clock.ts'
import { gate } from '../core/dispatch/dispatching.ts'
import { type RecordingLogger, recordingLogger } from '../support/deps.ts'
import { accept, fleet, outbox } from './fleet.ts'
import { ear } from './listener.ts'
import { serviceOrSkip } from './services.ts'

const PORT = 6379

const describeRedis = await serviceOrSkip('redis')

describeRedis('the queue over BullMQ', () => {
  let redis: Redis
  let prefix: string
  let logger: RecordingLogger
  let open: BullmqQueue[]

  beforeEach(() => {
    redis = new Redis({ port: PORT })
    prefix = `sallyport-test-${randomUUID()}`
    logger = recordingLogger()
    open = []
  })

  afterEach(async () => {
    await Promise.all(open.map((queue) => queue.close()))
    const keys = await keysOf()
    if (keys.length > 0) await redis.del(keys)
    redis.disconnect()
  })

  /** The queue as one process has it. */
  function process(rest: Partial<BullmqQueueOptions> = {}): BullmqQueue {
    const queue = bullmqQueue({ connection: { port: PORT }, prefix, logger, ...rest })
    open.push(queue)
    return queue
  }

  async function keysOf(): Promise<string[]> {
    return (await redis.keys(`${prefix}:*`)).sort()
  }

  /** How often each kind of event was said. */
  async function said(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const [, fields] of await redis.xrange(`${prefix}:sallyport:events`, '-', '+')) {
      const kind = fields[fields.indexOf('event') + 1] ?? ''
      counts[kind] = (counts[kind] ?? 0) + 1
    }
    return counts
  }

  /** @param look What to ask BullMQ itself. */
  async function ofBullmq<T>(look: (queue: Queue) => Promise<T>): Promise<T> {
    const queue = new Queue('sallyport', { connection: { port: PORT }, prefix })
    try {
      return await look(queue)
    } finally {
      await queue.close()
    }
  }

  it('wakes every process that listens', async () => {
    const [a, b] = [ear(process()), ear(process())]
    process().wake(0)
    await Promise.all([a.next(), b.next()])
    expect(logger.lines).toEqual([])
  })

  it('wakes its own process once, and others once', async () => {
    const [a, b] = [process(), process()]
    const [atA, atB] = [ear(a), ear(b)]
    const emit = vi.spyOn(QueueEvents.prototype, 'emit')
    const events = () => emit.mock.calls.filter(([event]) => `${event}` === 'due')
    for (const [at, queue] of [a, b].entries()) {
      queue.wake(0)
      // Both have read it, also that which said it.
      while (events().length < 2 * (at + 1)) await new Promise(setImmediate)
      await new Promise(setImmediate)
    }
    emit.mockRestore()
    expect([atA.rings, atB.rings]).toEqual([2, 2])
  })

  it('makes two events of ten thousand wakes at once, and no job', async () => {
    const a = process()
    for (let at = 0; at < 10_000; at++) a.wake(0)
    await a.close()
    expect(await said()).toEqual({ due: 2 })
    expect(await keysOf()).toEqual([`${prefix}:sallyport:events`])
  })

  it('keeps a delayed alarm in Redis when the process that set it has ended', async () => {
    const a = process()
    for (let at = 0; at < 1_000; at++) a.wake(200)
    await a.close()
    const jobs = await ofBullmq((queue) => queue.getJobs())
    // The instant is shared, and a second one when a tenth of a second ended meanwhile.
    expect([1, 2]).toContain(jobs.length)
    const [b, c] = [ear(process()), ear(process())]
    await Promise.all([b.next(), c.next()])
  })

  it('makes one job of what several processes ask for at the same instant', async () => {
    const now = Date.now()
    const clock = { ...systemClock, now: () => now }
    const processes = [1, 2, 3].map(() => process({ clock }))
    for (const { wake } of processes) wake(60_000)
    await Promise.all(processes.map((queue) => queue.close()))
    expect(await ofBullmq((queue) => queue.getJobs())).toHaveLength(1)
  })

  it('leaves no job behind', async () => {
    const a = process()
    const atA = ear(a)
    a.wake(1)
    await atA.touched(1)
    expect(await ofBullmq((queue) => queue.getJobs())).toEqual([])
  })

  it('wakes nobody whose queue has another name', async () => {
    const [other, a] = [process({ name: 'other' }), process()]
    const [atOther, atA] = [ear(other), ear(a)]
    process({ name: 'other' }).wake(0)
    await atOther.touched(1)
    expect(atA.rings).toBe(0)
  })

  it('calls nobody who has stopped listening, or closed it', async () => {
    const [a, b] = [process(), process()]
    const [stopped, stays, closed] = [ear(a), ear(a), ear(b)]
    stopped.stop()
    await b.close()
    process().wake(0)
    b.wake(0)
    await stays.touched(1)
    expect([stopped.rings, closed.rings]).toEqual([0, 0])
  })

  it('takes of an ioredis client its options alone', async () => {
    const client = new Redis({ port: PORT, lazyConnect: true })
    const a = ear(process({ connection: client }))
    process({ connection: client }).wake(0)
    await a.next()
    expect(client.status).toBe('wait')
  })

  it('has what one process accepted sent by the worker of another', async () => {
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

  it('has what is delayed sent by the worker of another, when it is due', async () => {
    const { process: start } = fleet()
    const atB = outbox()
    const a = start(process(), outbox().send)
    const b = start(process(), atB.send)
    b.worker.start()
    await accept(a, 100)
    await atB.holds(1)
    await b.worker.stop()
  })

  it('has workers share what one alone has no places for', async () => {
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
    ['an option that there is not', { connection: {}, nam: 'a' }, 'nam'],
  ])('refuses %s', (_what, options, field) => {
    expect(() => bullmqQueue(options as BullmqQueueOptions)).toThrow(
      expect.objectContaining({ code: 'option_invalid', problems: [expect.objectContaining({ field })] }),
    )
  })
})
