import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { AcceptedEvent, DeliveryEvent, Hooks } from '../../src/core/hooks.ts'
import type { DeliveryPolicy } from '../../src/ports/delivery-policy.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { composed, took } from '../compose/composed.ts'
import { handled } from '../support/handled.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const JANE = { recipient: 'jane@example.com' } as const
const SENT = { ...JANE, eventType: 'sent' } as const
const APP = { id: 'app', tenant: 'default' }

const events = defineEvents({
  sent: { channels: { a: {} } },
  mixed: { channels: { a: {}, b: { when: () => false }, c: { text: () => fail() } } },
  fallback: { route: 'first', channels: { a: {}, b: {}, c: {} } },
})

type Reported = readonly [keyof Hooks, AcceptedEvent | DeliveryEvent]

/** Hooks that record their events in order. */
function recordingHooks(): { readonly hooks: Hooks; readonly reported: Reported[]; names(): readonly string[] } {
  const reported: Reported[] = []
  const note = (name: keyof Hooks) => (event: AcceptedEvent | DeliveryEvent) => void reported.push([name, event])
  const hooks = {
    onAccepted: note('onAccepted'),
    onSent: note('onSent'),
    onFailed: note('onFailed'),
    onSkipped: note('onSkipped'),
  }
  const label = (event: AcceptedEvent | DeliveryEvent) =>
    'channel' in event ? [event.channel, event.reason ?? event.status] : []
  return { hooks, reported, names: () => reported.map(([name, event]) => [name, ...label(event)].join(' ')) }
}

/** Runs work that was not awaited. */
const settled = (): Promise<void> => new Promise(setImmediate)

describe('onAccepted', () => {
  it('onAccepted receives the answer of a new dispatch, with its tenant', async () => {
    const { hooks, reported } = recordingHooks()
    const { sallyport } = composed(events, { hooks })
    const event = { ...SENT, sessionId: 's1', extra: 1 }
    const { duplicate, warnings, ...view } = took(await sallyport.dispatch(event, { tenant: 'acme' }))
    await settled()
    expect(warnings).toHaveLength(1)
    expect(reported).toEqual([['onAccepted', { ...view, tenant: 'acme', by: 'host' }]])
  })

  it('onAccepted is not called for replays, refusals or dry runs', async () => {
    const { hooks, names } = recordingHooks()
    let down = false
    const policy: DeliveryPolicy = { decide: () => (down ? fail() : { verdict: 'send' }) }
    // `recall` finds no key: only `accept` of the store detects the replays.
    const store = { ...memoryStore(), recall: async () => undefined }
    const { sallyport } = composed(events, { hooks, policy, store })
    const concurrent = Array.from({ length: 20 }, () => sallyport.dispatch(SENT, { idempotencyKey: 'k' }))
    await Promise.all(concurrent)
    await sallyport.dispatch(SENT, { idempotencyKey: 'k' })
    await sallyport.dispatch({ ...SENT, recipient: 'john@example.com' }, { idempotencyKey: 'k' })
    await sallyport.dispatch({ ...SENT, recipient: 'nobody' })
    await handled(sallyport.endpoints, 'dispatch', APP, { headers: {}, body: SENT, query: { dryRun: 'true' } })
    down = true
    await sallyport.dispatch(SENT)
    await settled()
    expect(names()).toEqual(['onAccepted'])
  })

  it('onAccepted is called for dispatches over HTTP too', async () => {
    const { hooks, names } = recordingHooks()
    const { sallyport } = composed(events, { hooks })
    await handled(sallyport.endpoints, 'dispatch', APP, { headers: {}, body: SENT })
    await settled()
    expect(names()).toEqual(['onAccepted'])
  })

  it('onAccepted is called after the dispatch is stored', async () => {
    const seen: unknown[] = []
    const store = memoryStore()
    const onAccepted = async ({ tenant, dispatchId }: AcceptedEvent): Promise<void> => {
      seen.push(await store.findDispatch(tenant, dispatchId))
    }
    const { sallyport } = composed(events, { store, hooks: { onAccepted } })
    const { dispatchId } = took(await sallyport.dispatch(SENT))
    await settled()
    expect(seen).toMatchObject([{ dispatchId }])
  })
})

describe('deliveries that are final at acceptance', () => {
  it('onSkipped and onFailed are called after onAccepted for deliveries that are final at acceptance', async () => {
    const { hooks, reported, names } = recordingHooks()
    const { sallyport } = composed(events, { hooks })
    const event = { ...JANE, eventType: 'mixed', sessionId: 's1' } as const
    const { dispatchId, deliveries } = took(await sallyport.dispatch(event, { tenant: 'acme' }))
    await settled()
    expect(names()).toEqual(['onAccepted', 'onSkipped b condition_false', 'onFailed c template_error'])
    expect(reported[1]?.[1]).toEqual({
      deliveryId: deliveries[1]?.deliveryId,
      channel: 'b',
      status: 'skipped',
      reason: 'condition_false',
      attempts: 0,
      dispatchId,
      tenant: 'acme',
      eventType: 'mixed',
      recipient: 'jane@example.com',
      sessionId: 's1',
    })
  })

  it('onSkipped is called for deliveries that the policy skips or throttles', async () => {
    const { hooks, names } = recordingHooks()
    const limits = [{ key: 'k', max: 1, windowMs: 1_000 }]
    const policy: DeliveryPolicy = {
      decide: ({ channel }) =>
        channel === 'c' ? { verdict: 'skip', reason: 'opted_out' } : { verdict: 'send', limits },
    }
    const { sallyport } = composed(events, { hooks, policy })
    await sallyport.dispatch({ ...JANE, eventType: 'sent' })
    await sallyport.dispatch({ ...JANE, eventType: 'fallback' })
    await settled()
    expect(names()).toEqual([
      'onAccepted',
      'onAccepted',
      'onSkipped a throttled',
      'onSkipped b throttled',
      'onSkipped c opted_out',
    ])
  })

  it('Hook events of a sandboxed delivery are marked as sandboxed', async () => {
    const { hooks, reported, names } = recordingHooks()
    const { sallyport } = composed(events, { hooks, sandbox: true })
    await sallyport.dispatch(SENT)
    await settled()
    expect(names()).toEqual(['onAccepted', 'onSkipped a sandboxed'])
    expect(reported.map(([, { sandboxed }]) => sandboxed)).toEqual([true, true])
  })
})

describe('hooks of a worker', () => {
  const of = async (
    eventType: 'sent' | 'fallback',
    answers: Parameters<typeof recordingChannel>[0],
    advanceMs?: number,
  ) => {
    const { hooks, reported, names } = recordingHooks()
    const a = recordingChannel(answers, { retrySchedule: [1_000] })
    const channels = { a, b: recordingChannel(), c: recordingChannel() }
    const { sallyport, clock } = composed(events, { hooks, channels, expiresInMs: 5_000 })
    await sallyport.dispatch({ ...JANE, eventType, sessionId: 's1' }, { tenant: 'acme' })
    await settled()
    reported.length = 0
    await sallyport.worker.runDue()
    if (advanceMs !== undefined) {
      clock.advance(advanceMs)
      await sallyport.worker.runDue()
    }
    await settled()
    return { reported, names: names() }
  }

  it('onSent receives the provider message id', async () => {
    const { reported } = await of('sent', [{ outcome: 'sent', providerMessageId: 'p9' }])
    expect(reported).toEqual([
      [
        'onSent',
        {
          deliveryId: 'dlv_2',
          channel: 'a',
          status: 'sent',
          attempts: 1,
          providerMessageId: 'p9',
          dispatchId: 'dsp_1',
          tenant: 'acme',
          eventType: 'sent',
          recipient: 'jane@example.com',
          sessionId: 's1',
        },
      ],
    ])
  })

  it('onFailed receives the last code, and no hook is called for a retry', async () => {
    const { reported, names } = await of('sent', [{ outcome: 'retry', code: 'busy' }], 1_200)
    expect(names).toEqual(['onFailed a attempts_exhausted'])
    expect(reported[0]?.[1]).toMatchObject({ status: 'failed', attempts: 2, lastCode: 'busy' })
  })

  it('onFailed is called for each expired delivery', async () => {
    const { names, reported } = await of('fallback', [{ outcome: 'retry', code: 'busy' }], 5_000)
    expect(names).toEqual(['onFailed a expired', 'onFailed b expired', 'onFailed c expired'])
    expect(reported.map(([, { tenant }]) => tenant)).toEqual(['acme', 'acme', 'acme'])
  })

  it('onSkipped is called for a delivery that is no longer needed', async () => {
    const { names } = await of('fallback', [{ outcome: 'rejected', code: 'gone' }])
    expect(names).toEqual(['onFailed a provider_rejected', 'onSent b sent', 'onSkipped c fallback_unneeded'])
  })

  it('onSent is called for a delivery that was retried by hand', async () => {
    const { hooks, names } = recordingHooks()
    const a = recordingChannel([{ outcome: 'rejected', code: 'gone' }, { outcome: 'sent' }])
    const { sallyport } = composed(events, { hooks, channels: { a, b: a, c: a } })
    const { dispatchId } = took(await sallyport.dispatch(SENT))
    await sallyport.worker.runDue()
    await sallyport.dispatches.retry(dispatchId)
    await sallyport.worker.runDue()
    await settled()
    expect(names()).toEqual(['onAccepted', 'onFailed a provider_rejected', 'onSent a sent'])
  })
})

function fail(): never {
  throw new Error('no')
}
