import { randomUUID } from 'node:crypto'
import { QueueEvents, QueueEventsProducer } from 'bullmq'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type BullmqQueue, type BullmqQueueOptions, bullmqQueue } from '../../src/queues/bullmq.ts'
import { type RecordingLogger, recordingLogger } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { countWakes } from './listener.ts'
import { serviceOrSkip } from './services.ts'

const PORT = 6379

const turn = () => new Promise(setImmediate)
const describeRedis = await serviceOrSkip('redis')

describeRedis('notices of the BullMQ queue', () => {
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
    const keys = await redis.keys(`${prefix}:*`)
    if (keys.length > 0) await redis.del(keys)
    redis.disconnect()
  })

  /** A queue as one process has it. */
  function process(rest: Partial<BullmqQueueOptions> = {}): BullmqQueue {
    const queue = bullmqQueue({ connection: { port: PORT }, prefix, logger, ...rest })
    open.push(queue)
    return queue
  }

  /** Names and topics in the event stream, in their order. */
  async function stored(): Promise<readonly string[]> {
    return (await redis.xrange(`${prefix}:sallyport:events`, '-', '+')).map(([, fields]) => {
      const { event, topic } = Object.fromEntries(
        Array.from({ length: fields.length / 2 }, (_, at) => fields.slice(2 * at, 2 * at + 2)),
      )
      return [event, topic].filter(Boolean).join(' ')
    })
  }

  it('A notice arrives once at each other process, and wakes no worker', async () => {
    const [a, b] = [process(), process()]
    const [atA, atB] = [countWakes(a), countWakes(b)]
    const emit = vi.spyOn(QueueEvents.prototype, 'emit')
    const events = () => emit.mock.calls.filter(([event]) => `${event}` === 'notice')
    for (const [at, queue] of [a, b, a].entries()) {
      queue.notify?.('approvals')
      // Both processes have read the event, the sender too.
      while (events().length < 2 * (at + 1)) await turn()
      await turn()
    }
    emit.mockRestore()
    expect([atA.topics, atB.topics]).toEqual([['approvals'], ['approvals', 'approvals']])
    expect([atA.wakes, atB.wakes, logger.lines]).toEqual([0, 0, []])
  })

  it('The BullMQ queue turns ten thousand notices into one for each topic, in their order', async () => {
    const a = process({ clock: fakeClock(Date.now()) })
    for (const topic of ['x', 'y', 'x']) for (let at = 0; at < 10_000; at++) a.notify?.(topic)
    await a.close()
    a.notify?.('later')
    // The first one is sent at once, the others wait.
    expect(await stored()).toEqual(['notice x', 'notice x', 'notice y'])
  })

  it('A wake of a version without notices still wakes', async () => {
    const atA = countWakes(process())
    const producer = new QueueEventsProducer('sallyport', { connection: { port: PORT }, prefix })
    await producer.publishEvent({ eventName: 'due', from: randomUUID() })
    await atA.reached(1)
    await producer.close()
    expect(atA.topics).toEqual([])
  })

  it('A closed BullMQ queue calls no listener at a notice', async () => {
    const [a, stays] = [process(), countWakes(process())]
    const closed = countWakes(a)
    await closed.reported(1)
    await a.close()
    process().notify?.('x')
    await stays.noticed(1)
    expect(closed.topics).toEqual([])
  })
})
