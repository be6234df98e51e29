import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { wake } from '../../../src/core/wake.ts'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import type { DeliveryQueue } from '../../../src/ports/delivery-queue.ts'
import { testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { withoutStrayRejections } from '../../support/stray-rejections.ts'
import { accepted, braces, refused, stored } from '../dispatch/dispatching.ts'
import { attempt, delivery, depsFor, settled } from './attempting.ts'
import { acceptMany, app, byAddress, gated, settled as settledTestApp } from './test-app.ts'

describe('provider message ids', () => {
  it.each([
    [255, true],
    [256, false],
  ])('A provider message id of %d characters is stored: %s', async (length, isKept) => {
    const providerMessageId = 'x'.repeat(length)
    const deps = await depsFor(recordingChannel([{ outcome: 'sent', providerMessageId }]))
    expect(await attempt(deps)).toBe('sent')
    expect((await delivery(deps)).providerMessageId).toBe(isKept ? providerMessageId : undefined)
  })
})

describe('Retry-After', () => {
  it('Retry-After is ignored on a rejection', async () => {
    const rejected = { outcome: 'rejected', code: 'odd', retryAfterMs: 20_000 } as SendOutcome
    const deps = await depsFor(recordingChannel([rejected], { retrySchedule: [10_000] }))
    expect(await attempt(deps)).toBe('failed')
    expect(await delivery(deps)).toMatchObject({ status: 'failed', reason: 'provider_rejected', lastCode: 'odd' })
  })
})

describe('runDue', () => {
  it('runDue counts a delivery that was cancelled during its send as attempted', async () => {
    const own = app({
      a: recordingChannel([
        async () => {
          const [dispatch] = await stored(own.deps)
          await own.deps.store.cancel('default', dispatch?.dispatchId ?? '')
          return { outcome: 'retry', code: 'busy' }
        },
      ]),
    })
    await acceptMany(own.deps, 1)
    const counts = { sent: 0, retried: 0, failed: 0, skipped: 0, expired: 0 }
    expect(await own.worker.runDue()).toEqual({ attempted: 1, ...counts })
  })
})

describe('a worker', () => {
  it('A worker claims nothing while all its slots are taken', async () => {
    const { channel, gates } = gated()
    const own = app({ a: channel }, { concurrency: 1 })
    await acceptMany(own.deps, 2)
    own.worker.start()
    await settledTestApp(own)
    expect(gates).toHaveLength(1)
    for (const { limits } of own.claims) expect(limits).toEqual({ a: 1 })
    const before = own.claims.length
    own.deps.queue.wake(0)
    await settledTestApp(own)
    expect(own.claims).toHaveLength(before)
  })

  it('A worker continues when the store fails to queue surplus deliveries again', async () => {
    const { channel, gates } = gated(byAddress)
    let isDown = true
    const own = app(
      { a: channel },
      {
        concurrency: 5,
        perReceiver: 1,
        store: ({ settle }) => ({
          settle: async (settlement) => {
            if (isDown && settlement.to === 'queued') throw new TypeError('down')
            return settle(settlement)
          },
        }),
      },
    )
    await acceptMany(own.deps, 2)
    own.worker.start()
    await settledTestApp(own)
    expect(own.deps.logger.lines.filter(({ event }) => event !== 'worker.started')).toEqual([
      {
        level: 'error',
        event: 'delivery.settle_failed',
        fields: { deliveryId: 'dlv_4', cause: 'TypeError', stack: expect.any(String) },
      },
    ])
    isDown = false
    gates[0]?.open({ outcome: 'sent' })
    await settledTestApp(own)
    expect(own.deps.logger.lines.at(-1)).toMatchObject({ event: 'delivery.sent', fields: { deliveryId: 'dlv_2' } })
  })
})

describe('a queue that rejects when it is woken', () => {
  it('A wake that rejects is logged, and leaves no unhandled rejection', () =>
    withoutStrayRejections(async () => {
      const { logger, clock } = testDeps({})
      const queue = { wake: () => Promise.reject(new TypeError('down')) } as unknown as DeliveryQueue
      wake(queue, { logger, clock })
      await settled(clock)
      expect(logger.lines).toEqual([
        { level: 'error', event: 'queue.wake_failed', fields: { cause: 'TypeError', stack: expect.any(String) } },
      ])
    }))
})

describe('a digest', () => {
  const digest = { windowMs: 60_000 }

  it('A digest on a channel without fields is sent with all its events', async () => {
    const a = recordingChannel()
    const deps = testDeps({ a }, { events: defineEvents({ e: { digest, channels: { a: {} } } }) })
    for (const n of [1, 2]) await accepted(deps, { eventType: 'e', recipient: 'j@example.com', eventData: { n } })
    deps.clock.advance(60_000)
    await attempt(deps)
    await attempt(deps)
    expect(a.sent).toMatchObject([{ content: { data: { events: [{ n: 1 }, { n: 2 }] } } }])
    expect(deps.logger.lines.map(({ event }) => event)).not.toContain('delivery.event_left_out')
  })

  it('A digest template that reads missing data reports the place in its own event', async () => {
    const text = '{{ events.0.order.id }} {{ other.x }} {{ data.total }}'
    const definitions = { e: { digest, channels: { a: { text }, b: { text: '{{ other.x }}' } } } }
    const events = defineEvents(definitions, { templates: braces })
    const deps = testDeps({ a: recordingChannel(), b: recordingChannel() }, { events })
    const { errors = [] } = await refused(deps, { eventType: 'e', recipient: 'j@example.com', eventData: {} })
    expect(errors.map(({ pointer, detail }) => [pointer, detail])).toEqual([
      ['/eventData/order/id', 'a template reads events.0.order.id'],
      ['/eventData', 'a template reads other.x'],
    ])
  })
})
