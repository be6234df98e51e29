import type { Client, Notification } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type PostgresQueue, type PostgresQueueOptions, postgresQueue } from '../../src/queues/postgres.ts'
import { type Gate, gate } from '../core/dispatch/dispatching.ts'
import { type RecordingLogger, recordingLogger } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { accept, fleet, outbox } from './fleet.ts'
import { ear } from './listener.ts'
import { type PostgresServer, postgresServer } from './postgres-server.ts'
import { silentProxy } from './proxy.ts'

describe('the queue over PostgreSQL', () => {
  let server: PostgresServer
  let admin: Client
  let logger: RecordingLogger
  /** Opens when a queue has found out that something is wrong. */
  let failed: Gate<void>
  let open: PostgresQueue[]

  beforeAll(async () => {
    server = await postgresServer()
    admin = await server.connect()
  })

  afterAll(() => server.remove())

  beforeEach(() => {
    failed = gate()
    const { lines, log } = recordingLogger()
    logger = { lines, log: (...line) => [log(...line), failed.open()] }
    open = []
  })

  afterEach(() => Promise.all(open.map((queue) => queue.close())))

  /** The queue as one process has it. */
  function process(rest: Partial<PostgresQueueOptions> = {}): PostgresQueue {
    const queue = postgresQueue({ client: () => server.client(), logger, ...rest })
    open.push(queue)
    return queue
  }

  /** One that hears already. */
  async function listening(queue: PostgresQueue = process()) {
    const touched = ear(queue)
    await touched.touched(1)
    return touched
  }

  /** What is said on the channel until the function returned is called. */
  async function overhear(): Promise<() => Promise<readonly string[]>> {
    const client = await server.connect()
    const said: string[] = []
    const end = gate<void>()
    client.on('notification', ({ payload = '' }: Notification) => {
      if (payload === 'enough') end.open()
      else said.push(payload)
    })
    await client.query('LISTEN sallyport_due')
    return async () => {
      await client.query("NOTIFY sallyport_due, 'enough'")
      await end.promise
      await client.end()
      return said
    }
  }

  /** Connections that the server has, but for that which asks. */
  async function backends(): Promise<readonly number[]> {
    const { rows } = await admin.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    )
    return rows.map(({ pid }) => pid)
  }

  it('wakes every process that listens', async () => {
    const [a, b] = [await listening(), await listening()]
    process().wake(0)
    await Promise.all([a.touched(2), b.touched(2)])
    expect(logger.lines).toEqual([])
  })

  it('wakes its own process once, and others once', async () => {
    let notified = 0
    const client = () => server.client().on('notification', () => notified++)
    const [a, b] = [process({ client }), process({ client })]
    const [atA, atB] = [await listening(a), await listening(b)]
    for (const [at, queue] of [a, b].entries()) {
      queue.wake(0)
      // Both have been told, also that which said it.
      while (notified < 2 * (at + 1)) await new Promise(setImmediate)
      await new Promise(setImmediate)
    }
    expect([atA.rings, atB.rings]).toEqual([3, 3])
  })

  it('makes two notifications of ten thousand wakes at once', async () => {
    const said = await overhear()
    const a = process()
    for (let at = 0; at < 10_000; at++) a.wake(0)
    await a.close()
    expect(await said()).toHaveLength(2)
  })

  it('makes one notification of alarms for the same instant, when it has come', async () => {
    const said = await overhear()
    const clock = fakeClock()
    const a = process({ clock })
    const atA = await listening(a)
    for (let at = 0; at < 1_000; at++) a.wake(at + 1)
    expect(clock.timers).toBe(10)
    clock.advance(99)
    await a.close()
    expect(atA.rings).toBe(1)
    expect(await said()).toEqual([])
    expect(clock.timers).toBe(0)
  })

  it('rings when a delayed alarm is due, here and elsewhere', async () => {
    const clock = fakeClock()
    const a = process({ clock })
    const [atA, atB] = [await listening(a), await listening()]
    a.wake(500)
    clock.advance(500)
    await Promise.all([atA.touched(2), atB.touched(2)])
  })

  it('goes on when its connection was terminated, and rings once it hears again', async () => {
    const a = process()
    const atA = await listening(a)
    const atB = await listening()
    for (const rings of [2, 4]) {
      await admin.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [await backends()])
      await Promise.all([atA.touched(rings), atB.touched(rings)])
      a.wake(0)
      await Promise.all([atA.touched(rings + 1), atB.touched(rings + 1)])
    }
  })

  it('goes on when the server was restarted, and says then what it could not say', async () => {
    const [a, b] = [process(), process()]
    const atB = await listening(b)
    a.wake(0)
    await atB.touched(2)
    const own = await server.connect()
    await own.end()
    await restart(async () => {
      await failed.promise
      for (let at = 0; at < 10_000; at++) a.wake(0)
    })
    await atB.touched(4)
    expect(logger.lines).toEqual([
      { level: 'warn', event: 'queue.unavailable', fields: expect.objectContaining({ queue: 'postgres' }) },
      { level: 'warn', event: 'queue.unavailable', fields: expect.objectContaining({ queue: 'postgres' }) },
    ])
  })

  /** @param meanwhile While it is down. */
  async function restart(meanwhile: () => Promise<void>): Promise<void> {
    await admin.end()
    await server.stop()
    await meanwhile()
    await server.start()
    admin = await server.connect()
  }

  it('is woken by nobody while its connection is silent, and notices when it wakes others', async () => {
    const proxy = await silentProxy(server.port)
    const clock = fakeClock()
    const a = process({ clock, client: () => server.client(proxy.port) })
    const [atA, atB] = [await listening(a), await listening()]
    proxy.silence()
    a.wake(0)
    await atA.touched(2)
    // Five seconds without an answer.
    clock.advance(5_000)
    await failed.promise
    proxy.resume()
    clock.advance(1_000)
    await Promise.all([atA.touched(3), atB.touched(2)])
    await a.close()
    await proxy.idle()
    await proxy.close()
  })

  it('leaves nothing open when it is closed', async () => {
    const before = await backends()
    const a = process()
    await listening(a)
    a.wake(0)
    a.wake(1_000)
    await a.close()
    // One of the tests before may be closing yet.
    expect((await backends()).filter((pid) => !before.includes(pid))).toEqual([])
  })

  it('calls nobody who has stopped listening, or closed it', async () => {
    const [a, b] = [process(), process()]
    const [stopped, stays, closed] = [ear(a), await listening(a), await listening(b)]
    await stopped.touched(1)
    stopped.stop()
    await b.close()
    b.wake(0)
    process().wake(0)
    await stays.touched(2)
    expect([stopped.rings, closed.rings]).toEqual([1, 1])
  })

  it('has what one process accepted sent by the worker of another', async () => {
    const { process: start } = fleet()
    const [atA, atB] = [outbox(), outbox()]
    const a = start(process(), atA.send)
    const b = start(process(), atB.send)
    b.worker.start()
    await accept(a)
    await accept(a, 100)
    await atB.holds(2)
    await b.worker.stop()
    expect(atA.deliveryIds).toEqual([])
  })

  it('has workers share what one alone has no places for', async () => {
    const { process: start } = fleet()
    const all = gate<void>()
    const boxes = [outbox(all.promise), outbox(all.promise), outbox(all.promise)]
    const queues = boxes.map(() => process())
    const workers = boxes.map(({ send }, at) => start(queues[at] as PostgresQueue, send).worker)
    await Promise.all(queues.map((queue) => listening(queue)))
    for (const worker of workers) worker.start()
    const front = start(process(), outbox().send)
    await Promise.all(Array.from({ length: 30 }, () => accept(front)))
    await Promise.all(boxes.map((box) => box.holds(10)))
    all.open()
    await Promise.all(workers.map((worker) => worker.stop()))
    expect(new Set(boxes.flatMap(({ deliveryIds }) => deliveryIds)).size).toBe(30)
  })
})
