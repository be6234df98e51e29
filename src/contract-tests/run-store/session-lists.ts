import type { StoredSession } from '../../ports/run-store.ts'
import type { SessionQuery } from '../../ports/session-query.ts'
import { equal } from '../assertions.ts'
import { readPages } from '../store-cases.ts'
import { runIds, runKeyOf } from './run-fixtures.ts'
import { type RunHarness, type RunStoreCase, runCases } from './run-harness.ts'

/** Reads a list page by page, and runs `between` between pages. */
function listed(
  { other }: RunHarness,
  query: Partial<SessionQuery> = {},
  between?: (read: readonly StoredSession[]) => Promise<void>,
): Promise<readonly StoredSession[]> {
  const { limit = 100 } = query
  return readPages(
    limit,
    (cursor = query.cursor) => other.listSessions({ tenant: 't', ...query, limit, cursor }),
    between,
  )
}

async function ids(...of: Parameters<typeof listed>): Promise<readonly string[]> {
  return (await listed(...of)).map(({ sessionId }) => sessionId)
}

/** Opens sessions a second apart, every other one by its first run. */
async function openEach(t: RunHarness, sessionIds: readonly string[]): Promise<void> {
  for (const [at, sessionId] of sessionIds.entries()) {
    await t.advance(1_000)
    if (at % 2 === 0) await t.store.openSession('t', sessionId)
    else await t.put(runKeyOf('r', { sessionId }))
  }
}

export const sessionListCases: readonly RunStoreCase[] = runCases([], {
  'sessions are listed by creation, page by page, each once': async (t) => {
    const opened = runIds(9)
    await openEach(t, opened)
    for (const limit of [1, 2, 3, 8, 9, 10]) {
      equal(await ids(t, { limit }), opened.toReversed())
      equal(await ids(t, { limit, first: 'newest' }), opened.toReversed())
      equal(await ids(t, { limit, first: 'oldest' }), opened)
    }
    equal(await t.other.listSessions({ tenant: 't', limit: 1, cursor: 'not a cursor' }), {
      ...(await t.other.listSessions({ tenant: 't', limit: 1 })),
    })
  },
  'a listed session equals the session that is found': async (t) => {
    await openEach(t, ['a', 'b'])
    equal(await listed(t, { first: 'oldest' }), [
      await t.store.findSession('t', 'a'),
      await t.store.findSession('t', 'b'),
    ])
  },
  'a change of a session does not move it in the list': async (t) => {
    await openEach(t, ['a', 'b'])
    await t.advance(1_000)
    await t.put(runKeyOf('later', { sessionId: 'a' }), { status: 'completed' })
    await t.store.openSession('t', 'a')
    equal(await ids(t), ['b', 'a'])
  },
  'listSessions returns the sessions of one tenant': async (t) => {
    await openEach(t, ['a', 'b'])
    await t.put(runKeyOf('r', { tenant: 'other', sessionId: 'c' }))
    await t.put(runKeyOf('r', { tenant: 'other', sessionId: 'a' }))
    equal(await ids(t), ['b', 'a'])
    equal([...(await ids(t, { tenant: 'other' }))].sort(), ['a', 'c'])
    equal(await ids(t, { tenant: 'nobody' }), [])
  },
  'since and until limit sessions by creation': async (t) => {
    await openEach(t, runIds(6))
    const all = await listed(t, { first: 'oldest' })
    const [since, until] = [all[2]?.createdAt ?? 0, all[4]?.createdAt ?? 0]
    const named = (sessions: readonly StoredSession[]): readonly string[] => sessions.map(({ sessionId }) => sessionId)
    for (const first of ['oldest', 'newest'] as const)
      for (const limit of [1, 2, 100]) {
        const inOrder = (sessions: readonly StoredSession[]): readonly string[] =>
          first === 'oldest' ? named(sessions) : named(sessions).toReversed()
        equal(await ids(t, { since, first, limit }), inOrder(all.slice(2)))
        equal(await ids(t, { until, first, limit }), inOrder(all.slice(0, 4)))
        equal(await ids(t, { since, until, first, limit }), inOrder(all.slice(2, 4)))
        equal(await ids(t, { since: until, until: since, first, limit }), [])
      }
  },
  'sessions created in the same millisecond are each listed once': async (t) => {
    const opened = runIds(20)
    for (const sessionId of opened) await t.store.openSession('t', sessionId)
    for (const first of ['oldest', 'newest'] as const)
      for (const limit of [1, 3, 20]) equal([...(await ids(t, { first, limit }))].sort(), [...opened].sort())
  },
  'an erased session is not listed, and is new when it is created again': async (t) => {
    await openEach(t, ['a', 'b', 'c'])
    await t.store.erase('t', { sessionId: 'b' })
    await t.store.erase('t', { sessionId: 'c' })
    equal(await ids(t), ['a'])
    await t.advance(1_000)
    await t.store.openSession('t', 'b')
    equal(await ids(t), ['b', 'a'])
  },
  'paging through sessions is complete while sessions are added and erased': async (t) => {
    for (const first of ['oldest', 'newest'] as const) {
      const opened = runIds(12, first)
      await openEach(t, opened)
      let added = 0
      const read = await ids(t, { first, limit: 2 }, async (page) => {
        for (const { sessionId } of page) await t.store.erase('t', { sessionId })
        await t.advance(1_000)
        await t.store.openSession('t', `added${++added}`)
      })
      equal(
        read.filter((sessionId) => opened.includes(sessionId)),
        first === 'oldest' ? opened : opened.toReversed(),
      )
      equal(new Set(read).size, read.length, 'no session is listed twice')
      for (const sessionId of await ids(t)) await t.store.erase('t', { sessionId })
    }
  },
})
