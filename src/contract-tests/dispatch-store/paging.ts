import { equal, ok } from '../assertions.ts'
import { type GivenDispatch, HOUR, MINUTE, skipped } from './samples.ts'
import { acceptAll, type DispatchCase, dispatchCases, numbers, type StoreHarness } from './store-harness.ts'

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

export const pagingCases: readonly DispatchCase[] = dispatchCases([], {
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
