import type { DueCount, DueQuery } from '../../ports/due-query.ts'
import { equal } from '../assertions.ts'
import { delivery, digested, HOUR, LEASE, MARGIN, MINUTE, proof, RETRY, skipped, TENANT } from './samples.ts'
import { between, claimOf, type DispatchCase, dispatchCases, numbers, type StoreHarness } from './store-harness.ts'

const CHANNELS = ['a', 'b']

/** Names that a store may shorten or escape. */
const NAMES = ["'a", 'a', 'A', 'a ', 'ä', 'a/b', 'x'.repeat(200), `${'Ä'.repeat(199)}b`, `${'Ä'.repeat(199)}B`]

function count(t: StoreHarness, query: Partial<DueQuery> = {}): Promise<DueCount> {
  return t.other.countDue({ channels: CHANNELS, limit: 100, ...query })
}

/** The counts of one tenant and of all tenants. */
async function counts(t: StoreHarness, query: Partial<DueQuery> = {}): Promise<readonly number[]> {
  return [(await count(t, { tenant: TENANT, ...query })).count, (await count(t, query)).count]
}

export const countDueCases: readonly DispatchCase[] = dispatchCases([], {
  'countDue counts nothing in an empty store': async (t) => {
    for (const tenant of [TENANT, undefined]) equal(await count(t, { tenant }), { count: 0 })
  },
  'countDue counts deliveries once they are due': async (t) => {
    await t.accept('1')
    await t.accept('2', { deliveries: [delivery('2-a', { delayMs: HOUR }), delivery('2-b', { channel: 'b' })] })
    equal(await counts(t), [2, 2])
    await t.advance(HOUR - MARGIN)
    equal(await counts(t), [2, 2])
    await t.advance(MARGIN)
    equal(await counts(t), [3, 3])
  },
  'countDue counts digests once they are due': async (t) => {
    await t.accept('1', { deliveries: [digested('1')] })
    await t.accept('2', { deliveries: [digested('2')] })
    equal(await counts(t), [0, 0])
    await t.advance(HOUR)
    equal(await counts(t), [1, 1])
  },
  'countDue counts leased deliveries once their lease has ended': async (t) => {
    for (const id of ['1', '2', '3']) await t.accept(id)
    await t.claimOne('a', HOUR)
    equal(await counts(t), [2, 2])
    await t.advance(HOUR - MARGIN)
    equal(await counts(t), [2, 2])
    await t.advance(MARGIN)
    equal(await counts(t), [3, 3])
  },
  'countDue does not count a delivery whose lease was renewed': async (t) => {
    await t.accept('1')
    const mine = proof(await t.claimOne('a', MINUTE))
    await t.store.renew(mine, 2 * HOUR)
    await t.advance(HOUR)
    equal(await counts(t), [0, 0])
  },
  'countDue counts a delivery again when its retry is due': async (t) => {
    await t.accept('1')
    await t.settleNext({ to: 'queued', delayMs: HOUR, attempt: RETRY })
    equal(await counts(t), [0, 0])
    await t.advance(HOUR)
    equal(await counts(t), [1, 1])
  },
  'countDue does not count deliveries that are held, sent, failed, skipped or cancelled': async (t) => {
    await t.accept('sent')
    await t.send()
    await t.accept('failed')
    await t.fail()
    await t.accept('skipped', { deliveries: [skipped('skipped-a')] })
    await t.accept('cancelled')
    await t.cancel('cancelled')
    const held = delivery('held-b', { channel: 'b', status: 'held' })
    await t.accept('held', { route: 'first', deliveries: [delivery('held-a', { delayMs: 2 * HOUR }), held] })
    await t.advance(LEASE + HOUR)
    equal(await counts(t), [0, 0])
    await t.advance(HOUR)
    equal(await counts(t), [1, 1])
  },
  'countDue counts a held delivery once it was promoted': async (t) => {
    const held = delivery('1-b', { channel: 'b', status: 'held' })
    await t.accept('1', { route: 'first', deliveries: [delivery('1-a'), held] })
    equal(await counts(t), [1, 1])
    await t.fail()
    equal(
      [await counts(t, { channels: ['a'] }), await counts(t, { channels: ['b'] })],
      [
        [0, 0],
        [1, 1],
      ],
    )
  },
  'countDue counts one tenant, or all': async (t) => {
    await t.accept('1')
    for (const id of ['2', '3']) await t.accept(id, { tenant: 'other' })
    equal(await counts(t), [1, 3])
    equal((await count(t, { tenant: 'other' })).count, 2)
    equal((await count(t, { tenant: 'none' })).count, 0)
  },
  'countDue counts the given channels': async (t) => {
    await t.accept('1', { deliveries: [delivery('1-a'), delivery('1-b', { channel: 'b' })] })
    await t.accept('2', { deliveries: [delivery('2-b', { channel: 'b' }), delivery('2-c', { channel: 'c' })] })
    equal(await counts(t, { channels: ['a'] }), [1, 1])
    equal(await counts(t, { channels: ['b'] }), [2, 2])
    equal(await counts(t, { channels: ['b', 'c'] }), [3, 3])
    equal(await counts(t, { channels: ['other'] }), [0, 0])
    for (const tenant of [TENANT, undefined]) equal(await count(t, { tenant, channels: [] }), { count: 0 })
  },
  'countDue keeps tenants with similar and long names apart': async (t) => {
    for (const [at, tenant] of NAMES.entries())
      await t.accept(`${at}`, { tenant, deliveries: [delivery(`${at}-a`), delivery(`${at}-b`, { delayMs: HOUR })] })
    for (const tenant of NAMES) equal((await count(t, { tenant })).count, 1, JSON.stringify(tenant))
    equal((await count(t)).count, NAMES.length)
  },
  'countDue counts at most its limit, over all channels and statuses': async (t) => {
    await t.accept('0')
    await t.claimOne('a', MINUTE)
    for (const at of numbers(4)) await t.accept(`${at + 1}`)
    for (const at of numbers(4)) await t.accept(`${at + 5}`, { deliveries: [delivery(`${at + 5}`, { channel: 'b' })] })
    await t.advance(MINUTE)
    for (const limit of [1, 2, 5, 8]) equal(await counts(t, { limit }), [limit, limit])
    for (const limit of [9, 10]) equal(await counts(t, { limit }), [9, 9])
  },
  'oldestMs is the time since the oldest delivery was due, whatever the limit': async (t) => {
    await t.accept('1', { deliveries: [delivery('1-b', { channel: 'b', delayMs: HOUR })] })
    await t.accept('2', { deliveries: [delivery('2-a', { delayMs: 2 * HOUR })] })
    const start = t.now()
    await t.advance(4 * HOUR)
    await t.accept('3')
    for (const tenant of [TENANT, undefined])
      for (const limit of [1, 2, 100]) {
        const { oldestMs } = await count(t, { tenant, limit })
        between(oldestMs, 3 * HOUR, t.now() - start, 'oldestMs')
        const { oldestMs: ofA } = await count(t, { tenant, limit, channels: ['a'] })
        between(ofA, 2 * HOUR, t.now() - start - HOUR, 'oldestMs of the channel a')
      }
  },
  'oldestMs of an ended lease is the time since its end': async (t) => {
    await t.accept('1')
    const start = t.now()
    await t.claimOne('a', HOUR)
    await t.advance(3 * HOUR)
    await t.accept('2')
    for (const tenant of [TENANT, undefined])
      between((await count(t, { tenant })).oldestMs, 2 * HOUR - MARGIN, t.now() - start - HOUR, 'oldestMs')
  },
  'countDue changes nothing': async (t) => {
    await t.accept('1')
    const before = await t.found('1')
    await counts(t)
    equal(await t.found('1'), before)
    equal((await t.store.claim(claimOf({ a: 9 }))).deliveries.length, 1)
  },
})
