import { describe, expect, it } from 'vitest'
import type { DeliveryPolicy } from '../../../src/ports/delivery-policy.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { acceptMany, app, byAddress, pass, type TestApp } from './test-app.ts'

const SECOND = 1_000

describe('the duration of an attempt, for the breaker of its receiver', () => {
  it('A failure after five seconds is a time-out, whatever its code', async () => {
    const a = recordingChannel(
      [
        () =>
          new Promise((resolve) => {
            own.deps.clock.after(5 * SECOND, () => resolve({ outcome: 'retry', code: 'connection_failed' }))
          }),
      ],
      { ...byAddress, retrySchedule: Array(50).fill(SECOND) },
    )
    const own: TestApp = app({ a }, { perReceiver: 1 })
    await acceptMany(own.deps, 5)
    own.worker.start()
    await pass(own, 30 * SECOND)
    expect(a.sent).toHaveLength(3)
    await own.worker.stop()
  })

  it('A slow policy before the send of a quick failure is no time-out', async () => {
    let isSlow = false
    const a = recordingChannel([{ outcome: 'retry', code: 'http_503' }], {
      ...byAddress,
      retrySchedule: Array(50).fill(SECOND),
    })
    const policy: DeliveryPolicy = {
      async decide() {
        if (isSlow) await new Promise<void>((resolve) => own.deps.clock.after(5 * SECOND, resolve))
        return { verdict: 'send' }
      },
    }
    const own: TestApp = app({ a }, { perReceiver: 1 }, { policy })
    await acceptMany(own.deps, 1)
    isSlow = true
    own.worker.start()
    await pass(own, 60 * SECOND)
    expect(a.sent.length).toBeGreaterThan(5)
    expect(own.deps.logger.lines.filter(({ event }) => event === 'delivery.receiver_paused')).toEqual([])
    await own.worker.stop()
  })
})
