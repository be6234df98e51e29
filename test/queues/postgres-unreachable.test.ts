import { describe, expect, it } from 'vitest'
import type { Logger } from '../../src/ports/logger.ts'
import { type NotificationClient, type PostgresQueueOptions, postgresQueue } from '../../src/queues/postgres.ts'
import { gate } from '../core/dispatch/dispatching.ts'
import { recordingLogger } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { ear } from './listener.ts'

/** A client that connects so. */
function connecting(connect: () => Promise<unknown>): () => NotificationClient {
  return () => ({ connect, query: async () => {}, on() {}, end: async () => {} })
}

describe('the queue over PostgreSQL, without one', () => {
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
  ])('that %s, wakes its own process, and is closed', async (_what, client) => {
    const clock = fakeClock()
    const queue = postgresQueue({ client, clock, logger })
    const touched = ear(queue)
    for (let at = 0; at < 10_000; at++) queue.wake(0)
    await touched.touched(1)
    const closed = queue.close()
    clock.advance(10_000)
    await closed
  })

  it.each([
    ['a promise of a client', async () => connecting(async () => {})()],
    ['a promise that rejects', async () => Promise.reject(new Error('refused'))],
    ['nothing', () => {}],
  ])('says what is wrong with a function that gives %s, and is closed', async (_what, client) => {
    const { lines, log } = recordingLogger()
    const said = gate<void>()
    const recording: Logger = { log: (...line) => [log(...line), said.open()] }
    const queue = postgresQueue({ client: client as () => never, logger: recording, clock: fakeClock() })
    queue.listen(() => {})
    await said.promise
    expect(lines).toEqual([
      {
        level: 'warn',
        event: 'queue.unavailable',
        fields: { queue: 'postgres', cause: 'SallyportError', causeCode: 'option_invalid', stack: expect.any(String) },
      },
    ])
    await queue.close()
  })

  it('tries ever less often, and half a minute apart at most', async () => {
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
    queue.listen(() => {})
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

  it.each([
    ['no way to connect', { client: undefined }, 'client'],
    ['a channel that is no identifier', { client: () => {}, channel: 'a"; DROP TABLE b; --' }, 'channel'],
    ['the option of a client that is connected already', { client: () => {}, connect: async () => {} }, 'connect'],
    ['an option that there is not', { client: () => {}, chanel: 'a' }, 'chanel'],
    ['an empty channel', { client: () => {}, channel: '' }, 'channel'],
    ['a channel that PostgreSQL would cut off', { client: () => {}, channel: 'c'.repeat(64) }, 'channel'],
  ])('refuses %s', (_what, options, field) => {
    expect(() => postgresQueue(options as unknown as PostgresQueueOptions)).toThrow(
      expect.objectContaining({ code: 'option_invalid', problems: [expect.objectContaining({ field })] }),
    )
  })

  it('refuses to be called without options', () => {
    expect(() => Reflect.apply(postgresQueue, undefined, [])).toThrow(
      expect.objectContaining({ code: 'option_invalid', problems: [{ detail: 'must be an object of options' }] }),
    )
  })
})
