import type { DispatchStatus } from '../../model/dispatch.ts'
import type { DispatchQuery } from '../../ports/dispatch-query.ts'
import { equal, ok } from '../assertions.ts'
import { delivery, digested, type GivenDispatch, MINUTE, proof, SENT, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, numbers, type StoreHarness } from './store-harness.ts'

/** More pages than any list here has: a cursor that leads nowhere must not go on for ever. */
const MOST_PAGES = 200

/** What is asked for, beside what nearly every case asks for. */
export type Query = Partial<DispatchQuery>

/** Reads a list page by page, each through another handle, and does something between two pages. */
export async function walk(
  harness: StoreHarness,
  query: Query,
  between?: (page: readonly string[]) => Promise<void>,
): Promise<string[]> {
  const { store, other } = harness
  const ids: string[] = []
  let cursor: string | undefined
  for (const at of numbers(MOST_PAGES)) {
    const asked = { tenant: TENANT, limit: 100, ...query, ...(cursor !== undefined && { cursor }) }
    const page = await (at % 2 === 0 ? other : store).listDispatches(asked)
    ok(page.items.length <= asked.limit, `a page holds no more than ${asked.limit}`)
    const found = page.items.map(({ dispatchId }) => dispatchId)
    ids.push(...found)
    cursor = page.nextCursor
    if (cursor === undefined) return ids
    await between?.(found)
  }
  throw new Error(`a list has no end: there is a next page after ${MOST_PAGES}`)
}

/** Accepts dispatches a minute apart. */
export async function acceptAll(
  { accept, advance }: StoreHarness,
  dispatches: Readonly<Record<string, GivenDispatch>>,
): Promise<void> {
  for (const [id, given] of Object.entries(dispatches)) {
    await accept(id, given)
    await advance(MINUTE)
  }
}

export function readingCases(): readonly DispatchCase[] {
  return [
    contractCase('a list gives dispatches whole, newest first', async (harness) => {
      const head = { sessionId: 's1', locale: 'de', critical: true } as const
      await acceptAll(harness, {
        one: {},
        two: { ...head, deliveries: [delivery('x'), digested('y', {}, { channel: 'b' })] },
        three: {},
      })
      const { items } = await harness.other.listDispatches({ tenant: TENANT, limit: 100 })
      equal(items, [await harness.found('three'), await harness.found('two'), await harness.found('one')])
    }),

    contractCase('a list may begin with the oldest', async (harness) => {
      await acceptAll(harness, { one: {}, two: {}, three: {} })
      equal(await walk(harness, { first: 'oldest' }), ['one', 'two', 'three'])
      equal(await walk(harness, { first: 'newest' }), ['three', 'two', 'one'])
      equal(await walk(harness, { first: undefined }), ['three', 'two', 'one'])
    }),

    contractCase('a list is of one tenant', async (harness) => {
      await acceptAll(harness, { one: {}, two: { tenant: 't2', sessionId: 's1' }, three: { sessionId: 's1' } })
      equal(await walk(harness, {}), ['three', 'one'])
      equal(await walk(harness, { tenant: 't2' }), ['two'])
      equal(await walk(harness, { sessionId: 's1' }), ['three'])
      equal(await walk(harness, { tenant: 't3' }), [])
      equal(await walk(harness, { tenant: 't2', eventType: 'e', status: 'queued' }), ['two'])
    }),

    contractCase('a list gives those that fit all that is said', async (harness) => {
      await acceptAll(harness, {
        1: { eventType: 'e', recipient: 'r', sessionId: 's' },
        2: { eventType: 'f', recipient: 'r', sessionId: 's' },
        3: { eventType: 'e', recipient: 'q', sessionId: 's' },
        4: { eventType: 'e', recipient: 'r' },
        5: { eventType: 'e', recipient: 'r', sessionId: 't' },
      })
      await harness.store.cancel(TENANT, '5')
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
      for (const [query, ids] of fits) equal(await walk(harness, query), [...ids], JSON.stringify(query))
    }),

    contractCase('a list has a beginning in time that it includes, and an end that it does not', async (harness) => {
      await acceptAll(harness, { 1: {}, 2: {}, 3: {}, 4: {} })
      const at: number[] = []
      for (const id of ['1', '2', '3', '4']) at.push((await harness.found(id)).createdAt)
      const [, second = 0, , fourth = 0] = at
      equal(await walk(harness, { since: second }), ['4', '3', '2'])
      equal(await walk(harness, { since: second + 1 }), ['4', '3'])
      equal(await walk(harness, { until: second }), ['1'])
      equal(await walk(harness, { until: second + 1 }), ['2', '1'])
      equal(await walk(harness, { since: second, until: fourth, first: 'oldest' }), ['2', '3'])
      equal(await walk(harness, { since: second, until: second }), [])
      equal(await walk(harness, { since: undefined, until: undefined }), ['4', '3', '2', '1'])
    }),

    contractCase('a list knows each dispatch by its state, as it is now', async (harness) => {
      const { accept, advance, claimOne, store, fail } = harness
      const pair = (id: string, status: 'queued' | 'held' = 'queued') => ({
        deliveries: [delivery(`${id}-a`), delivery(`${id}-b`, { channel: 'b', status })],
      })
      await accept('partial', pair('partial'))
      await fail()
      await advance(1)
      await accept('first', { route: 'first', ...pair('first', 'held') })
      await fail()
      await accept('cancelled')
      await store.cancel(TENANT, 'cancelled')
      await accept('skipped', { deliveries: [delivery('s', { status: 'skipped', reason: 'condition_false' })] })
      await accept('failed', { deliveries: [delivery('f', { status: 'failed', reason: 'template_error' })] })
      await accept('sent')
      await store.settle({ ...proof(await claimOne()), to: 'sent', attempt: SENT })
      for (const status of ['partial', 'cancelled', 'skipped', 'failed', 'sent'] as const) {
        equal(await walk(harness, { status }), [status])
      }
      const check = async (status: DispatchStatus, ids: readonly string[]) =>
        equal((await walk(harness, { status })).sort(), ids, status)
      await check('queued', ['first'])
      for (let left = 2; left > 0; left--) {
        const claimed = await claimOne('b')
        await check('queued', ['first'])
        await store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
      }
      await check('partial', ['partial'])
      await check('sent', ['first', 'sent'])
      await store.retry(TENANT, 'failed', { expiresInMs: MINUTE })
      await check('queued', ['failed'])
      await check('failed', [])
    }),

    contractCase('a list knows a dispatch by its own part of a digest', async (harness) => {
      for (const id of ['1', '2']) await harness.accept(id, { deliveries: [digested(id)] })
      await harness.store.cancel(TENANT, '1')
      equal(await walk(harness, { status: 'cancelled' }), ['1'])
      equal(await walk(harness, { status: 'queued' }), ['2'])
    }),
  ]
}
