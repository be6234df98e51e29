import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { type DispatchDeps, handleDispatch, planAndAccept } from '../../../src/core/dispatch/handle-dispatch.ts'
import type { Acceptance, DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { APP, testAuth, testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, ORDER, places, post, refused, stored } from './dispatching.ts'

const CANARY = 'canary-7f3a'

describe('a queue', () => {
  it('A failing queue does not undo an accepted dispatch', async () => {
    const deps = testDeps(undefined, {
      queue: {
        wake() {
          throw new Error('the queue is down')
        },
        listen: () => () => {},
      },
    })
    expect(await post(deps, ORDER)).toMatchObject({ status: 202 })
    expect(deps.logger.lines).toMatchObject([
      { level: 'error', event: 'queue.wake_failed', fields: { cause: 'Error' } },
    ])
  })
})

describe('an accepted dispatch', () => {
  it('An accepted dispatch is answered 202 with the state of every channel', async () => {
    const deps = testDeps()
    expect(await post(deps, { ...ORDER, sessionId: 's1' })).toEqual({
      ok: true,
      status: 202,
      headers: {},
      body: {
        dispatchId: 'dsp_1',
        status: 'queued',
        eventType: 'order.shipped',
        recipient: 'jane@example.com',
        sessionId: 's1',
        createdAt: '2026-11-21T08:00:00.000Z',
        deliveries: [
          { deliveryId: 'dlv_2', channel: 'email', status: 'queued', attempts: 0 },
          { deliveryId: 'dlv_3', channel: 'sms', status: 'skipped', reason: 'no_address', attempts: 0 },
        ],
        duplicate: false,
        warnings: [],
      },
    })
  })

  it('An accepted dispatch is stored with addresses and content', async () => {
    const deps = testDeps()
    await accepted(deps)
    expect(await deps.store.findDispatch('default', 'dsp_1')).toEqual({
      dispatchId: 'dsp_1',
      tenant: 'default',
      by: 'app',
      eventType: 'order.shipped',
      recipient: 'jane@example.com',
      route: 'all',
      createdAt: deps.clock.now(),
      deliveries: [
        {
          deliveryId: 'dlv_2',
          channel: 'email',
          status: 'queued',
          attempts: 0,
          attemptLog: [],
          dueAt: deps.clock.now(),
          address: 'jane@example.com',
          content: { subject: 'Order A-1 shipped', html: '<p>A-1</p>' },
        },
        { deliveryId: 'dlv_3', channel: 'sms', status: 'skipped', reason: 'no_address', attempts: 0, attemptLog: [] },
      ],
    })
  })

  it('A dispatch without a sessionId is stored without one', async () => {
    expect(await accepted(testDeps())).not.toHaveProperty('sessionId')
  })

  it('Accepting a dispatch sends nothing', async () => {
    const email = recordingChannel()
    await accepted(testDeps({ email, sms: recordingChannel() }))
    expect(email.sent).toEqual([])
  })

  it('A dispatch wakes the queue only if a delivery is queued', async () => {
    const woken: number[] = []
    const queue = { wake: (delayMs: number) => void woken.push(delayMs), listen: () => () => {} }
    const deps = testDeps(undefined, { queue })
    await accepted(deps, { ...ORDER, channel: 'sms' })
    expect(woken).toEqual([])
    await accepted(deps)
    expect(woken).toEqual([0])
  })

  it('A dispatch belongs to the tenant of its credential', async () => {
    const deps = testDeps()
    const { dispatchId } = await accepted(deps, ORDER, { authorization: 'Bearer other' })
    expect(await deps.store.findDispatch('other', dispatchId)).toMatchObject({ dispatchId, tenant: 'other' })
    expect(await deps.store.findDispatch('default', dispatchId)).toBeUndefined()
  })

  it('The locale of the recipient is stored', async () => {
    const recipients = { find: async (id: string) => ({ id, email: 'jane@example.com', locale: 'de-AT' }) }
    const deps = testDeps(undefined, { recipients })
    await accepted(deps, { ...ORDER, recipient: 'user_42' })
    expect(await stored(deps)).toMatchObject([{ recipient: 'user_42', locale: 'de-AT' }])
  })
})

describe('the order of answers', () => {
  const WRONG = { eventType: 5 }

  it('Checks run in order: authentication, idempotency key, query, body, event, channel, data, recipient', async () => {
    const deps = testDeps()
    const key = { 'idempotency-key': 'not a key' }
    const ask = async (authorization: string, body: unknown, headers = {}, query = {}) => {
      const answer = await handleDispatch({ headers: { authorization, ...headers }, body, query }, deps)
      return answer.ok ? answer.status : `${answer.status} ${answer.body.code} ${places(answer.body).join(' ')}`.trim()
    }
    const app = APP.authorization
    const bad = { eventType: 'nothing', recipient: 'nobody', channel: 'pigeon', eventData: {} }
    expect(await ask('', WRONG, key, { dryRun: 'maybe' })).toBe('401 unauthorized')
    expect(await ask('Bearer nobody', WRONG, key, { dryRun: 'maybe' })).toBe('401 invalid_token')
    expect(await ask('Bearer broken', WRONG, key, { dryRun: 'maybe' })).toBe('503 auth_unavailable')
    expect(await ask(app, WRONG, key, { dryRun: 'maybe' })).toBe('400 idempotency_key_invalid')
    expect(await ask(app, WRONG, {}, { dryRun: 'maybe' })).toBe('422 query_invalid /dryRun,invalid')
    expect(await ask(app, WRONG)).toBe('422 validation_failed /eventType,type /recipient,required')
    expect(await ask('Bearer session', bad)).toBe('403 insufficient_scope')
    expect(await ask(app, bad)).toBe('422 event_unknown /eventType,not_allowed')
    const known = { ...bad, eventType: 'order.shipped' }
    expect(await ask(app, known)).toBe('422 channel_unknown /channel,not_allowed')
    const reachable = { ...known, channel: 'email' }
    expect(await ask(app, reachable)).toBe(
      '422 validation_failed /eventData/orderId,required /eventData/total,required',
    )
    const complete = { ...reachable, eventData: ORDER.eventData }
    expect(await ask(app, complete)).toBe('422 recipient_unresolvable /recipient,invalid')
    expect(await ask(app, { ...complete, recipient: 'jane@example.com' })).toBe(202)
    expect(await stored(deps)).toHaveLength(1)
  })

  it('A caller without a token learns nothing about the body', async () => {
    const bodies = [undefined, null, {}, ORDER, WRONG, 'x', { eventData: '\0' }]
    for (const body of bodies) {
      const answer = await handleDispatch({ headers: {}, body }, testDeps())
      expect(answer).toEqual({
        ok: false,
        status: 401,
        headers: { 'www-authenticate': 'Bearer realm="sallyport"' },
        body: {
          type: 'urn:sallyport:problem:unauthorized',
          title: 'No bearer token was sent',
          status: 401,
          detail: 'Send an application secret or a session token as "Authorization: Bearer <token>".',
          code: 'unauthorized',
          requestId: 'req_1',
        },
      })
    }
  })

  it('An unknown token is answered 401 invalid_token', async () => {
    expect(await post(testDeps(), ORDER, { authorization: 'Bearer nobody' })).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer realm="sallyport", error="invalid_token"' },
      body: { code: 'invalid_token' },
    })
  })
})

describe('a verifier', () => {
  it('A verifier that throws is answered 503, with its cause only in the log', async () => {
    const deps = testDeps()
    const answer = await post(deps, ORDER, { authorization: 'Bearer broken' })
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { code: 'auth_unavailable', requestId: 'req_1' },
    })
    expect(JSON.stringify(answer)).not.toContain('key server')
    expect(deps.logger.lines).toEqual([
      {
        level: 'error',
        event: 'request.failed',
        fields: {
          ...{ requestId: 'req_1', code: 'auth_unavailable', detail: 'Try again shortly.' },
          ...{ cause: 'Error', stack: expect.any(String) },
        },
      },
    ])
  })

  it("A verifier's insufficient_scope is answered 403", async () => {
    const auth = { verify: async () => ({ refused: 'insufficient_scope' as const }) }
    expect(await post(testDeps(undefined, { auth }))).toMatchObject({
      status: 403,
      headers: { 'www-authenticate': 'Bearer realm="sallyport", error="insufficient_scope"' },
      body: { code: 'insufficient_scope' },
    })
  })

  it('A verifier that returns nothing authenticates no caller', async () => {
    const auth = { verify: async () => undefined as never }
    const deps = testDeps(undefined, { auth })
    expect(await post(deps)).toMatchObject({ ok: false, status: 500, body: { code: 'internal_error' } })
    expect(await stored(deps)).toEqual([])
  })
})

describe('a store that fails', () => {
  const failing = (message: string) => ({
    accept: async () => {
      throw new RangeError(message)
    },
  })

  it('A failing store is answered 503 with Retry-After and no worker is woken', async () => {
    const woken: number[] = []
    const queue = { wake: (delayMs: number) => void woken.push(delayMs), listen: () => () => {} }
    const deps = testDeps(undefined, { queue, store: failing(CANARY) as unknown as DispatchStore })
    const answer = await post(deps)
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, body: { code: 'store_unavailable' } })
    expect(deps.logger.lines).toMatchObject([{ fields: { code: 'store_unavailable', cause: 'RangeError' } }])
    expect(JSON.stringify([answer, deps.logger.lines])).not.toContain(CANARY)
    expect(woken).toEqual([])
  })
})

describe('outcomes of the store', () => {
  const storing = (accept: DispatchStore['accept']) => testDeps(undefined, { store: { ...testDeps().store, accept } })

  it('The answer shows the stored dispatch, not the plan', async () => {
    const deps = storing(async ({ dispatch, answer }) => {
      const [planned] = dispatch.deliveries
      if (!planned) throw new Error('nothing was planned')
      const { limits, delayMs, digest, ...delivery } = planned
      const joined = { ...delivery, deliveryId: 'dlv_other', attempts: 0, attemptLog: [] }
      return { outcome: 'accepted', answer: answer({ ...dispatch, createdAt: 0, deliveries: [joined] }) }
    })
    expect(await accepted(deps, { ...ORDER, extra: 1 })).toMatchObject({
      dispatchId: 'dsp_1',
      deliveries: [{ deliveryId: 'dlv_other', status: 'queued' }],
      duplicate: false,
      warnings: [{ pointer: '/extra' }],
    })
  })

  it('The store decides about a reused key although recall did not find it', async () => {
    const answer = await accepted(testDeps())
    const key = { 'idempotency-key': 'k' }
    const replaying = storing(async () => ({ outcome: 'replayed', answer }))
    expect(await post(replaying, ORDER, key)).toEqual({
      ok: true,
      status: 202,
      headers: { 'idempotent-replayed': 'true' },
      body: { ...answer, duplicate: true },
    })
    expect(
      await refused(
        storing(async () => ({ outcome: 'key_reused' })),
        ORDER,
        key,
      ),
    ).toMatchObject({
      code: 'idempotency_key_reused',
    })
  })

  it('A store that gives no outcome is answered 500', async () => {
    const deps = storing(async () => ({ outcome: 'stored' }) as never)
    expect(await refused(deps)).toMatchObject({ status: 500, code: 'internal_error' })
  })
})

/** Keeps what each dispatch was stored with. */
function keeping(rest: Partial<DispatchDeps> = {}) {
  const kept: Acceptance[] = []
  const deps = testDeps(undefined, rest)
  const { store } = deps
  const accept: DispatchStore['accept'] = (acceptance) => {
    kept.push(acceptance)
    return store.accept(acceptance)
  }
  return { kept, deps: { ...deps, store: { ...store, accept } } }
}

describe('handleDispatch', () => {
  it('handleDispatch asks the verifier whether the token may dispatch', async () => {
    const asked: unknown[] = []
    const auth: DispatchDeps['auth'] = {
      verify(token, operation) {
        asked.push([token, operation])
        return testAuth.verify(token, operation)
      },
    }
    await accepted(testDeps(undefined, { auth }))
    expect(asked).toEqual([['app', 'dispatch']])
  })

  it('handleDispatch answers 503 when the store cannot look up an idempotency key, and reports the event type', async () => {
    const contexts: object[] = []
    const hooks = { onError: (_: unknown, context: object) => contexts.push(context) }
    const deps = testDeps(undefined, { hooks })
    const store = { ...deps.store, recall: () => Promise.reject(new Error('down')) }
    const problem = await refused({ ...deps, store }, ORDER, { 'idempotency-key': 'k1' })
    expect(problem).toMatchObject({ status: 503, code: 'store_unavailable' })
    expect(contexts).toEqual([{ operation: 'store', eventType: 'order.shipped', requestId: 'req_1' }])
    const unknown = await refused({ ...deps, store }, { ...ORDER, eventType: 'x' }, { 'idempotency-key': 'k1' })
    expect(unknown).toMatchObject({ status: 503, code: 'store_unavailable' })
    expect(contexts[1]).toEqual({ operation: 'store', requestId: 'req_2' })
  })

  it('handleDispatch adds misnamed fields to a refusal of the event data, and to no other', async () => {
    const { eventData, ...rest } = ORDER
    expect(places(await refused(testDeps(), { ...rest, payload: eventData }))).toContainEqual([
      '/payload',
      'not_allowed',
    ])
    const other = await refused(testDeps(), { ...ORDER, channel: 'fax', session: 's1' })
    expect(places(other)).toEqual([['/channel', 'not_allowed']])
  })

  it('A dispatch is stored with its event data for a retry only if host code failed', async () => {
    const { kept, deps } = keeping()
    await post(deps, ORDER)
    expect(kept[0]?.dispatch).not.toHaveProperty('source')
    expect(kept[0]?.dispatch.deliveries[1]).toStrictEqual({
      deliveryId: 'dlv_3',
      channel: 'sms',
      status: 'skipped',
      reason: 'no_address',
    })
  })

  it('A delivery that failed in host code is stored without its detail, and the dispatch with what a retry needs', async () => {
    const broken = (): string => {
      throw new TypeError(CANARY)
    }
    const events = defineEvents({ 'order.shipped': { channels: { email: { subject: broken } } } })
    const { kept, deps } = keeping({ events })
    const { eventData } = ORDER
    await post(deps, ORDER)
    const principal = { id: 'app', tenant: 'default' }
    await planAndAccept(principal, { headers: {}, body: ORDER }, deps, { delayMs: 5_000 })
    expect(kept.map(({ dispatch }) => dispatch.source)).toStrictEqual([{ eventData }, { eventData, delayMs: 5_000 }])
    expect(kept[0]?.dispatch.deliveries).toStrictEqual([
      { deliveryId: 'dlv_2', channel: 'email', status: 'failed', reason: 'template_error' },
    ])
  })
})
