import { equal } from '../../../../src/contract-tests/assertions.ts'
import {
  delivery,
  type GivenDispatch,
  HOUR,
  keyed,
  MARGIN,
  MINUTE,
  RETRY,
  skipped,
} from '../../../../src/contract-tests/dispatch-store/samples.ts'
import {
  between,
  type DispatchCase,
  dispatchCases,
  numbers,
  type StoreHarness,
  timed,
} from '../../../../src/contract-tests/dispatch-store/store-harness.ts'
import type { SendLimit } from '../../../../src/ports/delivery-policy.ts'

const limit = (max: number, key = 'l', windowMs: number = HOUR): SendLimit => ({ key, max, windowMs })

/** Accepts deliveries with limits. Returns the state of each. */
function counting({ accept, states }: StoreHarness) {
  let count = 0
  return async (limits: readonly SendLimit[], given: GivenDispatch = {}): Promise<string> => {
    const id = `counted-${count++}`
    await accept(id, { deliveries: [delivery(id, { limits })], ...given })
    return (await states(id, given.tenant))[0] ?? 'nothing'
  }
}

const SPENT = 'skipped throttled'

const quota = (max: number, key = 'q', windowMs: number = HOUR): SendLimit => ({ key, max, windowMs })

/** Accepts dispatches with quotas. Returns the outcome of each. */
function accepting({ accept }: StoreHarness) {
  let count = 0
  return async (given: GivenDispatch): Promise<string> => (await accept(`under-${count++}`, given)).outcome
}

export const limitCases: readonly DispatchCase[] = dispatchCases([], {
  'a limit queues its maximum and throttles the rest': async (t) => {
    const post = counting(t)
    const states: string[] = []
    for (const _ of numbers(5)) states.push(await post([limit(3)]))
    equal(states, ['queued', 'queued', 'queued', SPENT, SPENT])
  },
  'a limit is a sliding window': async (t) => {
    const post = counting(t)
    equal(await post([limit(2)]), 'queued')
    await t.advance(40 * MINUTE)
    equal(await post([limit(2)]), 'queued')
    await t.advance(20 * MINUTE - MARGIN)
    equal(await post([limit(2)]), SPENT)
    await t.advance(MARGIN)
    equal(await post([limit(2)]), 'queued')
    equal(await post([limit(2)]), SPENT)
    await t.advance(40 * MINUTE - MARGIN)
    equal(await post([limit(2)]), SPENT)
    await t.advance(MARGIN)
    equal(await post([limit(2)]), 'queued')
  },
  'limits are separate for each tenant and key': async (t) => {
    const post = counting(t)
    equal(await post([limit(1)]), 'queued')
    equal(await post([limit(1, 'other')]), 'queued')
    equal(await post([limit(1)], { tenant: 't2' }), 'queued')
    equal(await post([limit(1)], { eventType: 'other', recipient: 'other' }), SPENT)
  },
  'a throttled delivery counts under none of its limits': async (t) => {
    const post = counting(t)
    await post([limit(1, 'spent')])
    equal(await post([limit(1, 'before'), limit(1, 'spent'), limit(1, 'after')]), SPENT)
    equal(await post([limit(1, 'before')]), 'queued')
    equal(await post([limit(1, 'after')]), 'queued')
  },
  'a limit that is named twice counts a delivery once': async (t) => {
    const post = counting(t)
    equal(await post([limit(2), limit(2)]), 'queued')
    equal(await post([limit(2)]), 'queued')
    equal(await post([limit(2)]), SPENT)
    equal(await post([limit(1, 'm'), limit(5, 'm', MINUTE)]), 'queued')
    await t.advance(MINUTE)
    equal(await post([limit(1, 'm')]), SPENT, 'the longer window counts')
    equal(await post([limit(5, 'm', MINUTE)]), 'queued', 'the shorter window counts too')
  },
  'each delivery of a dispatch counts under its limits': async (t) => {
    const limits = [limit(2)]
    const deliveries = ['a', 'b', 'c'].map((channel) => delivery(channel, { channel, limits }))
    await t.accept('1', { deliveries })
    equal([...(await t.states('1'))].sort(), ['queued', 'queued', SPENT])
  },
  'a raised maximum keeps the earlier counts': async (t) => {
    const post = counting(t)
    equal(await post([limit(1)]), 'queued')
    equal(await post([limit(3)]), 'queued')
    equal(await post([limit(3)]), 'queued')
    equal(await post([limit(3)]), SPENT)
    equal(await post([limit(1)]), SPENT)
  },
  'only queued deliveries count under limits': async (t) => {
    const post = counting(t)
    const limits = [limit(1)]
    const ended = (['skipped', 'failed', 'held'] as const).map((status) => {
      return delivery(status, { channel: status, status, limits })
    })
    await t.accept('1', { route: 'first', deliveries: ended })
    equal(await post(limits), 'queued')
  },
  'a delayed delivery counts when it is accepted': async (t) => {
    const post = counting(t)
    await t.accept('1', { deliveries: [delivery('x', { delayMs: 5 * HOUR, limits: [limit(1)] })] })
    equal(await post([limit(1)]), SPENT)
    await t.advance(HOUR)
    equal(await post([limit(1)]), 'queued')
  },
  'a delivery counts once, however often it is attempted': async (t) => {
    const post = counting(t)
    const limits = [limit(2)]
    await t.accept('1', { deliveries: [delivery('x', { channel: 'b', limits })] })
    await t.settleNext({ to: 'queued', delayMs: 0, attempt: RETRY }, 'b')
    await t.fail('b')
    await t.retry('1')
    await t.fail('b')
    equal(await post(limits), 'queued')
    equal(await post(limits), SPENT)
    await t.retry('1')
    equal(await t.states('1'), ['queued'], 'retry ignores limits that already counted the delivery')
  },
  'a held delivery counts when it is queued': async (t) => {
    const post = counting(t)
    const held = delivery('y', { channel: 'c', status: 'held', limits: [limit(2)] })
    await t.accept('1', { route: 'first', deliveries: [delivery('x', { channel: 'b' }), held] })
    equal(await post([limit(2)]), 'queued')
    await t.fail('b')
    equal(await t.states('1'), ['failed provider_rejected', 'queued'])
    equal(await post([limit(2)]), SPENT)
  },
  'with the route first, a throttled delivery queues the next one that fits': async (t) => {
    const limits = [limit(1)]
    await counting(t)(limits)
    const held = (id: string, rest = {}) => delivery(id, { channel: id, status: 'held', ...rest })
    const deliveries = [
      delivery('x', { delayMs: HOUR, limits }),
      held('y', { limits }),
      held('z', { deferred: true }),
      held('w'),
    ]
    const { from, to } = await timed(t, () => t.accept('1', { route: 'first', deliveries }))
    equal(await t.states('1'), [SPENT, SPENT, 'queued', 'held'])
    const promoted = (await t.found('1')).deliveries[2]
    between(promoted?.dueAt, from + HOUR, to + HOUR, 'dueAt is that of the first delivery')
    equal(promoted?.deferred, true, 'the promoted delivery keeps deferred')
  },
  'replays and refused keys count under no limit': async (t) => {
    const post = counting(t)
    equal(await post([limit(2)], keyed('k', 'f1')), 'queued')
    const repeat = { deliveries: [delivery('again', { limits: [limit(2)] })] }
    await t.accept('again', { ...keyed('k', 'f1'), ...repeat })
    await t.accept('again', { ...keyed('k', 'f2'), ...repeat })
    equal(await post([limit(2)]), 'queued')
  },
  'cancelled and failed deliveries stay counted': async (t) => {
    const post = counting(t)
    const limits = [limit(2)]
    await t.accept('1', { deliveries: [delivery('x', { channel: 'b', limits })] })
    await t.accept('2', { deliveries: [delivery('y', { channel: 'c', limits })] })
    await t.cancel('1')
    await t.fail('c')
    equal(await post(limits), SPENT)
  },
  'a quota accepts its maximum, and nothing of other dispatches is stored': async (t) => {
    const post = accepting(t)
    const outcomes: string[] = []
    for (const _ of numbers(5)) outcomes.push(await post({ quotas: [quota(3)] }))
    equal(outcomes, ['accepted', 'accepted', 'accepted', 'quota_spent', 'quota_spent'])
    equal((await t.list()).length, 3)
    equal((await t.claimAll()).length, 3)
  },
  'quotas are separate for each key and tenant': async (t) => {
    const post = accepting(t)
    equal(await post({ quotas: [quota(1)] }), 'accepted')
    equal(await post({ quotas: [quota(1, 'other')] }), 'accepted')
    equal(await post({ quotas: [quota(1)], tenant: 't2' }), 'accepted')
    equal(await post({}), 'accepted')
    equal(await post({ quotas: [quota(1)] }), 'quota_spent')
  },
  'a spent quota refuses no dispatch of another tenant': async (t) => {
    const post = accepting(t)
    const theirs = { quotas: [quota(1)], tenant: 't2' }
    equal(await post({ quotas: [quota(1)] }), 'accepted')
    // Refused first: a store may keep in mind which quotas are spent.
    equal(await post({ quotas: [quota(1)] }), 'quota_spent')
    equal([await post(theirs), await post(theirs)], ['accepted', 'quota_spent'])
  },
  'a quota is free again after its window': async (t) => {
    const post = accepting(t)
    equal(await post({ quotas: [quota(1)] }), 'accepted')
    await t.advance(HOUR - MARGIN)
    equal(await post({ quotas: [quota(1)] }), 'quota_spent')
    await t.advance(MARGIN)
    equal(await post({ quotas: [quota(1)] }), 'accepted')
  },
  'replays and refused keys use up no quota': async (t) => {
    const post = accepting(t)
    equal(await post({ ...keyed('k', 'f1'), quotas: [quota(2)] }), 'accepted')
    equal(await post({ ...keyed('k', 'f1'), quotas: [quota(2)] }), 'replayed')
    equal(await post({ ...keyed('k', 'f2'), quotas: [quota(2)] }), 'key_reused')
    equal(await post({ ...keyed('l', 'f1'), quotas: [quota(2)] }), 'accepted')
    equal(await post({ ...keyed('m', 'f1'), quotas: [quota(2)] }), 'quota_spent')
    equal(await post({ ...keyed('k', 'f1'), quotas: [quota(2)] }), 'replayed', 'a replay needs no quota')
  },
  'a dispatch refused by its quota leaves its idempotency key unused': async (t) => {
    const post = accepting(t)
    equal(await post({ quotas: [quota(1)] }), 'accepted')
    equal(await post({ ...keyed(), quotas: [quota(1)] }), 'quota_spent')
    equal(await post(keyed()), 'accepted')
  },
  'a dispatch counts once for its quota, whatever its deliveries': async (t) => {
    const post = accepting(t)
    const several = ['a', 'b', 'c'].map((channel) => delivery(channel, { channel }))
    equal(await post({ deliveries: several, quotas: [quota(2)] }), 'accepted')
    equal(await post({ deliveries: [skipped('s')], quotas: [quota(2)] }), 'accepted')
    equal(await post({ quotas: [quota(2)] }), 'quota_spent')
  },
  'a dispatch refused by its quota counts under no limit': async (t) => {
    const post = accepting(t)
    const limits = [quota(1, 'l')]
    equal(await post({ quotas: [quota(1)] }), 'accepted')
    equal(await post({ deliveries: [delivery('x', { limits })], quotas: [quota(1)] }), 'quota_spent')
    equal(await post({ deliveries: [delivery('y', { limits })] }), 'accepted')
    equal((await t.claimAll()).map(({ deliveryId }) => deliveryId).sort(), ['under-0-a', 'y'])
  },
  'a dispatch counts under each of its quotas, and is refused when one is spent': async (t) => {
    const post = accepting(t)
    const both = { quotas: [quota(3, 'token'), quota(5, 'parent')] }
    for (const _ of numbers(3)) equal(await post(both), 'accepted')
    equal(await post(both), 'quota_spent')
    equal(await post({ quotas: [quota(9, 'sibling'), quota(5, 'parent')] }), 'accepted')
    equal(await post({ quotas: [quota(5, 'parent')] }), 'accepted')
    equal(await post({ quotas: [quota(9, 'sibling'), quota(5, 'parent')] }), 'quota_spent')
  },
  'a dispatch refused by one quota counts under none': async (t) => {
    const post = accepting(t)
    equal(await post({ quotas: [quota(1, 'parent')] }), 'accepted')
    equal(await post({ quotas: [quota(1, 'token'), quota(1, 'parent')] }), 'quota_spent')
    equal(await post({ quotas: [quota(1, 'token')] }), 'accepted')
  },
})
