import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Logger } from '../../src/ports/logger.ts'
import { type BullmqQueue, bullmqQueue } from '../../src/queues/bullmq.ts'
import { type Gate, gate } from '../core/dispatch/dispatching.ts'
import { type RecordingLogger, recordingLogger } from '../support/deps.ts'
import { accept, fleet, outbox } from './fleet.ts'
import { countWakes } from './listener.ts'
import { silentProxy } from './proxy.ts'
import { type RedisServer, redisServer } from './redis-server.ts'
import { serviceOrSkip } from './services.ts'

/** Apart from each other: a reader that receives both at once wakes its process once. */
const WAKES = [
  ['a wake', 0],
  ['a delayed wake', 10],
] as const

const describeOwnRedis = await serviceOrSkip('redis-server')

describeOwnRedis('the BullMQ queue during a Redis outage', () => {
  let server: RedisServer
  let logger: RecordingLogger
  /** Opens when a queue has logged a failure. */
  let failed: Gate<void>
  let open: BullmqQueue[]

  beforeEach(async () => {
    server = await redisServer()
    failed = gate()
    const { lines, log } = recordingLogger()
    logger = { lines, log: (...line) => [log(...line), failed.open()] }
    open = []
  })

  afterEach(async () => {
    await Promise.all(open.map((queue) => queue.close()))
    await server.remove()
  })

  /** A queue as one process has it. */
  function queueAt(port = server.port, own: Logger = logger): BullmqQueue {
    const queue = bullmqQueue({ connection: { port, host: '127.0.0.1' }, logger: own })
    open.push(queue)
    return queue
  }

  async function command(...words: [string, ...string[]]): Promise<void> {
    const client = new Redis({ port: server.port, host: '127.0.0.1' })
    await client.call(...words)
    client.disconnect()
  }

  it('The BullMQ queue wakes its own process while Redis is down', async () => {
    const a = queueAt()
    const atA = countWakes(a)
    await failed.promise
    for (let at = 0; at < 10_000; at++) a.wake(at % 2)
    await atA.reached(1)
  })

  it('The BullMQ queue is connected once Redis runs, lost while it does not, and connected again', async () => {
    const a = countWakes(queueAt())
    await failed.promise
    expect(a.reports).toEqual([])
    await server.start()
    await a.reported(1)
    await server.kill()
    await a.reported(2)
    await server.start()
    await a.reported(3)
    expect(a.reports).toEqual(['connected', 'lost', 'connected'])
  })

  it('The BullMQ queue is lost when one of its connections is, and when it is closed', async () => {
    await server.start()
    const queue = queueAt()
    const a = countWakes(queue)
    await a.reported(1)
    const client = new Redis({ port: server.port, host: '127.0.0.1' })
    for (const id of await readersOf(client)) {
      const before = a.reports.length
      await client.call('client', 'kill', 'id', id)
      await a.reported(before + 2)
    }
    client.disconnect()
    expect(a.reports).toHaveLength(7)
    const closed = queue.close()
    expect(a.reports.slice(7)).toEqual(['lost'])
    await closed
    expect(a.reports).toHaveLength(8)
  })

  /** Ids of all other connections of a Redis. */
  async function readersOf(client: Redis): Promise<readonly string[]> {
    const own = String(await client.call('client', 'id'))
    const ids = [...String(await client.call('client', 'list')).matchAll(/^id=(\d+) /gm)].map(([, id]) => String(id))
    return ids.filter((id) => id !== own)
  }

  it('A process ends after it closes its BullMQ queue while Redis is down', async () => {
    const file = fileURLToPath(new URL('closing-process.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', file, `${server.port}`])
    expect(stdout).toBe('closed')
  })

  it('The BullMQ queue sends earlier wakes once Redis starts', async () => {
    const [a, b] = [queueAt(), queueAt()]
    const atB = countWakes(b)
    for (let at = 0; at < 1_000; at++) a.wake(0)
    await failed.promise
    await server.start()
    await atB.reached(1)
  })

  it('The BullMQ queue sends earlier notices once Redis starts, one for each topic', async () => {
    const [a, b] = [queueAt(), queueAt()]
    const atB = countWakes(b)
    for (let at = 0; at < 1_000; at++) a.notify?.(at % 2 ? 'x' : 'y')
    await failed.promise
    await server.start()
    await atB.noticed(2)
    a.wake(0)
    await atB.reached(1)
    expect(atB.topics.toSorted()).toEqual(['x', 'y'])
  })

  it.each(WAKES)('The BullMQ queue sends %s after Redis is killed and restarts empty', async (_, delayMs) => {
    await server.start()
    const [a, b] = [queueAt(), queueAt()]
    const atB = countWakes(b)
    a.wake(0)
    await atB.reached(1)
    for (const _ of [1, 2]) {
      const before = atB.wakes
      await server.kill()
      for (let at = 0; at < 1_000; at++) a.wake(delayMs)
      await server.start()
      await atB.reached(before + 1)
    }
  })

  it.each(WAKES)('The BullMQ queue sends %s once a read-only Redis accepts writes', async (_, delayMs) => {
    await server.start()
    const refused = gate<void>()
    const [a, b] = [queueAt(server.port, { log: () => refused.open() }), queueAt()]
    const atB = countWakes(b)
    await command('replicaof', '127.0.0.1', '1')
    a.wake(delayMs)
    await refused.promise
    await command('replicaof', 'no', 'one')
    await atB.reached(1)
  })

  it.each(WAKES)(
    'The BullMQ queue sends %s although its first connection is lost while it is set up',
    async (_, delayMs) => {
      await server.start()
      let infos = 0
      // The first INFO is from ioredis, the second from BullMQ.
      const proxy = await silentProxy(server.port, (bytes) => /\binfo\b/i.test(`${bytes}`) && ++infos === 2)
      const [a, b] = [queueAt(proxy.port), queueAt()]
      const atB = countWakes(b)
      a.wake(delayMs)
      await atB.reached(1)
      await a.close()
      await proxy.idle()
      await proxy.close()
    },
  )

  it('The BullMQ queue wakes its own process while Redis is silent', async () => {
    await server.start()
    const proxy = await silentProxy(server.port)
    const a = queueAt(proxy.port)
    const atA = countWakes(a)
    proxy.silence()
    for (let at = 0; at < 10_000; at++) a.wake(at % 2)
    await atA.reached(1)
    await proxy.close()
  })

  it.each(WAKES)('The BullMQ queue sends %s after Redis was silent', async (_, delayMs) => {
    await server.start()
    const proxy = await silentProxy(server.port)
    const [a, b] = [queueAt(proxy.port), queueAt()]
    const atB = countWakes(b)
    a.wake(0)
    await atB.reached(1)
    proxy.silence()
    for (let at = 0; at < 10_000; at++) a.wake(delayMs)
    proxy.resume()
    proxy.cut()
    await atB.reached(2)
    await a.close()
    await proxy.idle()
    await proxy.close()
  })

  it('The BullMQ queue closes within seconds while Redis is silent', async () => {
    await server.start()
    const proxy = await silentProxy(server.port)
    proxy.silence()
    const a = queueAt(proxy.port)
    countWakes(a)
    a.wake(0)
    await a.close()
    await proxy.close()
  })

  it('The BullMQ queue logs one warning without the address while Redis is down', async () => {
    const a = queueAt()
    countWakes(a)
    a.wake(0)
    await failed.promise
    await a.close()
    const fields = { queue: 'bullmq', cause: 'Error', causeCode: 'ECONNREFUSED', stack: expect.any(String) }
    expect(logger.lines).toEqual([{ level: 'warn', event: 'queue.unavailable', fields }])
  })

  it('No delivery is lost or repeated while Redis is flushed, killed and restarted', async () => {
    await server.start()
    const { process: start } = fleet()
    const box = outbox()
    const workers = [1, 2].map(() => start(queueAt(), box.send, { pollMs: 200 }).worker)
    const front = start(queueAt(), box.send)
    for (const worker of workers) worker.start()
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 50 }, (_, at) => accept(front, at % 5)))
      if (round === 4) await server.kill()
      else if (round === 6) await server.start()
      else if (round !== 5) await command('flushall')
    }
    await box.holds(500)
    await Promise.all(workers.map((worker) => worker.stop()))
    expect(new Set(box.deliveryIds).size).toBe(500)
    expect(box.deliveryIds.length).toBe(500)
  })
})
