import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryPolicy } from '../../../src/ports/delivery-policy.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { composed, ends, took } from '../../compose/composed.ts'
import { countingIds } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { handled } from '../../support/handled.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const HOUR = 3_600_000
const EVENT = { eventType: 'e', recipient: 'jane@example.com' } as const
const APP = { id: 'app', tenant: 'default' }
const SANDBOXED = { status: 'skipped', sandboxed: true }

const events = defineEvents({
  e: { channels: { a: { text: () => 'hello' }, b: { when: () => false } } },
  first: { route: 'first', channels: { a: {}, b: {}, c: {} } },
  gathered: { digest: { windowMs: HOUR }, channels: { a: {} } },
  late: { delayMs: HOUR, channels: { a: {} } },
  broken: { channels: { a: { text: () => fail() }, b: {} } },
})

/** Two hosts on one store: one in sandbox mode and one live. */
function hosts(rest: { readonly policy?: DeliveryPolicy } = {}) {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const channels = { a: recordingChannel(), b: recordingChannel(), c: recordingChannel() }
  const ids = countingIds()
  const sandbox = composed(events, { clock, store, channels, ids, sandbox: true, ...rest })
  const live = composed(events, { clock, store, channels, ids, ...rest })
  return { sandbox: sandbox.sallyport, live: live.sallyport, store, clock, channels }
}

describe('sandbox mode', () => {
  it('A host logs sandbox.on at its start if and only if it is in sandbox mode', () => {
    expect(composed(events, { sandbox: true }).logger.lines).toEqual([
      { level: 'warn', event: 'sandbox.on', fields: { detail: 'everything is recorded, nothing is sent' } },
    ])
    expect(composed(events, { sandbox: false }).logger.lines).toEqual([])
    expect(composed(events).logger.lines).toEqual([])
  })

  it('Every answer about a dispatch in sandbox mode is marked as sandboxed', async () => {
    const { sallyport } = composed(events, { sandbox: true })
    const first = took(await sallyport.dispatch(EVENT, { idempotencyKey: 'k' }))
    const { dispatchId } = first
    const request = { headers: {}, body: EVENT, query: { dryRun: 'true' } }
    expect(first).toMatchObject(SANDBOXED)
    expect(took(await sallyport.dispatch(EVENT, { idempotencyKey: 'k' }))).toMatchObject({
      ...SANDBOXED,
      dispatchId,
      duplicate: true,
    })
    expect(await handled(sallyport.endpoints, 'dispatch', APP, request)).toMatchObject({
      status: 200,
      body: { ...SANDBOXED, dryRun: true },
    })
    expect(await handled(sallyport.endpoints, 'dispatch', APP, { headers: {}, body: EVENT })).toMatchObject({
      status: 202,
      body: SANDBOXED,
    })
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject(SANDBOXED)
    expect((await sallyport.dispatches.list()).items).toMatchObject([SANDBOXED, SANDBOXED])
    expect(await sallyport.dispatches.cancel(dispatchId)).toMatchObject({ cancelled: [], dispatch: SANDBOXED })
    expect(await sallyport.dispatches.retry(dispatchId)).toMatchObject({ retried: [], dispatch: SANDBOXED })
  })

  it('No answer outside sandbox mode is marked as sandboxed', async () => {
    const { sallyport } = composed(events)
    const first = took(await sallyport.dispatch(EVENT))
    const request = { headers: {}, body: EVENT, query: { dryRun: 'true' } }
    const answers = [
      first,
      (await handled(sallyport.endpoints, 'dispatch', APP, request)).body,
      await sallyport.dispatches.get(first.dispatchId),
    ]
    for (const answer of answers) expect(answer).not.toHaveProperty('sandboxed')
  })

  it('Sandbox mode skips sendable deliveries as sandboxed, and others keep their reason', async () => {
    const policy: DeliveryPolicy = {
      decide: ({ channel, eventType }) =>
        channel === 'b' && eventType === 'first' ? { verdict: 'skip', reason: 'opted_out' } : { verdict: 'send' },
    }
    const { sandbox } = hosts({ policy })
    const of = async (eventType: keyof typeof endsOf) => ends(took(await sandbox.dispatch({ ...EVENT, eventType })))
    const endsOf = {
      e: ['a: skipped sandboxed', 'b: skipped condition_false'],
      first: ['a: skipped sandboxed', 'b: skipped opted_out', 'c: skipped sandboxed'],
      gathered: ['a: skipped sandboxed'],
      late: ['a: skipped sandboxed'],
      broken: ['a: failed template_error', 'b: skipped sandboxed'],
    } as const
    for (const eventType of ['e', 'first', 'gathered', 'late', 'broken'] as const) {
      expect(await of(eventType)).toEqual(endsOf[eventType])
    }
    const nobody = took(await sandbox.dispatch({ ...EVENT, recipient: '+4915112345678' }))
    expect(ends(nobody)).toEqual(['a: skipped no_address', 'b: skipped condition_false'])
  })

  it('A sandboxed delivery stores its address and content', async () => {
    const { sandbox, store } = hosts()
    const { dispatchId } = took(await sandbox.dispatch(EVENT))
    expect(await store.findDispatch('default', dispatchId)).toMatchObject({
      sandboxed: true,
      deliveries: [{ address: 'jane@example.com', content: { text: 'hello' } }, {}],
    })
    expect(JSON.stringify(await sandbox.dispatches.get(dispatchId))).not.toContain('hello')
  })

  it('A dry run in sandbox mode shows address and content', async () => {
    const { sandbox } = hosts()
    const request = { headers: {}, body: EVENT, query: { dryRun: 'true' } }
    expect(await handled(sandbox.endpoints, 'dispatch', APP, request)).toMatchObject({
      body: {
        deliveries: [
          {
            channel: 'a',
            status: 'skipped',
            reason: 'sandboxed',
            address: 'j…@example.com',
            content: { text: 'hello' },
          },
          { channel: 'b', status: 'skipped', reason: 'condition_false' },
        ],
      },
    })
  })

  it('A dispatch accepted in sandbox mode is never sent by any worker', async () => {
    const { sandbox, live, clock, channels } = hosts()
    for (const eventType of events.eventTypes) await sandbox.dispatch({ ...EVENT, eventType } as typeof EVENT)
    for (let round = 0; round < 3; round++) {
      await sandbox.worker.runDue()
      await live.worker.runDue()
      clock.advance(HOUR)
    }
    expect([channels.a.sent, channels.b.sent, channels.c.sent]).toEqual([[], [], []])
  })

  it('A retry in sandbox mode queues nothing', async () => {
    const { sandbox, live, clock } = hosts()
    const { dispatchId } = took(await live.dispatch(EVENT))
    clock.advance(73 * HOUR)
    await live.worker.runDue()
    expect(await sandbox.dispatches.retry(dispatchId)).toMatchObject({ retried: [], dispatch: { status: 'failed' } })
    expect(await sandbox.dispatches.retry('nothing')).toBeUndefined()
    expect((await live.dispatches.retry(dispatchId))?.retried).not.toEqual([])
  })

  it('A worker in sandbox mode leaves earlier deliveries queued', async () => {
    const { sandbox, live, channels } = hosts()
    const { dispatchId } = took(await live.dispatch(EVENT))
    await sandbox.worker.runDue()
    expect(channels.a.sent).toEqual([])
    const before = await sandbox.dispatches.get(dispatchId)
    expect(before).toMatchObject({ status: 'queued', deliveries: [{ status: 'queued', attempts: 0 }, {}] })
    expect(before).not.toHaveProperty('sandboxed')
    await live.worker.runDue()
    expect(channels.a.sent).toHaveLength(1)
  })

  it('A sandboxed delivery spends no limit', async () => {
    const limits = [{ key: 'k', max: 1, windowMs: HOUR }]
    const { sandbox, live } = hosts({ policy: { decide: () => ({ verdict: 'send', limits }) } })
    for (let round = 0; round < 3; round++) {
      expect(ends(took(await sandbox.dispatch(EVENT)))).toEqual(['a: skipped sandboxed', 'b: skipped condition_false'])
    }
    expect(took(await live.dispatch(EVENT))).toMatchObject({ status: 'queued' })
    expect(took(await live.dispatch(EVENT))).toMatchObject({ deliveries: [{ reason: 'throttled' }, {}] })
  })

  it('A sandboxed event neither opens nor joins a digest', async () => {
    const { sandbox, live, store } = hosts()
    const event = { ...EVENT, eventType: 'gathered' } as const
    const { deliveries, dispatchId } = took(await sandbox.dispatch(event))
    expect(deliveries[0]).not.toHaveProperty('eventCount')
    expect((await store.findDispatch('default', dispatchId))?.deliveries[0]).not.toHaveProperty('digest')
    expect(took(await live.dispatch(event)).deliveries).toMatchObject([{ eventCount: 1 }])
    await sandbox.dispatch(event)
    expect(took(await live.dispatch(event)).deliveries).toMatchObject([{ eventCount: 2 }])
  })

  it('A failing policy in sandbox mode is answered 503', async () => {
    const { sandbox } = hosts({ policy: { decide: () => fail() } })
    expect(await sandbox.dispatch(EVENT)).toMatchObject({ status: 503, body: { code: 'policy_unavailable' } })
    expect((await sandbox.dispatches.list()).items).toEqual([])
  })
})

function fail(): never {
  throw new Error('no')
}
