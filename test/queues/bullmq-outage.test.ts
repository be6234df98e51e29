import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type BullmqQueue, bullmqQueue } from '../../src/queues/bullmq.ts'
import { type Gate, gate } from '../core/dispatch/dispatching.ts'
import { type RecordingLogger, recordingLogger } from '../support/deps.ts'
import { accept, fleet, outbox } from './fleet.ts'
import { ear } from './listener.ts'
import { silentProxy } from './proxy.ts'
import { type RedisServer, redisServer } from './redis-server.ts'
import { serviceOrSkip } from './services.ts'

const describeOwnRedis = await serviceOrSkip('redis-server')

describeOwnRedis('the queue over BullMQ, when Redis', { timeout: 60_000 }, () => {
  let server: RedisServer
  let logger: RecordingLogger
  /** Opens when a queue has found out. */
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

  /** The queue as one process has it. */
  function queueAt(port = server.port): BullmqQueue {
    const queue = bullmqQueue({ connection: { port, host: '127.0.0.1' }, logger })
    open.push(queue)
    return queue
  }

  async function command(...words: [string, ...string[]]): Promise<void> {
    const client = new Redis({ port: server.port, host: '127.0.0.1' })
    await client.call(...words)
    client.disconnect()
  }

  it('is down, wakes the workers of its own process all the same', async () => {
    const a = queueAt()
    const atA = ear(a)
    await failed.promise
    for (let at = 0; at < 10_000; at++) a.wake(at % 2)
    await atA.touched(1)
  })

  it('is down, lets a process end that has closed it', async () => {
    const file = fileURLToPath(new URL('closing-process.ts', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', file, `${server.port}`])
    expect(stdout).toBe('closed')
  })

  it('comes up late, is told then what was asked for before', async () => {
    const [a, b] = [queueAt(), queueAt()]
    const atB = ear(b)
    for (let at = 0; at < 1_000; at++) a.wake(0)
    await failed.promise
    await server.start()
    await atB.touched(1)
  })

  it('is killed and started anew with nothing in it, goes on without a restart', async () => {
    await server.start()
    const [a, b] = [queueAt(), queueAt()]
    const atB = ear(b)
    a.wake(0)
    await atB.touched(1)
    for (const _ of [1, 2]) {
      const touched = atB.rings
      await server.kill()
      for (let at = 0; at < 1_000; at++) a.wake(at % 2)
      await server.start()
      // What could not be said is said now, and the delayed one set.
      await atB.touched(touched + 2)
    }
    const touched = atB.rings
    a.wake(0)
    await atB.touched(touched + 1)
  })

  it('takes no writes for a while, is told after that', async () => {
    await server.start()
    const [a, b] = [queueAt(), queueAt()]
    const atB = ear(b)
    await command('replicaof', '127.0.0.1', '1')
    a.wake(0)
    a.wake(10)
    await command('replicaof', 'no', 'one')
    await atB.touched(2)
  })

  it('falls silent, keeps nobody waiting, and is told when it answers again', async () => {
    await server.start()
    const proxy = await silentProxy(server.port)
    const [a, b] = [queueAt(proxy.port), queueAt()]
    const [atA, atB] = [ear(a), ear(b)]
    a.wake(0)
    await atB.touched(1)
    proxy.silence()
    for (let at = 0; at < 10_000; at++) a.wake(at % 2)
    await atA.touched(2)
    proxy.resume()
    proxy.cut()
    await atB.touched(3)
    await a.close()
    await proxy.idle()
    await proxy.close()
  })

  it('is silent, is closed within seconds', async () => {
    await server.start()
    const proxy = await silentProxy(server.port)
    proxy.silence()
    const a = queueAt(proxy.port)
    ear(a)
    a.wake(0)
    await a.close()
    await proxy.close()
  })

  it('cannot be used, says so once a minute, and not where it is', async () => {
    const a = queueAt()
    ear(a)
    a.wake(0)
    await failed.promise
    await a.close()
    const fields = { queue: 'bullmq', cause: 'Error', causeCode: 'ECONNREFUSED', stack: expect.any(String) }
    expect(logger.lines).toEqual([{ level: 'warn', event: 'queue.unavailable', fields }])
  })

  it('is flushed, killed and restarted under load, loses nothing', async () => {
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
