import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryEvent } from '../../../src/core/hooks.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted } from '../dispatch/dispatching.ts'
import { acceptMany, app, BODY, pass, settled, totals } from './test-app.ts'

describe('a hook that hangs', () => {
  const hooks = { onSent: () => new Promise(() => {}) }

  it('A hook that hangs occupies no slot', async () => {
    const a = recordingChannel()
    const own = app({ a }, { concurrency: 1 }, { hooks })
    await acceptMany(own.deps, 30)
    own.worker.start()
    await settled(own)
    for (let turn = 0; turn < 10 && a.sent.length < 30; turn++) await settled(own)
    expect(a.sent).toHaveLength(30)
  })

  it('runDue waits once, up to ten seconds, for hooks that hang', async () => {
    const own = app({ a: recordingChannel() }, { concurrency: 1 }, { hooks })
    await acceptMany(own.deps, 5)
    let isOver = false
    const run = own.worker.runDue().finally(() => {
      isOver = true
    })
    for (let turn = 0; turn < 3; turn++) await settled(own)
    await pass(own, 9_999, 9_999)
    expect([await totals(own.deps), isOver]).toEqual([{ sent: 5 }, false])
    await pass(own, 1)
    expect(await run).toMatchObject({ sent: 5 })
  })
})

describe('expired deliveries', () => {
  it('An expired delivery is logged and calls onFailed', async () => {
    const reported: DeliveryEvent[] = []
    const hooks = { onFailed: (event: DeliveryEvent) => void reported.push(event) }
    const both = defineEvents({ e: { route: 'first', channels: { a: {}, b: {} } } })
    const own = app({ a: recordingChannel(), b: recordingChannel() }, {}, { events: both, expiresInMs: 1_000, hooks })
    await accepted(own.deps, BODY)
    own.deps.clock.advance(1_000)
    own.worker.start()
    await settled(own)
    await own.worker.stop()
    const head = { dispatchId: 'dsp_1', tenant: 'default', eventType: 'e', recipient: BODY.recipient }
    expect(reported).toEqual([
      { ...head, deliveryId: 'dlv_2', channel: 'a', status: 'expired', attempts: 0 },
      { ...head, deliveryId: 'dlv_3', channel: 'b', status: 'expired', attempts: 0 },
    ])
    expect(own.deps.logger.lines.filter(({ event }) => !event.startsWith('worker.'))).toEqual(
      [
        { deliveryId: 'dlv_2', channel: 'a' },
        { deliveryId: 'dlv_3', channel: 'b' },
      ].map((place) => ({
        level: 'warn',
        event: 'delivery.expired',
        fields: { ...place, dispatchId: 'dsp_1', attempt: 0 },
      })),
    )
  })

  it('A hook that hangs does not delay the hooks of other expired deliveries', async () => {
    const reported: string[] = []
    const hooks = {
      onFailed: ({ deliveryId }: DeliveryEvent) => {
        reported.push(deliveryId)
        return new Promise(() => {})
      },
    }
    const own = app({ a: recordingChannel() }, {}, { expiresInMs: 1_000, hooks })
    await acceptMany(own.deps, 50)
    own.deps.clock.advance(1_000)
    const run = own.worker.runDue()
    await settled(own)
    expect(new Set(reported).size).toBe(50)
    await pass(own, 10_000)
    expect(await run).toMatchObject({ expired: 50 })
  })

  it('Hooks of expired deliveries do not delay the next claim', async () => {
    const hooks = { onFailed: () => new Promise(() => {}) }
    const a = recordingChannel()
    const own = app({ a }, {}, { expiresInMs: 1_000, hooks })
    await accepted(own.deps, BODY)
    own.deps.clock.advance(1_000)
    own.worker.start()
    await settled(own)
    await accepted(own.deps, BODY)
    await settled(own)
    expect(a.sent).toHaveLength(1)
  })
})
