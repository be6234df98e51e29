import { describe, expect, it } from 'vitest'
import type { Logger } from '../../src/ports/logger.ts'
import { type NotificationClient, type PostgresQueueOptions, postgresQueue } from '../../src/queues/postgres.ts'
import { gate } from '../core/dispatch/dispatching.ts'
import { recordingLogger } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { countWakes, queueListener } from './listener.ts'

/** Makes clients with this `connect`. */
function connecting(connect: () => Promise<unknown>): () => NotificationClient {
  return () => ({ connect, query: async () => {}, on() {}, end: async () => {} })
}

describe('the PostgreSQL queue without a server', () => {
  const logger = { log() {} }

  it.each([
    ['cannot connect', connecting(async () => Promise.reject(new Error('refused')))],
    [
      'throws instead of connecting',
      connecting(() => {
        throw new Error('broken')
      }),
    ],
    [
      'throws instead of making a client',
      () => {
        throw new Error('broken')
      },
    ],
    ['never connects', connecting(() => new Promise(() => {}))],
  ])('The PostgreSQL queue with a client that %s wakes its own process and closes', async (_what, client) => {
    const clock = fakeClock()
    const queue = postgresQueue({ client, clock, logger })
    const listener = countWakes(queue)
    for (let at = 0; at < 10_000; at++) queue.wake(0)
    await listener.reached(1)
    const closed = queue.close()
    clock.advance(10_000)
    await closed
  })

  it.each([
    ['a promise of a client', async () => connecting(async () => {})()],
    ['a promise that rejects', async () => Promise.reject(new Error('refused'))],
    ['nothing', () => {}],
  ])('The PostgreSQL queue logs a client function that returns %s, and closes', async (_what, client) => {
    const { lines, log } = recordingLogger()
    const logged = gate<void>()
    const recording: Logger = { log: (...line) => [log(...line), logged.open()] }
    const queue = postgresQueue({ client: client as () => never, logger: recording, clock: fakeClock() })
    queue.listen(queueListener())
    await logged.promise
    expect(lines).toEqual([
      {
        level: 'warn',
        event: 'queue.unavailable',
        fields: { queue: 'postgres', cause: 'SallyportError', causeCode: 'option_invalid', stack: expect.any(String) },
      },
    ])
    await queue.close()
  })

  it('The PostgreSQL queue reconnects with a backoff of half a minute at most', async () => {
    const clock = fakeClock()
    const waits: number[] = []
    let waiting = gate<void>()
    const after: typeof clock.after = (ms, run, keepAlive) => {
      if (!keepAlive) {
        waits.push(ms)
        waiting.open()
      }
      return clock.after(ms, run)
    }
    const client = connecting(() => Promise.reject(new Error('refused')))
    const queue = postgresQueue({ client, clock: { ...clock, after }, logger })
    queue.listen(queueListener())
    for (let at = 0; at < 20; at++) {
      await waiting.promise
      waiting = gate()
      clock.advance(30_000)
    }
    for (const [at, wait] of waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(Math.min(100 * 2 ** at, 30_000) / 2)
      expect(wait).toBeLessThanOrEqual(Math.min(100 * 2 ** at, 30_000))
    }
    expect(waits).toHaveLength(20)
    await queue.close()
  })

  it('The backoff of the PostgreSQL queue begins anew once it listened', async () => {
    const clock = fakeClock()
    const waits: number[] = []
    let waiting = gate<void>()
    const after: typeof clock.after = (ms, run, keepAlive) => {
      // A longer timer checks a connection that listens.
      if (!keepAlive && ms <= 30_000) {
        waits.push(ms)
        waiting.open()
      }
      return clock.after(ms, run)
    }
    let isBack = false
    let disconnect = (): void => {}
    const client = (): NotificationClient => ({
      connect: async () => isBack || Promise.reject(new Error('refused')),
      query: async () => {},
      on(event: string, listener: (given: never) => void) {
        if (event === 'end') disconnect = listener as () => void
      },
      end: async () => {},
    })
    const queue = postgresQueue({ client, clock: { ...clock, after }, logger })
    const listened = gate<void>()
    queue.listen(queueListener({ connected: () => listened.open() }))
    for (let at = 0; at < 6; at++) {
      await waiting.promise
      waiting = gate()
      isBack = at === 5
      clock.advance(30_000)
    }
    await listened.promise
    disconnect()
    await waiting.promise
    expect(waits).toHaveLength(7)
    expect(waits.at(-1)).toBeLessThanOrEqual(100)
    await queue.close()
  })

  it.each([
    ['nothing to send', 0],
    ['a pending wake', 1],
  ])('The PostgreSQL queue that is closed with %s before it listens is never connected', async (_what, wakes) => {
    const clock = fakeClock()
    const asked = gate<void>()
    const answer = gate<void>()
    const client = (): NotificationClient => ({
      connect: async () => {},
      async query(text) {
        if (!text.startsWith('LISTEN')) return
        asked.open()
        await answer.promise
      },
      on() {},
      end: async () => {},
    })
    const queue = postgresQueue({ client, clock, logger })
    const listener = countWakes(queue)
    for (let times = 0; times < wakes; times++) queue.wake(0)
    await asked.promise
    const closed = queue.close()
    await new Promise(setImmediate)
    answer.open()
    await closed
    expect([listener.reports, clock.timers]).toEqual([[], 0])
  })

  it.each([
    ['no client', { client: undefined }, 'client'],
    ['a channel that is not an identifier', { client: () => {}, channel: 'a"; DROP TABLE b; --' }, 'channel'],
    ['the option `connect` of a connected client', { client: () => {}, connect: async () => {} }, 'connect'],
    ['an unknown option', { client: () => {}, chanel: 'a' }, 'chanel'],
    ['an empty channel', { client: () => {}, channel: '' }, 'channel'],
    ['a channel longer than PostgreSQL keeps', { client: () => {}, channel: 'c'.repeat(64) }, 'channel'],
  ])('postgresQueue() refuses %s', (_what, options, field) => {
    expect(() => postgresQueue(options as unknown as PostgresQueueOptions)).toThrow(
      expect.objectContaining({ code: 'option_invalid', problems: [expect.objectContaining({ field })] }),
    )
  })

  it('postgresQueue() refuses a call without options', () => {
    expect(() => Reflect.apply(postgresQueue, undefined, [])).toThrow(
      expect.objectContaining({
        code: 'option_invalid',
        problems: [{ detail: 'is undefined; must be an object of options' }],
      }),
    )
  })
})
