import { describe, expect, it } from 'vitest'
import { attemptDelivery } from '../../../src/core/delivery/attempt.ts'
import type { DeliveryEvent } from '../../../src/core/hooks.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { claimOne } from '../dispatch/dispatching.ts'
import { attempt, attemptClaimed, depsFor, leased } from './attempting.ts'

const PLACE = { deliveryId: 'dlv_2', dispatchId: 'dsp_1', channel: 'a' }

describe('the end of an attempt', () => {
  it('An attempt without hooks returns no promise of hooks', async () => {
    const deps = await depsFor(recordingChannel())
    expect(await attemptDelivery(await claimOne(deps), leased(deps), deps)).toEqual({ result: 'sent' })
    const withHooks = await depsFor(recordingChannel(), { hooks: {} })
    const { reported } = await attemptDelivery(await claimOne(withHooks), leased(withHooks), withHooks)
    expect(reported).toBeInstanceOf(Promise)
  })

  it('An attempt on an unknown channel logs delivery.channel_unknown', async () => {
    const deps = await depsFor(recordingChannel())
    const claimed = await claimOne(deps)
    expect(await attemptClaimed(claimed, leased(deps), { ...deps, channels: {} })).toBe('released')
    expect(deps.logger.lines).toEqual([
      { level: 'warn', event: 'delivery.channel_unknown', fields: PLACE },
      {
        ...{ level: 'info', event: 'delivery.queued' },
        fields: { ...PLACE, attempt: 1, reason: 'unknown_here', delayMs: 60_000 },
      },
    ])
  })

  it('The log of a delivery that was cancelled meanwhile has no delay', async () => {
    const deps = await depsFor(recordingChannel([{ outcome: 'retry', code: 'busy' }]))
    const claimed = await claimOne(deps)
    await deps.store.cancel('default', claimed.dispatch.dispatchId)
    await attemptClaimed(claimed, leased(deps), deps)
    expect(deps.logger.lines.map(({ fields }) => fields)).toEqual([{ ...PLACE, attempt: 1, code: 'busy' }])
  })

  it('A hook receives the last error code, also when later attempts had none', async () => {
    const events: DeliveryEvent[] = []
    const deps = await depsFor(recordingChannel(), { hooks: { onSent: (event) => void events.push(event) } })
    const claimed = await claimOne(deps)
    const startedAt = deps.clock.now()
    const history = [
      { attempt: 1, startedAt, code: 'busy' },
      { attempt: 2, startedAt, code: 'away' },
      { attempt: 3, startedAt },
    ]
    await attemptClaimed({ ...claimed, history }, leased(deps), deps)
    expect(events).toMatchObject([{ lastCode: 'away' }])
  })

  it('A hook receives no provider fields that the provider did not give', async () => {
    const events: DeliveryEvent[] = []
    const deps = await depsFor(recordingChannel([{ outcome: 'sent' }]), {
      hooks: { onSent: (event) => void events.push(event) },
    })
    await attempt(deps)
    const keys = events.map((event) => Object.keys(event).sort())
    expect(keys).toEqual([
      ['attempts', 'channel', 'deliveryId', 'dispatchId', 'eventType', 'recipient', 'status', 'tenant'],
    ])
  })
})
