import { describe, expect, it } from 'vitest'
import { viewDispatch } from '../../../src/core/dispatch/dispatch-view.ts'
import type { Attempt } from '../../../src/model/attempt.ts'
import type { Delivery, DeliveryView, Dispatch } from '../../../src/model/dispatch.ts'
import type { WaitCause } from '../../../src/model/waiting.ts'

const AT = Date.UTC(2026, 10, 21, 8)
const NOW = '2026-11-21T08:00:00.000Z'

const DISPATCH: Dispatch = {
  dispatchId: 'dsp_1',
  tenant: 'acme',
  by: 'app_1',
  eventType: 'e',
  recipient: 'user_42',
  route: 'all',
  createdAt: AT,
  deliveries: [],
}

function viewed(delivery: Partial<Delivery>): DeliveryView | undefined {
  const bare: Delivery = { deliveryId: 'dlv_1', channel: 'a', status: 'queued', attempts: 0, attemptLog: [] }
  return viewDispatch({ ...DISPATCH, deliveries: [{ ...bare, ...delivery }] }, AT).deliveries[0]
}

/** The attempt outcomes in the view of a delivery. */
function outcomesOf(status: Delivery['status'], log: readonly Attempt[], attempts = log.length) {
  return viewed({ status, attempts, attemptLog: log })?.attemptLog?.map(({ outcome }) => outcome)
}

describe('a dispatch as a caller sees it', () => {
  it('A dispatch view leaves out the tenant, route, locale, addresses and content', () => {
    const delivery: Delivery = {
      deliveryId: 'dlv_1',
      channel: 'a',
      status: 'queued',
      attempts: 0,
      attemptLog: [],
      dueAt: AT,
      deferred: true,
      concurrencyKey: 'https://hooks.example',
      address: 'jane@example.com',
      content: { text: 'secret' },
      eventCount: 2,
    }
    expect(
      viewDispatch({ ...DISPATCH, critical: true, locale: 'de', sessionId: 's1', deliveries: [delivery] }, AT),
    ).toEqual({
      dispatchId: 'dsp_1',
      by: 'app_1',
      status: 'queued',
      eventType: 'e',
      recipient: 'user_42',
      sessionId: 's1',
      createdAt: NOW,
      deliveries: [
        { deliveryId: 'dlv_1', channel: 'a', status: 'queued', attempts: 0, nextAttemptAt: NOW, eventCount: 2 },
      ],
    })
  })

  it('A dispatch view shows the priority of an urgent dispatch only', () => {
    expect(viewDispatch({ ...DISPATCH, priority: 'urgent', deliveries: [] }, AT).priority).toBe('urgent')
    expect(viewDispatch({ ...DISPATCH, deliveries: [] }, AT)).not.toHaveProperty('priority')
  })

  it('A dispatch view shows nextAttemptAt only for a delivery that waits and is not due at once', () => {
    const due = { dueAt: AT + 1_000 }
    const reported = (delivery: Partial<Delivery>) => viewed({ ...due, ...delivery })?.nextAttemptAt
    expect(reported({})).toBeUndefined()
    expect(reported({ deferred: true })).toBe('2026-11-21T08:00:01.000Z')
    expect(reported({ attempts: 1 })).toBe('2026-11-21T08:00:01.000Z')
    for (const status of ['sending', 'sent', 'failed', 'skipped', 'held', 'cancelled', 'expired'] as const) {
      expect(reported({ status, deferred: true, attempts: 1 })).toBeUndefined()
    }
    expect(viewed({ deferred: true })).not.toHaveProperty('nextAttemptAt')
  })

  it.each<[WaitCause, Partial<Delivery>]>([
    ['delay', { deferred: true }],
    ['digest', { deferred: true, eventCount: 2 }],
    ['retry', { attempts: 1 }],
    ['retry', { attempts: 1, deferred: true, eventCount: 2, content: { text: 'a' } }],
    ['quiet_hours', { deferred: true, waitsFor: 'quiet_hours' }],
    ['policy', { deferred: true, eventCount: 2, waitsFor: 'policy' }],
    ['receiver_paused', { attempts: 3, waitsFor: 'receiver_paused' }],
    ['unavailable', { attempts: 1, waitsFor: 'unavailable' }],
    ['unknown_here', { waitsFor: 'unknown_here' }],
  ])('A dispatch view shows that a delivery waits for %s, and until when', (cause, delivery) => {
    const shown = viewed({ ...delivery, dueAt: AT + 1_000 })
    expect(shown).toMatchObject({ waiting: { for: cause, until: '2026-11-21T08:00:01.000Z' } })
    expect(shown).toMatchObject({ nextAttemptAt: '2026-11-21T08:00:01.000Z' })
    expect(shown).not.toHaveProperty('reason')
    expect(viewed({ ...delivery, dueAt: AT }), 'due').not.toHaveProperty('waiting')
  })

  it('A dispatch view shows that a held delivery waits for the channel before it', () => {
    expect(viewed({ status: 'held', deferred: true })?.waiting).toEqual({ for: 'fallback' })
    for (const status of ['sending', 'sent', 'failed', 'skipped', 'cancelled', 'expired'] as const) {
      expect(viewed({ status, dueAt: AT + 1_000 })).not.toHaveProperty('waiting')
    }
  })

  it("A dispatch view shows each attempt with its code and provider, without the provider's message id", () => {
    const attemptLog: Attempt[] = [
      { attempt: 1, startedAt: AT, endedAt: AT + 1, outcome: 'retry', code: 'busy', provider: 'one' },
      { attempt: 2, startedAt: AT + 2, endedAt: AT + 3, outcome: 'sent', provider: 'two', providerMessageId: 'p1' },
    ]
    const delivery = viewed({ status: 'sent', attempts: 2, attemptLog, lastCode: 'busy', providerMessageId: 'p1' })
    expect(delivery).toMatchObject({ lastCode: 'busy', providerMessageId: 'p1' })
    expect(delivery?.attemptLog).toEqual([
      {
        attempt: 1,
        startedAt: NOW,
        endedAt: '2026-11-21T08:00:00.001Z',
        outcome: 'retry',
        code: 'busy',
        provider: 'one',
      },
      {
        attempt: 2,
        startedAt: '2026-11-21T08:00:00.002Z',
        endedAt: '2026-11-21T08:00:00.003Z',
        outcome: 'sent',
        provider: 'two',
      },
    ])
    expect(viewed({})).not.toHaveProperty('attemptLog')
  })

  it('A dispatch view shows a crashed attempt as lost and an attempt in flight without an outcome', () => {
    const open = (attempt: number): Attempt => ({ attempt, startedAt: AT })
    expect(outcomesOf('sending', [open(1)])).toEqual([undefined])
    expect(outcomesOf('sending', [open(1), open(2)])).toEqual(['lost', undefined])
    for (const status of ['queued', 'failed', 'expired', 'cancelled'] as const) {
      expect(outcomesOf(status, [open(1)])).toEqual(['lost'])
    }
    // The log keeps only the newest attempts; the attempt number decides.
    expect(outcomesOf('sending', [open(51), open(52)], 52)).toEqual(['lost', undefined])
  })

  it('A dispatch view shares nothing mutable with the stored dispatch', () => {
    const trace = [{ rule: '>=', path: 'data.a', expected: [1], actual: { b: 1 }, result: false }]
    const dispatch: Dispatch = {
      ...DISPATCH,
      deliveries: [{ deliveryId: 'd', channel: 'a', status: 'skipped', attempts: 0, attemptLog: [], trace }],
    }
    const before = structuredClone(dispatch)
    const [delivery] = viewDispatch(dispatch, AT).deliveries
    Object.assign(delivery?.trace?.[0] ?? {}, { rule: 'spoilt' })
    Object.assign(Object(delivery?.trace?.[0]?.actual), { b: 'spoilt' })
    expect(dispatch).toEqual(before)
  })
})
