import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchGrant } from '../../../src/model/principal.ts'
import { GRANT, GRANTED, SESSION, testDeps } from '../../support/deps.ts'
import { accepted, ORDER, post, stored } from './dispatching.ts'

const BY_MAIL = { ...ORDER, channel: 'email' }

/** Deps with a session token of `s1` that has the given grant. */
function grantedDeps(grant: Partial<DispatchGrant>) {
  const principal = { id: 't', tenant: 'default', sessionId: 's1', dispatch: { ...GRANT, ...grant } }
  return testDeps(undefined, { auth: { verify: async () => principal } })
}

describe('an application', () => {
  it('An application may name any session, event, recipient and channel', async () => {
    expect(await accepted(testDeps(), { ...ORDER, sessionId: 'any' })).toMatchObject({ sessionId: 'any' })
  })
})

describe('a session token', () => {
  it('A session token without a grant may dispatch nothing', async () => {
    const deps = testDeps()
    expect(await post(deps, BY_MAIL, SESSION)).toEqual({
      ok: false,
      status: 403,
      headers: { 'www-authenticate': 'Bearer realm="sallyport", error="insufficient_scope"' },
      body: {
        type: 'urn:sallyport:problem:insufficient_scope',
        title: 'The bearer token does not allow this',
        status: 403,
        detail: 'The session token may not dispatch.',
        code: 'insufficient_scope',
        requestId: 'req_1',
      },
    })
    expect(await stored(deps)).toEqual([])
  })

  it('The session of a session token is filled in', async () => {
    const deps = testDeps()
    expect(await accepted(deps, BY_MAIL, GRANTED)).toMatchObject({ sessionId: 's1' })
    expect((await deps.store.listDispatches({ tenant: 'default', sessionId: 's1', limit: 1 })).items).toHaveLength(1)
  })

  it('A session token may name its own session', async () => {
    expect(await accepted(testDeps(), { ...BY_MAIL, sessionId: 's1' }, GRANTED)).toMatchObject({ sessionId: 's1' })
  })

  it.each<[string, object, string]>([
    ['another session', { sessionId: 's2' }, 'The session token is for another session.'],
    ['an event that is not granted', { eventType: 'order.paid' }, 'The session token does not grant this event.'],
    ['an event in another letter case', { eventType: 'Order.shipped' }, 'The session token does not grant this event.'],
    [
      'a recipient that is not granted',
      { recipient: 'john@example.com' },
      'The session token does not grant this recipient.',
    ],
    [
      'a recipient in another letter case',
      { recipient: 'Jane@example.com' },
      'The session token does not grant this recipient.',
    ],
    [
      'a channel that is not granted',
      { channel: 'sms' },
      'The session token does not grant every channel of this: name one that it grants as "channel".',
    ],
    [
      'no channel, when the event has one that is not granted',
      { channel: undefined },
      'The session token does not grant every channel of this: name one that it grants as "channel".',
    ],
  ])('A session token is refused for %s', async (_, change, detail) => {
    const deps = testDeps()
    const body = JSON.parse(JSON.stringify({ ...BY_MAIL, ...change }))
    expect(await post(deps, body, GRANTED)).toMatchObject({
      status: 403,
      headers: { 'www-authenticate': 'Bearer realm="sallyport", error="insufficient_scope"' },
      body: { code: 'insufficient_scope', detail },
    })
    expect(await stored(deps)).toEqual([])
  })

  it('A refusal reveals nothing of the catalogue beyond the grant', async () => {
    const answers = await Promise.all(
      ['order.shiped', 'order.paid', 'nothing'].map((eventType) =>
        post(testDeps(), { ...BY_MAIL, eventType }, GRANTED),
      ),
    )
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  })

  it('A session token may not name a granted channel that is no override of the event', async () => {
    const events = defineEvents({ 'order.shipped': { overrides: ['sms'], channels: { email: {}, sms: {} } } })
    expect(await post({ ...testDeps(), events }, BY_MAIL, GRANTED)).toMatchObject({
      status: 422,
      body: { code: 'channel_not_allowed' },
    })
  })

  it('A session token may omit the channel when all channels are granted', async () => {
    expect(await post(grantedDeps({ channels: ['sms', 'email'] }), ORDER)).toMatchObject({ status: 202 })
  })

  it.each(['events', 'channels', 'recipients'] as const)(
    'A session token whose grant has no %s may dispatch nothing',
    async (list) => {
      expect(await post(grantedDeps({ [list]: [] }), BY_MAIL)).toMatchObject({ status: 403 })
    },
  )

  it('A session token may not request a dry run', async () => {
    expect(await post(testDeps(), BY_MAIL, GRANTED, { dryRun: 'true' })).toMatchObject({
      status: 403,
      headers: { 'www-authenticate': 'Bearer realm="sallyport", error="insufficient_scope"' },
      body: { code: 'insufficient_scope', detail: 'A dry run needs an application secret.' },
    })
    expect(await post(testDeps(), BY_MAIL, GRANTED, { dryRun: 'false' })).toMatchObject({ status: 202 })
  })

  it('A key of one session does not replay the dispatch of another session', async () => {
    const sessions: Record<string, string> = { one: 's1', two: 's2' }
    const auth = {
      verify: async (token: string) => ({
        id: token,
        tenant: 'default',
        sessionId: sessions[token] ?? '',
        dispatch: GRANT,
      }),
    }
    const deps = testDeps(undefined, { auth })
    const key = { 'idempotency-key': 'k' }
    await accepted(deps, BY_MAIL, { authorization: 'Bearer one', ...key })
    const second = await post(deps, BY_MAIL, { authorization: 'Bearer two', ...key })
    expect(second.body).not.toMatchObject({ sessionId: 's1' })
  })
})
