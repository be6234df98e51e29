import { equal, ok } from '../assertions.ts'
import { acceptAll, walk } from './reading.ts'
import { type GivenDispatch, HOUR, MINUTE, skipped, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, numbers, type StoreHarness } from './store-harness.ts'

/** So many dispatches a minute apart, and their ids, oldest first. */
async function acceptMany(
  harness: StoreHarness,
  count: number,
  given: (at: number) => GivenDispatch = () => ({}),
): Promise<string[]> {
  const ids = numbers(count).map((at) => `d${at}`)
  for (const [at, id] of ids.entries()) await acceptAll(harness, { [id]: given(at) })
  return ids
}

/** Fails unless everything that was there is read once, in order. */
function checkRead(read: readonly string[], there: readonly string[], what: string): void {
  equal(new Set(read).size, read.length, `${what}: nothing is read twice`)
  const known = new Set(there)
  equal(
    read.filter((id) => known.has(id)),
    there,
    `${what}: everything is read`,
  )
}

/** Pages stay right while dispatches come and go. */
export function pagingCases(): readonly DispatchCase[] {
  return [
    contractCase('a list is read page by page, each dispatch once', async (harness) => {
      const ids = await acceptMany(harness, 11)
      for (const limit of [1, 2, 5, 10, 11, 12]) {
        equal(await walk(harness, { limit }), ids.toReversed(), `newest first, by ${limit}`)
        equal(await walk(harness, { limit, first: 'oldest' }), ids, `oldest first, by ${limit}`)
      }
    }),

    contractCase('what was accepted at one moment is read page by page, each dispatch once', async (harness) => {
      await Promise.all(numbers(25).map((at) => harness.accept(`d${at}`)))
      const ids = numbers(25).map((at) => `d${at}`)
      for (const limit of [1, 4, 24]) {
        for (const first of ['newest', 'oldest'] as const) {
          equal((await walk(harness, { limit, first })).sort(), ids.toSorted(), `${first} first, by ${limit}`)
        }
      }
    }),

    contractCase('what fits is read page by page, however much between does not', async (harness) => {
      const ids = await acceptMany(harness, 40, (at) => ({
        eventType: at % 13 === 0 ? 'wanted' : 'other',
        sessionId: at % 2 === 0 ? 's1' : 's2',
      }))
      const wanted = ids.filter((_, at) => at % 13 === 0)
      equal(await walk(harness, { limit: 2, eventType: 'wanted' }), wanted.toReversed())
      equal(await walk(harness, { limit: 1, eventType: 'wanted', first: 'oldest' }), wanted)
      const both = { limit: 1, eventType: 'wanted', sessionId: 's1', first: 'oldest' } as const
      equal(await walk(harness, both), [ids[0], ids[26]])
    }),

    contractCase('a page is right while dispatches are added', async (harness) => {
      const ids = await acceptMany(harness, 12)
      let added = 0
      const add = async () => {
        if (added < 12) await acceptAll(harness, { [`added-${added++}`]: {}, [`added-${added++}`]: {} })
      }
      checkRead(await walk(harness, { limit: 3 }, add), ids.toReversed(), 'newest first')
      added = 100
      checkRead(await walk(harness, { limit: 3, first: 'oldest' }, add), ids, 'oldest first')
    }),

    contractCase('a page is right while dispatches change their state', async (harness) => {
      const ids = await acceptMany(harness, 12)
      const settled: string[] = []
      const fail = async (page: readonly string[]) => {
        for (const id of page) await harness.store.cancel(TENANT, id)
        settled.push(...page)
      }
      equal(await walk(harness, { limit: 3, status: 'queued' }, fail), ids.toReversed())
      ok(settled.length > 0, 'something changed meanwhile')
    }),

    contractCase('a page is right while dispatches are removed, the one it ended with among them', async (harness) => {
      for (const first of ['newest', 'oldest'] as const) {
        const tenant = first
        const ids = numbers(12).map((at) => `${first}${at}`)
        for (const id of ids) await acceptAll(harness, { [id]: { tenant, deliveries: [skipped(id)] } })
        await harness.advance(HOUR)
        let removed = 0
        const remove = async () => {
          removed += await harness.store.removeDispatches({ tenant, acceptedForMs: MINUTE, limit: 2 })
        }
        const read = await walk(harness, { tenant, limit: 3, first }, remove)
        ok(removed > 0, 'something was removed meanwhile')
        equal(new Set(read).size, read.length, 'nothing is read twice')
        const left = await walk(harness, { tenant, first })
        const order = first === 'oldest' ? ids : ids.toReversed()
        equal(
          left,
          order.filter((id) => left.includes(id)),
        )
        const missed = left.filter((id) => !read.includes(id))
        equal(missed, [], 'what is left was read')
      }
    }),

    contractCase('a page goes on where all that was read is gone', async (harness) => {
      const ids = (name: string): string[] => numbers(6).map((at) => `${name}${at}`)
      for (const id of ids('old')) await acceptAll(harness, { [id]: { deliveries: [skipped(id)] } })
      await harness.advance(HOUR)
      for (const id of ids('new')) await acceptAll(harness, { [id]: {} })
      let rounds = 0
      const read = await walk(harness, { limit: 3, first: 'oldest' }, async () => {
        if (++rounds === 2) equal(await harness.store.removeDispatches({ acceptedForMs: HOUR - MINUTE, limit: 99 }), 6)
      })
      equal(read, [...ids('old'), ...ids('new')])
    }),
  ]
}
