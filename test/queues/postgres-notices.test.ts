import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { PluginCore } from '../../src/plugins/plugin.ts'
import { type PostgresQueue, type PostgresQueueOptions, postgresQueue } from '../../src/queues/postgres.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { type Gate, gate } from '../core/dispatch/dispatching.ts'
import { type RecordingLogger, recordingLogger, testAuth } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { postgresAt } from '../support/postgres-server.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { postgresPort } from '../support/shared-postgres.ts'
import { countWakes, type WakeCounter } from './listener.ts'

const turn = () => new Promise(setImmediate)

describe('notices of the PostgreSQL queue', () => {
  let port: number
  /** Connected, and on the channel of no queue. */
  let admin: pg.Client
  let channel: string
  let logger: RecordingLogger
  /** Opens when a queue has logged a failure. */
  let failed: Gate<void>
  let open: PostgresQueue[]

  beforeAll(async () => {
    port = await postgresPort()
  })

  beforeEach(async () => {
    channel = `due_${randomUUID().replaceAll('-', '')}`
    failed = gate()
    const { lines, log } = recordingLogger()
    logger = { lines, log: (...line) => [log(...line), failed.open()] }
    open = []
    admin = new pg.Client(postgresAt(port))
    await admin.connect()
  })

  afterEach(async () => {
    await Promise.all(open.map((queue) => queue.close()))
    await admin.end()
  })

  const client = (): pg.Client => new pg.Client(postgresAt(port))

  /** A queue as one process has it. */
  function process(rest: Partial<PostgresQueueOptions> = {}): PostgresQueue {
    const queue = postgresQueue({ client, channel, logger, ...rest })
    open.push(queue)
    return queue
  }

  async function listening(queue: PostgresQueue = process()): Promise<WakeCounter> {
    const listener = countWakes(queue)
    await listener.reported(1)
    return listener
  }

  /** Records the payloads on the channel until the returned function is called. */
  async function recordPayloads(): Promise<() => Promise<readonly string[]>> {
    const payloads: string[] = []
    const end = gate<void>()
    admin.on('notification', ({ payload = '' }) => {
      if (payload === 'enough') end.open()
      else payloads.push(payload)
    })
    await admin.query(`LISTEN ${channel}`)
    return async () => {
      await admin.query(`NOTIFY ${channel}, 'enough'`)
      await end.promise
      return payloads
    }
  }

  it('A notice arrives once at each other process, and wakes no worker', async () => {
    let received = 0
    const counting = () => client().on('notification', () => received++)
    const [a, b] = [process({ client: counting }), process({ client: counting })]
    const [atA, atB] = [await listening(a), await listening(b)]
    for (const [at, queue] of [a, b, a].entries()) {
      queue.notify?.('approvals')
      // Both processes have received it, the sender too.
      while (received < 2 * (at + 1)) await turn()
      await turn()
    }
    expect([atA.topics, atB.topics]).toEqual([['approvals'], ['approvals', 'approvals']])
    expect([atA.wakes, atB.wakes, logger.lines]).toEqual([0, 0, []])
  })

  it('The payload of a notice is its process and topic, and that of a wake its process', async () => {
    const stopRecording = await recordPayloads()
    const a = process()
    a.notify?.('approvals')
    a.wake(0)
    await a.close()
    a.notify?.('later')
    const [wake, notice, ...more] = (await stopRecording()).toSorted()
    expect(wake).toMatch(/^[0-9a-f-]{36}$/)
    expect([notice, more]).toEqual([`${wake} approvals`, []])
  })

  it('The PostgreSQL queue turns ten thousand notices into one for each topic, in their order', async () => {
    const stopRecording = await recordPayloads()
    const a = process({ clock: fakeClock() })
    for (const topic of ['x', 'y', 'x']) for (let at = 0; at < 10_000; at++) a.notify?.(topic)
    await a.close()
    const topics = (await stopRecording()).map((payload) => payload.split(' ')[1])
    // The first one is sent at once, the others wait.
    expect(topics).toEqual(['x', 'x', 'y'])
  })

  it('A wake of a version without notices, and any other payload, still wakes', async () => {
    const atA = await listening()
    const from = randomUUID()
    const payloads = [from, '', 'approvals', 'from approvals', `${from} `, `${from} No`, `${from} ${'a'.repeat(33)}`]
    for (const [at, payload] of payloads.entries()) {
      await admin.query('SELECT pg_notify($1, $2)', [channel, payload])
      await atA.reached(at + 1)
    }
    await admin.query('SELECT pg_notify($1, $2)', [channel, `${from} approvals`])
    await atA.noticed(1)
    expect([atA.topics, atA.wakes]).toEqual([['approvals'], payloads.length])
  })

  it('Notices that wait are sent once the connection is back, each topic once', async () => {
    let mayConnect = false
    const clock = fakeClock()
    const a = process({
      clock,
      client() {
        if (!mayConnect) throw new Error('not yet')
        return client()
      },
    })
    const atB = await listening()
    // Its call fails.
    a.notify?.('first')
    for (const topic of ['x', 'y', 'x']) for (let at = 0; at < 1_000; at++) a.notify?.(topic)
    await failed.promise
    await turn()
    expect(atB.topics).toEqual([])
    mayConnect = true
    clock.advance(1_000)
    await atB.noticed(3)
    await a.close()
    expect(atB.topics).toEqual(['x', 'y', 'first'])
    expect(logger.lines).toHaveLength(1)
  })

  it('The PostgreSQL queue keeps at most a thousand topics while it has no connection', async () => {
    let mayConnect = false
    const clock = fakeClock()
    const a = process({
      clock,
      client() {
        if (!mayConnect) throw new Error('not yet')
        return client()
      },
    })
    const stopRecording = await recordPayloads()
    for (let at = 0; at < 3_000; at++) a.notify?.(`topic_${at}`)
    await failed.promise
    await turn()
    mayConnect = true
    await a.close()
    // The first one was not waiting.
    expect(await stopRecording()).toHaveLength(1_001)
  })

  it('A closed PostgreSQL queue calls no listener at a notice', async () => {
    const [a, stays] = [process(), await listening()]
    const closed = await listening(a)
    await a.close()
    process().notify?.('x')
    await stays.noticed(1)
    expect(closed.topics).toEqual([])
  })

  it('A wake of a plugin reaches the plugins of every process', async () => {
    const heard = gate<void>()
    const host = (queue: PostgresQueue): PluginCore => {
      let core: PluginCore | undefined
      const setup = (given: PluginCore) => {
        core = given
        return {}
      }
      createSallyport({
        ...{
          auth: testAuth,
          store: memoryStore(),
          logger: recordingLogger(),
          queue,
          plugins: [{ name: 'own', setup }],
        },
        ...{ events: defineEvents({ e: { channels: { a: {} } } }), channels: { a: recordingChannel() } },
      })
      if (!core) throw new Error('the plugin was not set up')
      return core
    }
    const [a, b] = [process(), process()]
    const end = host(b).onWake('approvals', heard.open)
    await listening(b)
    host(a).wake('approvals')
    await heard.promise
    end()
  })
})
