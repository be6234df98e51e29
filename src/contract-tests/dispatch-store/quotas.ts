import type { SendLimit } from '../../ports/delivery-policy.ts'
import { equal } from '../assertions.ts'
import { countDispatches, race } from './racing.ts'
import { walk } from './reading.ts'
import { delivery, type GivenDispatch, HOUR, keyed, MARGIN, skipped } from './samples.ts'
import { contractCase, type DispatchCase, numbers, type StoreHarness } from './store-harness.ts'

const quota = (max: number, key = 'q', windowMs: number = HOUR): SendLimit => ({ key, max, windowMs })

/** Accepts one dispatch after another under quotas, and tells what came of each. */
function accepting({ accept }: StoreHarness) {
  let count = 0
  return async (given: GivenDispatch): Promise<string> => (await accept(`under-${count++}`, given)).outcome
}

/** How many dispatches of one key are accepted. */
export function quotaCases(): readonly DispatchCase[] {
  return [
    contractCase(
      'as many dispatches as a quota allows are accepted, and nothing is stored of others',
      async (harness) => {
        const post = accepting(harness)
        const outcomes: string[] = []
        for (const _ of numbers(5)) outcomes.push(await post({ quota: quota(3) }))
        equal(outcomes, ['accepted', 'accepted', 'accepted', 'quota_spent', 'quota_spent'])
        equal((await walk(harness, {})).length, 3)
        equal((await harness.claimAll()).length, 3)
      },
    ),

    contractCase('a quota says nothing to another key, another tenant, or who has none', async (harness) => {
      const post = accepting(harness)
      equal(await post({ quota: quota(1) }), 'accepted')
      equal(await post({ quota: quota(1, 'other') }), 'accepted')
      equal(await post({ quota: quota(1), tenant: 't2' }), 'accepted')
      equal(await post({}), 'accepted')
      equal(await post({ quota: quota(1) }), 'quota_spent')
    }),

    contractCase('a quota is for as long as its window', async (harness) => {
      const post = accepting(harness)
      equal(await post({ quota: quota(1) }), 'accepted')
      await harness.advance(HOUR - MARGIN)
      equal(await post({ quota: quota(1) }), 'quota_spent')
      await harness.advance(MARGIN)
      equal(await post({ quota: quota(1) }), 'accepted')
    }),

    contractCase('a replay, and a post that is refused for its key, use up no quota', async (harness) => {
      const post = accepting(harness)
      equal(await post({ ...keyed('k', 'f1'), quota: quota(2) }), 'accepted')
      equal(await post({ ...keyed('k', 'f1'), quota: quota(2) }), 'replayed')
      equal(await post({ ...keyed('k', 'f2'), quota: quota(2) }), 'key_reused')
      equal(await post({ ...keyed('l', 'f1'), quota: quota(2) }), 'accepted')
      equal(await post({ ...keyed('m', 'f1'), quota: quota(2) }), 'quota_spent')
      equal(await post({ ...keyed('k', 'f1'), quota: quota(2) }), 'replayed', 'a repeat is answered though it is spent')
    }),

    contractCase('what is refused for its quota leaves its key free', async (harness) => {
      const post = accepting(harness)
      equal(await post({ quota: quota(1) }), 'accepted')
      equal(await post({ ...keyed(), quota: quota(1) }), 'quota_spent')
      equal(await post(keyed()), 'accepted')
    }),

    contractCase('a dispatch counts for its quota once, whatever becomes of its deliveries', async (harness) => {
      const post = accepting(harness)
      const several = ['a', 'b', 'c'].map((channel) => delivery(channel, { channel }))
      equal(await post({ deliveries: several, quota: quota(2) }), 'accepted')
      equal(await post({ deliveries: [skipped('s')], quota: quota(2) }), 'accepted')
      equal(await post({ quota: quota(2) }), 'quota_spent')
    }),

    contractCase('what is refused for its quota counts for no limit', async (harness) => {
      const post = accepting(harness)
      const limits = [quota(1, 'l')]
      equal(await post({ quota: quota(1) }), 'accepted')
      equal(await post({ deliveries: [delivery('x', { limits })], quota: quota(1) }), 'quota_spent')
      equal(await post({ deliveries: [delivery('y', { limits })] }), 'accepted')
      equal((await harness.claimAll()).map(({ deliveryId }) => deliveryId).sort(), ['under-0-a', 'y'])
    }),

    contractCase('a quota holds, however many are accepted at once', async (harness) => {
      const outcomes = await race(harness, 50, (handle, at) => harness.accept(`${at}`, { quota: quota(10) }, handle))
      const reported = outcomes.map(({ outcome }) => outcome)
      equal([countDispatches(reported, 'accepted'), countDispatches(reported, 'quota_spent')], [10, 40])
      equal((await walk(harness, {})).length, 10)
    }),
  ]
}
