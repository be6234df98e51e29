import type { SendLimit } from '../../ports/delivery-policy.ts'
import { equal } from '../assertions.ts'
import { delivery, type GivenDispatch, HOUR, keyed, MARGIN, MINUTE, proof, RETRY, TENANT } from './samples.ts'
import { between, contractCase, type DispatchCase, numbers, type StoreHarness, timed } from './store-harness.ts'

const limit = (max: number, key = 'l', windowMs: number = HOUR): SendLimit => ({ key, max, windowMs })

/** Accepts one message after another under limits, and tells what became of each. */
function counting({ accept, states }: StoreHarness) {
  let count = 0
  return async (limits: readonly SendLimit[], given: GivenDispatch = {}): Promise<string> => {
    const id = `counted-${count++}`
    await accept(id, { deliveries: [delivery(id, { limits })], ...given })
    return (await states(id, given.tenant))[0] ?? 'nothing'
  }
}

const SPENT = 'skipped throttled'

export function limitCases(): readonly DispatchCase[] {
  return [...counted(), ...counter()]
}

function counted(): readonly DispatchCase[] {
  return [
    contractCase('as many as a limit allows are let out, and the rest throttled', async (harness) => {
      const post = counting(harness)
      const states: string[] = []
      for (const _ of numbers(5)) states.push(await post([limit(3)]))
      equal(states, ['queued', 'queued', 'queued', SPENT, SPENT])
    }),

    contractCase('a message counts until it is as old as the window, wherever the window begins', async (harness) => {
      const post = counting(harness)
      equal(await post([limit(2)]), 'queued')
      await harness.advance(40 * MINUTE)
      equal(await post([limit(2)]), 'queued')
      await harness.advance(20 * MINUTE - MARGIN)
      equal(await post([limit(2)]), SPENT)
      await harness.advance(MARGIN)
      equal(await post([limit(2)]), 'queued')
      equal(await post([limit(2)]), SPENT)
      await harness.advance(40 * MINUTE - MARGIN)
      equal(await post([limit(2)]), SPENT)
      await harness.advance(MARGIN)
      equal(await post([limit(2)]), 'queued')
    }),

    contractCase('a limit of one tenant and key says nothing to another', async (harness) => {
      const post = counting(harness)
      equal(await post([limit(1)]), 'queued')
      equal(await post([limit(1, 'other')]), 'queued')
      equal(await post([limit(1)], { tenant: 't2' }), 'queued')
      equal(await post([limit(1)], { eventType: 'other', recipient: 'other' }), SPENT)
    }),

    contractCase('where one limit is spent no other is counted', async (harness) => {
      const post = counting(harness)
      await post([limit(1, 'spent')])
      equal(await post([limit(1, 'before'), limit(1, 'spent'), limit(1, 'after')]), SPENT)
      equal(await post([limit(1, 'before')]), 'queued')
      equal(await post([limit(1, 'after')]), 'queued')
    }),

    contractCase('a limit that is named twice counts a message once', async (harness) => {
      const post = counting(harness)
      equal(await post([limit(2), limit(2)]), 'queued')
      equal(await post([limit(2)]), 'queued')
      equal(await post([limit(2)]), SPENT)
      equal(await post([limit(1, 'm'), limit(5, 'm', MINUTE)]), 'queued')
      await harness.advance(MINUTE)
      equal(await post([limit(1, 'm')]), SPENT, 'the longer window holds')
      equal(await post([limit(5, 'm', MINUTE)]), 'queued', 'and so does the shorter one')
    }),

    contractCase('each delivery of a dispatch counts', async ({ accept, states }) => {
      const limits = [limit(2)]
      const deliveries = ['a', 'b', 'c'].map((channel) => delivery(channel, { channel, limits }))
      await accept('1', { deliveries })
      equal([...(await states('1'))].sort(), ['queued', 'queued', SPENT])
    }),

    contractCase('a limit that is raised goes on from what was counted', async (harness) => {
      const post = counting(harness)
      equal(await post([limit(1)]), 'queued')
      equal(await post([limit(3)]), 'queued')
      equal(await post([limit(3)]), 'queued')
      equal(await post([limit(3)]), SPENT)
      equal(await post([limit(1)]), SPENT)
    }),
  ]
}

function counter(): readonly DispatchCase[] {
  return [
    contractCase('what is not queued is not counted', async (harness) => {
      const post = counting(harness)
      const limits = [limit(1)]
      const ended = (['skipped', 'failed', 'held'] as const).map((status) => {
        return delivery(status, { channel: status, status, limits })
      })
      await harness.accept('1', { route: 'first', deliveries: ended })
      equal(await post(limits), 'queued')
    }),

    contractCase('a message is counted when it is accepted, though it is sent later', async (harness) => {
      const post = counting(harness)
      await harness.accept('1', { deliveries: [delivery('x', { delayMs: 5 * HOUR, limits: [limit(1)] })] })
      equal(await post([limit(1)]), SPENT)
      await harness.advance(HOUR)
      equal(await post([limit(1)]), 'queued')
    }),

    contractCase('a message is counted once, however often it is tried', async (harness) => {
      const { store, accept, claimOne, fail, states } = harness
      const post = counting(harness)
      const limits = [limit(2)]
      await accept('1', { deliveries: [delivery('x', { channel: 'b', limits })] })
      await store.settle({ ...proof(await claimOne('b')), to: 'queued', delayMs: 0, attempt: RETRY })
      await fail('b')
      await store.retry(TENANT, '1', { expiresInMs: HOUR })
      await fail('b')
      equal(await post(limits), 'queued')
      equal(await post(limits), SPENT)
      await store.retry(TENANT, '1', { expiresInMs: HOUR })
      equal(await states('1'), ['queued'], 'a limit that is spent meanwhile does not hold it back')
    }),

    contractCase('what is held is counted once it is queued', async (harness) => {
      const { accept, fail, states } = harness
      const post = counting(harness)
      const held = delivery('y', { channel: 'c', status: 'held', limits: [limit(2)] })
      await accept('1', { route: 'first', deliveries: [delivery('x', { channel: 'b' }), held] })
      equal(await post([limit(2)]), 'queued')
      await fail('b')
      equal(await states('1'), ['failed provider_rejected', 'queued'])
      equal(await post([limit(2)]), SPENT)
    }),

    contractCase(
      'with the route first, one that is throttled gives its turn to the next that fits',
      async (harness) => {
        const { accept, found, states } = harness
        const limits = [limit(1)]
        await counting(harness)(limits)
        const held = (id: string, rest = {}) => delivery(id, { channel: id, status: 'held', ...rest })
        const deliveries = [delivery('x', { delayMs: HOUR, limits }), held('y', { limits }), held('z'), held('w')]
        const { from, to } = await timed(harness, () => accept('1', { route: 'first', deliveries }))
        equal(await states('1'), [SPENT, SPENT, 'queued', 'held'])
        between((await found('1')).deliveries[2]?.dueAt, from + HOUR, to + HOUR, 'due when the first was to be')
      },
    ),

    contractCase('a replay, and a post that is refused for its key, count nothing', async (harness) => {
      const post = counting(harness)
      equal(await post([limit(2)], keyed('k', 'f1')), 'queued')
      const repeat = { deliveries: [delivery('again', { limits: [limit(2)] })] }
      await harness.accept('again', { ...keyed('k', 'f1'), ...repeat })
      await harness.accept('again', { ...keyed('k', 'f2'), ...repeat })
      equal(await post([limit(2)]), 'queued')
    }),

    contractCase('what is cancelled or fails was counted all the same', async (harness) => {
      const { store, accept, fail } = harness
      const post = counting(harness)
      const limits = [limit(2)]
      await accept('1', { deliveries: [delivery('x', { channel: 'b', limits })] })
      await accept('2', { deliveries: [delivery('y', { channel: 'c', limits })] })
      await store.cancel(TENANT, '1')
      await fail('c')
      equal(await post(limits), SPENT)
    }),
  ]
}
