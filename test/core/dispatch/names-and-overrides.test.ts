import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, ORDER, post, refused, stored } from './dispatching.ts'

describe('unknown names', () => {
  it.each([
    ['order.shiped', 'No event has this name. Near: order.shipped.'],
    ['completely.else', 'No event has this name.'],
    ['__proto__', 'No event has this name.'],
    ['toString', 'No event has this name.'],
  ])('The unknown event %s is refused, with similar names if any', async (eventType, detail) => {
    const problem = await refused(testDeps(), { ...ORDER, eventType })
    expect(problem).toMatchObject({
      status: 422,
      code: 'event_unknown',
      detail,
      errors: [{ pointer: '/eventType', code: 'not_allowed', detail }],
    })
  })

  it.each([
    ['emial', 'No channel has this name. Near: email. The event can be sent through email, sms.'],
    ['pigeon', 'No channel has this name. The event can be sent through email, sms.'],
    ['constructor', 'No channel has this name. The event can be sent through email, sms.'],
  ])('The unknown channel %s is refused, with similar names if any', async (channel, detail) => {
    const problem = await refused(testDeps(), { ...ORDER, channel })
    expect(problem).toMatchObject({
      status: 422,
      code: 'channel_unknown',
      detail,
      errors: [{ pointer: '/channel', code: 'not_allowed', detail }],
    })
  })

  it('An unknown channel has another code than a channel that the event does not use', async () => {
    const deps = testDeps({ email: recordingChannel(), sms: recordingChannel(), push: recordingChannel() })
    expect(await refused(deps, { ...ORDER, channel: 'push' })).toMatchObject({
      status: 422,
      code: 'channel_not_allowed',
      detail: 'The event can be sent through email, sms.',
      errors: [{ pointer: '/channel', code: 'not_allowed' }],
    })
  })
})

describe('the override', () => {
  it("A request may name only channels in the event's overrides", async () => {
    const events = defineEvents({
      e: { overrides: ['b'], channels: { a: {}, b: {} } },
      f: { overrides: ['b', 'a'], channels: { a: {}, b: {} } },
    })
    const deps = testDeps({ a: recordingChannel(), b: recordingChannel() }, { events })
    const body = { eventType: 'e', recipient: 'jane@example.com' }
    const detail = 'The event can be sent through b.'
    expect(await refused(deps, { ...body, channel: 'a' })).toMatchObject({
      status: 422,
      code: 'channel_not_allowed',
      detail,
      errors: [{ pointer: '/channel', code: 'not_allowed', detail }],
    })
    expect(await post(deps, { ...body, channel: 'a' }, {}, { dryRun: 'true' })).toMatchObject({ status: 422 })
    expect(await stored(deps)).toEqual([])
    const channelsOf = async (sent: object) => (await accepted(deps, sent)).deliveries.map(({ channel }) => channel)
    expect(await channelsOf({ ...body, channel: 'b' })).toEqual(['b'])
    expect(await channelsOf(body)).toEqual(['a', 'b'])
    expect(await channelsOf({ ...body, eventType: 'f', channel: 'a' })).toEqual(['a'])
  })

  it('A named channel is the only one that sends', async () => {
    const { deliveries } = await accepted(testDeps(), { ...ORDER, channel: 'email' })
    expect(deliveries).toEqual([{ deliveryId: 'dlv_2', channel: 'email', status: 'queued', attempts: 0 }])
  })

  it('A named channel keeps its condition', async () => {
    const body = { ...ORDER, recipient: '+4915112345678', eventData: { orderId: 'A-1', total: 99 }, channel: 'sms' }
    expect(await accepted(testDeps(), body)).toMatchObject({
      status: 'skipped',
      deliveries: [{ channel: 'sms', status: 'skipped', reason: 'condition_false' }],
    })
  })

  it('A named channel never falls back to another channel', async () => {
    const { deliveries } = await accepted(testDeps(), { ...ORDER, channel: 'sms' })
    expect(deliveries).toEqual([
      { deliveryId: 'dlv_2', channel: 'sms', status: 'skipped', reason: 'no_address', attempts: 0 },
    ])
  })
})
