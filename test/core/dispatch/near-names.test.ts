import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { handleDispatchWithDefaults, handleSessionRunWithDefaults } from '../../../src/compose/defaults.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { AuthVerifier } from '../../../src/ports/auth-verifier.ts'
import { APP, testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const events = defineEvents({
  'order.shipped': { data: v.object({ orderId: v.string() }), channels: { email: {}, sms: {} } },
  'order.shopped': { channels: { email: {}, sms: {} }, overrides: ['email'] },
  'secret.shipped': { channels: { email: {} } },
})
const channels = { email: recordingChannel(), emails: recordingChannel(), sms: recordingChannel() }

/** A session token whose grant has names that do not exist. */
const granted: AuthVerifier = {
  verify: async () => ({
    ...{ id: 'x', tenant: 'default', sessionId: 's1' },
    dispatch: {
      events: ['order.shopped', 'order.shippd'],
      channels: ['sms', 'emial', 'email'],
      recipients: ['jane@example.com'],
    },
  }),
}
const narrow: AuthVerifier = {
  verify: async () => ({
    ...{ id: 'x', tenant: 'default', sessionId: 's1' },
    dispatch: {
      events: ['order.shopped', 'order.shippd'],
      channels: ['sms', 'emial'],
      recipients: ['jane@example.com'],
    },
  }),
}

async function problemOf(body: object, auth?: AuthVerifier) {
  const deps = testDeps(channels, { events, ...(auth && { auth }) })
  const request = { headers: APP, body: { recipient: 'jane@example.com', ...body } }
  const answer = await handleDispatchWithDefaults(request, deps)
  if (answer.ok) throw new Error(`was accepted: ${JSON.stringify(answer.body)}`)
  const { code, detail, errors = [] } = answer.body
  return { code, detail, errors }
}

describe('unknown channels', () => {
  it("An unknown channel is answered with similar names and the event's channels", async () => {
    const detail = 'No channel has this name. Near: email. The event can be sent through email, sms.'
    const eventData = { orderId: 'A' }
    expect(await problemOf({ eventType: 'order.shipped', eventData, channel: 'emial' })).toEqual({
      code: 'channel_unknown',
      detail,
      errors: [{ pointer: '/channel', code: 'not_allowed', detail }],
    })
    const far = await problemOf({ eventType: 'order.shipped', eventData, channel: 'carrier-pigeon' })
    expect(far.detail).toBe('No channel has this name. The event can be sent through email, sms.')
  })

  it("A channel that the event does not use is answered with the event's channels", async () => {
    const { code, detail } = await problemOf({ eventType: 'order.shopped', channel: 'sms' })
    expect([code, detail]).toEqual(['channel_not_allowed', 'The event can be sent through email.'])
  })

  it('Suggestions for a session token contain only names of its grant', async () => {
    const unknown = { eventType: 'order.shopped', channel: 'emial' }
    expect((await problemOf(unknown, granted)).detail).toBe(
      'No channel has this name. Near: email. The event can be sent through email.',
    )
    expect((await problemOf(unknown, narrow)).detail).toBe('No channel has this name.')
    const unused = { eventType: 'order.shopped', channel: 'sms' }
    expect((await problemOf(unused, narrow)).detail).toBe('The event cannot be sent through it.')
    expect((await problemOf({ eventType: 'order.shippd', channel: 'sms' }, narrow)).detail).toBe(
      'No event has this name. Near: order.shopped.',
    )
    expect((await problemOf({ eventType: 'order.shopped', channel: 'push' }, granted)).code).toBe('insufficient_scope')
  })
})

describe('unknown fields', () => {
  it.each(['data', 'payload', 'event_data', 'eventdata', 'evntData', 'variables'])(
    'A body with %s and no eventData is refused with a hint at eventData',
    async (field) => {
      const { code, errors } = await problemOf({ eventType: 'order.shipped', [field]: { orderId: 'A' } })
      expect(code).toBe('validation_failed')
      expect(errors).toEqual([
        { pointer: '/eventData/orderId', code: 'required', detail: 'is required' },
        { pointer: `/${field}`, code: 'not_allowed', detail: 'is not known here; did you mean eventData?' },
      ])
    },
  )

  it.each([
    ['type', 'eventType'],
    ['event', 'eventType'],
    ['to', 'recipient'],
    ['user_id', 'recipient'],
    ['recipent', 'recipient'],
  ])('A body with %s is refused with a hint at the missing %s', async (field, meant) => {
    const body = { eventType: 'order.shipped', recipient: 'jane@example.com', [meant]: undefined, [field]: 'x' }
    expect((await problemOf(body)).errors).toEqual([
      { pointer: `/${meant}`, code: 'required', detail: 'is required' },
      { pointer: `/${field}`, code: 'not_allowed', detail: `is not known here; did you mean ${meant}?` },
    ])
  })

  it('A misnamed field is a warning with a suggestion when the event is accepted', async () => {
    const deps = testDeps(channels, { events })
    const body = { eventType: 'order.shopped', recipient: 'jane@example.com', data: { a: 1 }, xyz: 1, kind: 'x' }
    expect(await handleDispatchWithDefaults({ headers: APP, body }, deps)).toMatchObject({
      status: 202,
      body: {
        warnings: [
          { pointer: '/data', detail: 'is not known here and was dropped; did you mean eventData?' },
          { pointer: '/xyz', detail: 'is not known here and was dropped' },
          { pointer: '/kind', detail: 'is not known here and was dropped' },
        ],
      },
    })
  })

  it('A sent field and a long name get no suggestion', async () => {
    const deps = testDeps(channels, { events })
    const body = { eventType: 'order.shipped', recipient: 'a@example.com', eventData: { orderId: 'A' }, data: {} }
    const long = `eventData${'a'.repeat(100_000)}`
    expect(await handleDispatchWithDefaults({ headers: APP, body: { ...body, [long]: 1 } }, deps)).toMatchObject({
      body: {
        warnings: [{ detail: 'is not known here and was dropped' }, { detail: 'is not known here and was dropped' }],
      },
    })
  })

  it('A misnamed field of a run gets a suggestion too', async () => {
    const { store, auth } = testDeps()
    const request = { headers: APP, body: { session_id: 's1', run: { runId: 'r1', staus: 'failed' } } }
    expect(await handleSessionRunWithDefaults(request, { store, auth })).toMatchObject({
      body: {
        errors: [
          { pointer: '/sessionId', code: 'required' },
          { pointer: '/session_id', detail: 'is not known here; did you mean sessionId?' },
          { pointer: '/run/staus', detail: 'is not known here; did you mean status?' },
        ],
      },
    })
  })
})
