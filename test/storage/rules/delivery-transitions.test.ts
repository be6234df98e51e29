import { describe, expect, it } from 'vitest'
import type { Settlement } from '../../../src/ports/dispatch-store.ts'
import {
  type Counter,
  type DeliveryIndex,
  deliveryTransitions,
  sendLimits,
  settleDelivery,
} from '../../../src/storage/rules/delivery-transitions.ts'
import {
  beginAttempt,
  claimedDelivery,
  type DeliveryRow,
  dispatchRow,
  endAttempt,
  takeBackAttempt,
} from '../../../src/storage/rules/dispatch-rows.ts'
import { acceptance, delivery } from '../storing.ts'

/** A delivery whose first attempt began at 100, and what its index was told. */
function sending() {
  const [row] = dispatchRow(acceptance('1', { deliveries: [delivery('x')] }).dispatch, 1_000, 0).deliveries
  if (!row) throw new Error('there is no row')
  const calls: string[] = []
  const index: DeliveryIndex = {
    schedule: (_, wakeAt) => void calls.push(`schedule ${wakeAt}`),
    unschedule: () => void calls.push('unschedule'),
    update: ({ status }) => void calls.push(`update ${status}`),
    resize: () => void calls.push('resize'),
    openDigest: () => undefined,
  }
  const transitions = deliveryTransitions(index, { take: () => true })
  transitions.lease(row, 'f', 500)
  beginAttempt(row, 100)
  return { row, calls, transitions }
}

const retry = { outcome: 'retry', code: 'busy' } as const
const LEASE = { deliveryId: 'x', fence: 'f' }

describe('settleDelivery', () => {
  it.each<[string, Partial<Settlement>, number]>([
    ['the upper bound of the time', { to: 'queued', delayMs: 1, attempt: retry }, 250],
    ['the lower bound, if the next attempt is due at once', { to: 'queued', delayMs: 0, attempt: retry }, 200],
    ['the upper bound for a final outcome', { to: 'sent', attempt: { outcome: 'sent' } }, 250],
  ])('An attempt ends at %s', (_, settlement, endedAt) => {
    const { row, transitions } = sending()
    settleDelivery(row, { ...LEASE, ...settlement } as Settlement, 200, transitions, 250)
    expect(row.attemptLog).toMatchObject([{ attempt: 1, startedAt: 100, endedAt }])
  })

  it('An attempt ends now when no upper bound is given, and never before its start', () => {
    for (const [now, endedAt] of [
      [200, 200],
      [50, 100],
    ] as const) {
      const { row, transitions } = sending()
      settleDelivery(row, { ...LEASE, to: 'queued', delayMs: 1, attempt: retry }, now, transitions)
      expect(row.attemptLog).toMatchObject([{ endedAt }])
    }
  })

  it('A settlement without an attempt takes the attempt back', () => {
    const { row, transitions } = sending()
    settleDelivery(row, { ...LEASE, to: 'queued', delayMs: 5 }, 200, transitions, 250)
    expect([row.attempts, row.attemptLog]).toEqual([0, []])
  })

  it('Only a sent delivery keeps the message id of the provider, and a final outcome unschedules it', () => {
    const attempt = { outcome: 'sent', providerMessageId: 'm1' } as const
    const sent = sending()
    settleDelivery(sent.row, { ...LEASE, to: 'sent', attempt }, 200, sent.transitions)
    expect([sent.row.providerMessageId, sent.calls]).toEqual([
      'm1',
      ['schedule 500', 'update sending', 'unschedule', 'update sent'],
    ])
    const failed = sending()
    const outcome = { outcome: 'rejected', providerMessageId: 'm1' } as const
    const settlement = { ...LEASE, to: 'failed', reason: 'provider_rejected', attempt: outcome } as Settlement
    settleDelivery(failed.row, settlement, 200, failed.transitions)
    expect(failed.row.providerMessageId).toBeUndefined()
    expect(failed.row).toMatchObject({ status: 'failed', reason: 'provider_rejected' })
  })

  it('settleDelivery says that nothing else changed', () => {
    const { row, transitions } = sending()
    const settled = settleDelivery(row, { ...LEASE, to: 'sent', attempt: { outcome: 'sent' } }, 200, transitions)
    expect(settled).toEqual({ live: true, others: [] })
  })
})

describe('the attempts of a row', () => {
  it('A row without attempts takes none back, ends none and has no history', () => {
    const [row] = dispatchRow(acceptance('1', { deliveries: [delivery('x')] }).dispatch, 1_000, 0).deliveries
    const bare = row as DeliveryRow
    expect(claimedDelivery(bare, 'f', 10)).toMatchObject({ history: [], waitedMs: 10, expiresInMs: 990 })
    expect(claimedDelivery(bare, 'f', 10)).not.toHaveProperty('reclaimed')
    endAttempt(bare, retry, 20)
    takeBackAttempt(bare)
    expect([bare.attemptLog, bare.lastCode]).toEqual([undefined, undefined])
  })

  it('A claimed row has exactly the members that are set', () => {
    const [row] = dispatchRow(acceptance('1', { deliveries: [delivery('x')] }).dispatch, 1_000, 0).deliveries
    expect(Object.keys(claimedDelivery(row as DeliveryRow, 'f', 10, true)).sort()).toEqual([
      'address',
      'attempts',
      'channel',
      'content',
      'deliveryId',
      'dispatch',
      'expiresInMs',
      'fence',
      'history',
      'reclaimed',
      'waitedMs',
    ])
  })

  it('An attempt has exactly the members that its end gives', () => {
    const { row } = sending()
    endAttempt(row, { outcome: 'sent' }, 200)
    expect(row.attemptLog).toStrictEqual([{ attempt: 1, startedAt: 100, endedAt: 200, outcome: 'sent' }])
  })
})

describe('sendLimits', () => {
  it('sendLimits counts exactly max in a window, and keeps no more times than the largest max', () => {
    const kept = new Map<string, Counter>()
    const { take } = sendLimits({
      find: (_, name) => kept.get(name),
      keep: (counter) => void kept.set(counter.name, counter),
    })
    const limit = { key: 'k', max: 2, windowMs: 100 }
    const taken = [0, 10, 20, 99, 100, 105, 110].map((now) => take('t', [limit], now))
    expect(taken).toEqual([true, true, false, false, true, false, true])
    expect(kept.get('k')?.times).toEqual([100, 110])
    expect(take('t', [{ ...limit, max: 3 }], 111)).toBe(true)
    expect(kept.get('k')).toMatchObject({ max: 3, times: [100, 110, 111] })
  })

  it('sendLimits counts nothing when one of several limits is spent', () => {
    const kept = new Map<string, Counter>()
    const { take } = sendLimits({
      find: (_, name) => kept.get(name),
      keep: (counter) => void kept.set(counter.name, counter),
    })
    const [one, two] = [
      { key: 'one', max: 1, windowMs: 100 },
      { key: 'two', max: 5, windowMs: 100 },
    ]
    expect(take('t', [two, one], 0)).toBe(true)
    expect(take('t', [two, one], 1)).toBe(false)
    expect(kept.get('two')?.times).toEqual([0])
  })
})
