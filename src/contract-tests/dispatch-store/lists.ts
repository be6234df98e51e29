import type { DispatchStatus } from '../../model/dispatch.ts'
import { equal, ok } from '../assertions.ts'
import {
  broken,
  delivery,
  digested,
  type GivenDispatch,
  HOUR,
  MINUTE,
  proof,
  REJECTED,
  SENT,
  skipped,
  TENANT,
} from './samples.ts'
import { type DispatchCase, dispatchCases, numbers, type Query, type StoreHarness } from './store-harness.ts'

async function acceptAll(
  { accept, advance }: StoreHarness,
  dispatches: Readonly<Record<string, GivenDispatch>>,
): Promise<void> {
  for (const [id, given] of Object.entries(dispatches)) {
    await accept(id, given)
    await advance(MINUTE)
  }
}

/** Accepts dispatches a minute apart. Returns their ids, oldest first. */
async function acceptMany(
  harness: StoreHarness,
  count: number,
  given: (at: number) => GivenDispatch = () => ({}),
): Promise<string[]> {
  const ids = numbers(count).map((at) => `d${at}`)
  for (const [at, id] of ids.entries()) await acceptAll(harness, { [id]: given(at) })
  return ids
}

/** Fails unless every dispatch that existed before is read exactly once, in order. */
function checkRead(read: readonly string[], there: readonly string[], what: string): void {
  equal(new Set(read).size, read.length, `${what}: no dispatch is read twice`)
  const known = new Set(there)
  equal(
    read.filter((id) => known.has(id)),
    there,
    `${what}: every dispatch is read`,
  )
}

export const listCases: readonly DispatchCase[] = dispatchCases([], {
  'listDispatches returns whole dispatches, newest first': async (t) => {
    const head = { sessionId: 's1', locale: 'de', critical: true } as const
    await acceptAll(t, {
      one: {},
      two: { ...head, deliveries: [delivery('x'), digested('y', {}, { channel: 'b' })] },
      three: {},
    })
    const { items } = await t.other.listDispatches({ tenant: TENANT, limit: 100 })
    equal(items, [await t.found('three'), await t.found('two'), await t.found('one')])
  },
  'findByDelivery finds the dispatch of a delivery': async (t) => {
    await acceptAll(t, { one: { deliveries: [delivery('x'), delivery('y')] }, two: { deliveries: [delivery('z')] } })
    equal(await t.store.findByDelivery(TENANT, 'y'), await t.found('one'))
    equal(await t.other.findByDelivery(TENANT, 'z'), await t.found('two'))
    equal(await t.store.findByDelivery('t2', 'y'), undefined)
    equal(await t.store.findByDelivery(TENANT, 'one'), undefined)
  },
  'findByDelivery finds a dispatch of a shared digest': async (t) => {
    await t.accept('one', { deliveries: [digested('x')] })
    await t.accept('two', { deliveries: [digested('y')] })
    const found = await t.store.findByDelivery(TENANT, 'x')
    ok(found?.dispatchId === 'one' || found?.dispatchId === 'two', 'a dispatch of the digest is found')
    equal(found, await t.found(found.dispatchId))
  },
  'listDispatches returns the dispatches with a delivery of a channel': async (t) => {
    await acceptAll(t, {
      one: { deliveries: [delivery('a1', { channel: 'email' }), delivery('a2', { channel: 'sms' })] },
      two: { deliveries: [delivery('b1', { channel: 'sms' })], sessionId: 's1' },
      three: { deliveries: [{ ...skipped('c1'), channel: 'email' }], eventType: 'f' },
    })
    equal(await t.list({ channel: 'email' }), ['three', 'one'])
    equal(await t.list({ channel: 'sms' }), ['two', 'one'])
    equal(await t.list({ channel: 'sms', first: 'oldest', limit: 1 }), ['one', 'two'])
    equal(await t.list({ channel: 'fax' }), [])
    equal(await t.list({ channel: 'email', status: 'queued' }), ['one'])
    equal(await t.list({ channel: 'email', eventType: 'f' }), ['three'])
    equal(await t.list({ channel: 'email', sessionId: 's1' }), [])
  },
  'listDispatches returns all dispatches of a digest of a channel': async (t) => {
    await acceptAll(t, { one: { deliveries: [digested('x')] }, two: { deliveries: [digested('y')] } })
    const { channel } = (await t.found('one'))?.deliveries[0] ?? {}
    equal(await t.list({ channel }), ['two', 'one'])
    equal(await t.list({ channel: `${channel}x` }), [])
  },
  'listDispatches returns the dispatches with a delivery of a reason': async (t) => {
    await acceptAll(t, {
      one: { deliveries: [{ ...skipped('a1'), channel: 'email' }, delivery('a2', { channel: 'sms' })] },
      two: { deliveries: [broken('b1', { channel: 'sms' })], sessionId: 's1' },
      three: { deliveries: [skipped('c1'), skipped('c2')], eventType: 'f' },
      four: { deliveries: [delivery('d1', { channel: 'late' })], expiresInMs: HOUR },
      five: { tenant: 't2', deliveries: [skipped('e1')] },
    })
    equal(await t.list({ reason: 'condition_false' }), ['three', 'one'])
    equal(await t.list({ reason: 'condition_false', first: 'oldest', limit: 1 }), ['one', 'three'])
    equal(await t.list({ reason: 'template_error' }), ['two'])
    equal(await t.list({ reason: 'suppressed' }), [])
    equal(await t.list({ reason: 'condition_false', eventType: 'f' }), ['three'])
    equal(await t.list({ reason: 'condition_false', status: 'queued' }), ['one'])
    equal(await t.list({ reason: 'template_error', sessionId: 's1' }), ['two'])
    equal(await t.list({ reason: 'expired' }), [])
    await t.advance(2 * HOUR)
    await t.claim({ late: 9 })
    equal(await t.list({ reason: 'expired' }), ['four'])
  },
  'a filter by channel and reason finds one delivery with both': async (t) => {
    await acceptAll(t, {
      one: { deliveries: [{ ...skipped('a1'), channel: 'email' }, delivery('a2', { channel: 'sms' })] },
    })
    equal(await t.list({ channel: 'email', reason: 'condition_false' }), ['one'])
    equal(await t.list({ channel: 'sms', reason: 'condition_false' }), [])
  },
  'listDispatches returns all dispatches of a digest of a reason': async (t) => {
    for (const id of ['1', '2']) await t.accept(id, { deliveries: [digested(id)] })
    await t.accept('3', { deliveries: [delivery('3', { channel: 'other' })] })
    await t.advance(2 * HOUR)
    const claimed = await t.claimOne()
    await t.store.settle({ ...proof(claimed), to: 'failed', reason: 'provider_rejected', attempt: REJECTED })
    equal((await t.list({ reason: 'provider_rejected' })).sort(), ['1', '2'])
  },
  'listDispatches can begin with the oldest': async (t) => {
    await acceptAll(t, { one: {}, two: {}, three: {} })
    equal(await t.list({ first: 'oldest' }), ['one', 'two', 'three'])
    equal(await t.list({ first: 'newest' }), ['three', 'two', 'one'])
    equal(await t.list({ first: undefined }), ['three', 'two', 'one'])
  },
  'listDispatches returns the dispatches of one tenant': async (t) => {
    await acceptAll(t, { one: {}, two: { tenant: 't2', sessionId: 's1' }, three: { sessionId: 's1' } })
    equal(await t.list(), ['three', 'one'])
    equal(await t.list({ tenant: 't2' }), ['two'])
    equal(await t.list({ sessionId: 's1' }), ['three'])
    equal(await t.list({ tenant: 't3' }), [])
    equal(await t.list({ tenant: 't2', eventType: 'e', status: 'queued' }), ['two'])
  },
  'listDispatches returns the dispatches that fit all filters': async (t) => {
    await acceptAll(t, {
      1: { eventType: 'e', recipient: 'r', sessionId: 's' },
      2: { eventType: 'f', recipient: 'r', sessionId: 's' },
      3: { eventType: 'e', recipient: 'q', sessionId: 's' },
      4: { eventType: 'e', recipient: 'r' },
      5: { eventType: 'e', recipient: 'r', sessionId: 't' },
    })
    await t.cancel('5')
    const fits: readonly (readonly [Query, string])[] = [
      [{ eventType: 'e' }, '5431'],
      [{ recipient: 'r' }, '5421'],
      [{ sessionId: 's' }, '321'],
      [{ status: 'queued' }, '4321'],
      [{ eventType: 'e', recipient: 'r' }, '541'],
      [{ eventType: 'e', recipient: 'r', sessionId: 's' }, '1'],
      [{ eventType: 'e', recipient: 'r', status: 'cancelled' }, '5'],
      [{ recipient: 'r', status: 'queued', first: 'oldest' }, '124'],
      [{ eventType: 'none' }, ''],
      [{ eventType: undefined, recipient: undefined, sessionId: undefined, status: undefined }, '54321'],
    ]
    for (const [query, ids] of fits) equal(await t.list(query), [...ids], JSON.stringify(query))
  },
  'since is inclusive and until is exclusive': async (t) => {
    await acceptAll(t, { 1: {}, 2: {}, 3: {}, 4: {} })
    const at: number[] = []
    for (const id of ['1', '2', '3', '4']) at.push((await t.found(id)).createdAt)
    const [, second = 0, , fourth = 0] = at
    equal(await t.list({ since: second }), ['4', '3', '2'])
    equal(await t.list({ since: second + 1 }), ['4', '3'])
    equal(await t.list({ until: second }), ['1'])
    equal(await t.list({ until: second + 1 }), ['2', '1'])
    equal(await t.list({ since: second, until: fourth, first: 'oldest' }), ['2', '3'])
    equal(await t.list({ since: second, until: second }), [])
    equal(await t.list({ since: undefined, until: undefined }), ['4', '3', '2', '1'])
  },
  'listDispatches filters by the current status': async (t) => {
    const pair = (id: string, status: 'queued' | 'held' = 'queued') => ({
      deliveries: [delivery(`${id}-a`), delivery(`${id}-b`, { channel: 'b', status })],
    })
    await t.accept('partial', pair('partial'))
    await t.fail()
    await t.advance(1)
    await t.accept('first', { route: 'first', ...pair('first', 'held') })
    await t.fail()
    await t.accept('cancelled')
    await t.cancel('cancelled')
    await t.accept('skipped', { deliveries: [delivery('s', { status: 'skipped', reason: 'condition_false' })] })
    await t.accept('failed', { deliveries: [delivery('f', { status: 'failed', reason: 'template_error' })] })
    await t.accept('sent')
    await t.send()
    for (const status of ['partial', 'cancelled', 'skipped', 'failed', 'sent'] as const)
      equal(await t.list({ status }), [status])
    const check = async (status: DispatchStatus, ids: readonly string[]) =>
      equal((await t.list({ status })).sort(), ids, status)
    await check('queued', ['first'])
    for (let left = 2; left > 0; left--) {
      const claimed = await t.claimOne('b')
      await check('queued', ['first'])
      await t.store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
    }
    await check('partial', ['partial'])
    await check('sent', ['first', 'sent'])
    await t.retry('failed', { expiresInMs: MINUTE })
    await check('queued', ['failed'])
    await check('failed', [])
  },
  'listDispatches filters a dispatch by its own part of a digest': async (t) => {
    for (const id of ['1', '2']) await t.accept(id, { deliveries: [digested(id)] })
    await t.cancel('1')
    equal(await t.list({ status: 'cancelled' }), ['1'])
    equal(await t.list({ status: 'queued' }), ['2'])
  },
  'pages contain each dispatch once': async (t) => {
    const ids = await acceptMany(t, 11)
    for (const limit of [1, 2, 5, 10, 11, 12]) {
      equal(await t.list({ limit }), ids.toReversed(), `newest first, by ${limit}`)
      equal(await t.list({ limit, first: 'oldest' }), ids, `oldest first, by ${limit}`)
    }
  },
  'pages contain each dispatch once among those accepted at the same moment': async (t) => {
    await Promise.all(numbers(25).map((at) => t.accept(`d${at}`)))
    const ids = numbers(25).map((at) => `d${at}`)
    for (const limit of [1, 4, 24]) {
      for (const first of ['newest', 'oldest'] as const)
        equal((await t.list({ limit, first })).sort(), ids.toSorted(), `${first} first, by ${limit}`)
    }
  },
  'pages are full when many dispatches do not fit the filter': async (t) => {
    const ids = await acceptMany(t, 40, (at) => ({
      eventType: at % 13 === 0 ? 'wanted' : 'other',
      sessionId: at % 2 === 0 ? 's1' : 's2',
    }))
    const wanted = ids.filter((_, at) => at % 13 === 0)
    equal(await t.list({ limit: 2, eventType: 'wanted' }), wanted.toReversed())
    equal(await t.list({ limit: 1, eventType: 'wanted', first: 'oldest' }), wanted)
    const both = { limit: 1, eventType: 'wanted', sessionId: 's1', first: 'oldest' } as const
    equal(await t.list(both), [ids[0], ids[26]])
  },
  'paging stays complete while dispatches are added': async (t) => {
    const ids = await acceptMany(t, 12)
    let added = 0
    const add = async () => {
      if (added < 12) await acceptAll(t, { [`added-${added++}`]: {}, [`added-${added++}`]: {} })
    }
    checkRead(await t.list({ limit: 3 }, add), ids.toReversed(), 'newest first')
    added = 100
    checkRead(await t.list({ limit: 3, first: 'oldest' }, add), ids, 'oldest first')
  },
  'paging stays complete while dispatches change their status': async (t) => {
    const ids = await acceptMany(t, 12)
    const settled: string[] = []
    const fail = async (page: readonly string[]) => {
      for (const id of page) await t.cancel(id)
      settled.push(...page)
    }
    equal(await t.list({ limit: 3, status: 'queued' }, fail), ids.toReversed())
    ok(settled.length > 0, 'the case changes dispatches between pages')
  },
  'paging stays complete while dispatches are removed, also the last of a page': async (t) => {
    for (const first of ['newest', 'oldest'] as const) {
      const tenant = first
      const ids = numbers(12).map((at) => `${first}${at}`)
      for (const id of ids) await acceptAll(t, { [id]: { tenant, deliveries: [skipped(id)] } })
      await t.advance(HOUR)
      let removed = 0
      const remove = async () => {
        removed += await t.store.removeDispatches({ tenant, acceptedForMs: MINUTE, limit: 2 })
      }
      const read = await t.list({ tenant, limit: 3, first }, remove)
      ok(removed > 0, 'the case removes dispatches between pages')
      equal(new Set(read).size, read.length, 'no dispatch is read twice')
      const left = await t.list({ tenant, first })
      const order = first === 'oldest' ? ids : ids.toReversed()
      equal(
        left,
        order.filter((id) => left.includes(id)),
      )
      const missed = left.filter((id) => !read.includes(id))
      equal(missed, [], 'every remaining dispatch was read')
    }
  },
  'paging continues when all earlier pages were removed': async (t) => {
    const ids = (name: string): string[] => numbers(6).map((at) => `${name}${at}`)
    for (const id of ids('old')) await acceptAll(t, { [id]: { deliveries: [skipped(id)] } })
    await t.advance(HOUR)
    for (const id of ids('new')) await acceptAll(t, { [id]: {} })
    let rounds = 0
    const read = await t.list({ limit: 3, first: 'oldest' }, async () => {
      if (++rounds === 2) equal(await t.store.removeDispatches({ acceptedForMs: HOUR - MINUTE, limit: 99 }), 6)
    })
    equal(read, [...ids('old'), ...ids('new')])
  },
})
