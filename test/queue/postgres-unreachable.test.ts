import { describe, expect, it } from 'vitest'
import { type NotificationClient, type PostgresQueueOptions, postgresQueue } from '../../src/queue/postgres.ts'
import { gate } from '../dispatch/dispatching.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { ear } from './ear.ts'

describe('the queue over PostgreSQL, without one', () => {
  const logger = { log() {} }

  it.each([
    ['cannot connect', async () => Promise.reject(new Error('refused'))],
    [
      'throws instead of connecting',
      () => {
        throw new Error('broken')
      },
    ],
    ['never connects', () => new Promise<NotificationClient>(() => {})],
  ])('that %s, wakes its own process, and is closed', async (_what, connect) => {
    const clock = fakeClock()
    const queue = postgresQueue({ connect, clock, logger })
    const heard = ear(queue)
    for (let at = 0; at < 10_000; at++) queue.wake(0)
    await heard.heard(1)
    const closed = queue.close()
    clock.advance(10_000)
    await closed
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
    const connect = () => Promise.reject(new Error('refused'))
    const queue = postgresQueue({ connect, clock: { ...clock, after }, logger })
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
    ['no way to connect', { connect: undefined }, 'connect'],
    ['a channel that is no identifier', { connect: async () => {}, channel: 'a"; DROP TABLE b; --' }, 'channel'],
    ['an option that there is not', { connect: async () => {}, chanel: 'a' }, 'chanel'],
    ['an empty channel', { connect: async () => {}, channel: '' }, 'channel'],
    ['a channel that PostgreSQL would cut off', { connect: async () => {}, channel: 'c'.repeat(64) }, 'channel'],
  ])('refuses %s', (_what, options, field) => {
    expect(() => postgresQueue(options as unknown as PostgresQueueOptions)).toThrow(
      expect.objectContaining({ code: 'option_invalid', problems: [expect.objectContaining({ field })] }),
    )
  })

  it('refuses to be called without options', () => {
    expect(() => Reflect.apply(postgresQueue, undefined, [])).toThrow(
      expect.objectContaining({ code: 'option_invalid', problems: [{ detail: 'takes an object of options' }] }),
    )
  })
})
