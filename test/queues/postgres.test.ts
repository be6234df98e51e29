import type { Client, Notification } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type PostgresQueue, type PostgresQueueOptions, postgresQueue } from '../../src/queues/postgres.ts'
import { type Gate, gate } from '../core/dispatch/dispatching.ts'
import { type RecordingLogger, recordingLogger } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { type PostgresServer, postgresServer } from '../support/postgres-server.ts'
import { accept, fleet, outbox } from './fleet.ts'
import { countWakes } from './listener.ts'
import { silentProxy } from './proxy.ts'

describe('the PostgreSQL queue', () => {
  let server: PostgresServer
  let admin: Client
  let logger: RecordingLogger
  /** Opens when a queue has logged a failure. */
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

  /** A queue as one process has it. */
  function process(rest: Partial<PostgresQueueOptions> = {}): PostgresQueue {
    const queue = postgresQueue({ client: () => server.client(), logger, ...rest })
    open.push(queue)
    return queue
  }

  /** A listener whose connection is ready. */
  async function listening(queue: PostgresQueue = process()) {
    const listener = countWakes(queue)
    await listener.reported(1)
    return listener
  }

  /** Records the notifications on the channel until the returned function is called. */
  async function recordNotifications(): Promise<() => Promise<readonly string[]>> {
    const client = await server.connect()
    const payloads: string[] = []
    const end = gate<void>()
    client.on('notification', ({ payload = '' }: Notification) => {
      if (payload === 'enough') end.open()
      else payloads.push(payload)
    })
    await client.query('LISTEN sallyport_due')
    return async () => {
      await client.query("NOTIFY sallyport_due, 'enough'")
      await end.promise
      await client.end()
      return payloads
    }
  }

  /** Process ids of all other client connections. */
  async function backends(): Promise<readonly number[]> {
    const { rows } = await admin.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    )
    return rows.map(({ pid }) => pid)
  }

  it('The PostgreSQL queue wakes every listening process', async () => {
    const [a, b] = [await listening(), await listening()]
    process().wake(0)
    await Promise.all([a.reached(1), b.reached(1)])
    expect([a.reports, b.reports, logger.lines]).toEqual([['connected'], ['connected'], []])
  })

  it('The PostgreSQL queue wakes its own process once, and each other process once', async () => {
    let notified = 0
    const client = () => server.client().on('notification', () => notified++)
    const [a, b] = [process({ client }), process({ client })]
    const [atA, atB] = [await listening(a), await listening(b)]
    for (const [at, queue] of [a, b].entries()) {
      queue.wake(0)
      // Both processes were notified, the sender too.
      while (notified < 2 * (at + 1)) await new Promise(setImmediate)
      await new Promise(setImmediate)
    }
    expect([atA.wakes, atB.wakes]).toEqual([2, 2])
  })

  it('The PostgreSQL queue turns ten thousand wakes into two notifications', async () => {
    const stopRecording = await recordNotifications()
    const a = process({ clock: fakeClock() })
    for (let at = 0; at < 10_000; at++) a.wake(0)
    await a.close()
    expect(await stopRecording()).toHaveLength(2)
  })

  it('The PostgreSQL queue sets one timer for all delayed wakes in a tenth of a second', async () => {
    const stopRecording = await recordNotifications()
    const clock = fakeClock()
    const a = process({ clock })
    const atA = await listening(a)
    const before = clock.timers
    for (let at = 0; at < 1_000; at++) a.wake(at + 1)
    expect(clock.timers - before).toBe(10)
    clock.advance(99)
    await a.close()
    expect(atA.wakes).toBe(0)
    expect(await stopRecording()).toEqual([])
    expect(clock.timers).toBe(0)
  })

  it('A delayed wake reaches its own process and others when it is due', async () => {
    const clock = fakeClock()
    const a = process({ clock })
    const [atA, atB] = [await listening(a), await listening()]
    a.wake(500)
    clock.advance(500)
    await Promise.all([atA.reached(1), atB.reached(1)])
  })

  it('The PostgreSQL queue reports a terminated connection as lost, reconnects, and reports that too', async () => {
    const a = process()
    const atA = await listening(a)
    const atB = await listening()
    for (const times of [1, 2]) {
      await admin.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [await backends()])
      await Promise.all([atA.reported(1 + 2 * times), atB.reported(1 + 2 * times)])
      a.wake(0)
      await Promise.all([atA.reached(times), atB.reached(times)])
    }
    const reports = ['connected', 'lost', 'connected', 'lost', 'connected']
    expect([atA.reports, atB.reports]).toEqual([reports, reports])
  })

  it('The PostgreSQL queue reconnects after a server restart and sends the pending wake', async () => {
    let mayConnect = true
    const client = () => {
      if (!mayConnect) throw new Error('not yet')
      return server.client()
    }
    const [a, b] = [process({ client }), process()]
    const atB = await listening(b)
    a.wake(0)
    await atB.reached(1)
    await restart(async () => {
      mayConnect = false
      await failed.promise
      for (let at = 0; at < 10_000; at++) a.wake(0)
    })
    // B listens again before A notifies.
    await atB.reported(3)
    expect(atB.wakes).toBe(1)
    mayConnect = true
    await atB.reached(2)
    expect(logger.lines).toEqual([
      { level: 'warn', event: 'queue.unavailable', fields: expect.objectContaining({ queue: 'postgres' }) },
      { level: 'warn', event: 'queue.unavailable', fields: expect.objectContaining({ queue: 'postgres' }) },
    ])
  })

  /** @param meanwhile Runs while the server is down. */
  async function restart(meanwhile: () => Promise<void>): Promise<void> {
    await admin.end()
    await server.stop()
    await meanwhile()
    await server.start()
    admin = await server.connect()
  }

  it('The PostgreSQL queue notices a silent connection, and wakes others after it reconnects', async () => {
    const proxy = await silentProxy(server.port)
    const clock = fakeClock()
    const a = process({ clock, client: () => server.client(proxy.port) })
    const [atA, atB] = [await listening(a), await listening()]
    proxy.silence()
    a.wake(0)
    await atA.reached(1)
    // The time-out for an answer is five seconds.
    clock.advance(5_000)
    await atA.reported(2)
    proxy.resume()
    clock.advance(1_000)
    await Promise.all([atA.reported(3), atB.reached(1)])
    expect(atA.reports).toEqual(['connected', 'lost', 'connected'])
    await a.close()
    await proxy.idle()
    await proxy.close()
  })

  it('A process that only listens notices within 65 seconds that its connection is silent', async () => {
    const proxy = await silentProxy(server.port)
    const clock = fakeClock()
    const a = process({ clock, client: () => server.client(proxy.port) })
    const atA = await listening(a)
    proxy.silence()
    clock.advance(60_000)
    clock.advance(5_000)
    await atA.reported(2)
    proxy.resume()
    clock.advance(1_000)
    await atA.reported(3)
    expect(atA.reports).toEqual(['connected', 'lost', 'connected'])
    await a.close()
    await proxy.close()
  })

  it('The PostgreSQL queue reports that it is lost when it is closed', async () => {
    const a = process()
    const atA = await listening(a)
    const closed = a.close()
    expect(atA.reports).toEqual(['connected', 'lost'])
    await closed
  })

  it('A closed PostgreSQL queue leaves no connection open', async () => {
    const before = await backends()
    // No time limit of its close passes.
    const a = process({ clock: fakeClock() })
    await listening(a)
    a.wake(0)
    a.wake(1_000)
    await a.close()
    // A connection of an earlier test may still be closing.
    expect((await backends()).filter((pid) => !before.includes(pid))).toEqual([])
  })

  it('The PostgreSQL queue calls no listener that was stopped or whose queue is closed', async () => {
    const [a, b] = [process(), process()]
    const [stopped, stays, closed] = [countWakes(a), await listening(a), await listening(b)]
    stopped.stop()
    await b.close()
    b.wake(0)
    process().wake(0)
    await stays.reached(1)
    expect([stopped.wakes, closed.wakes]).toEqual([0, 0])
  })

  it('The worker of one process sends what another process accepted', async () => {
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

  it('Workers share deliveries beyond the limit of one worker', async () => {
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
