import type { StoredRun } from '../../ports/run-store.ts'
import { equal, ok } from '../assertions.ts'
import { QUIET, runIds, runIdsOf, runKeyOf } from './run-fixtures.ts'
import { type RunStoreCase, runCases } from './run-harness.ts'

const ORDERS = ['oldest', 'newest'] as const

export const pagingCases: readonly RunStoreCase[] = runCases([], {
  'pages of any length contain each run once and in order': async (t) => {
    const ids = runIds(13)
    await t.putEach(ids.map((runId) => runKeyOf(runId)))
    for (const limit of [1, 2, 3, 12, 13, 14, 1_000]) {
      equal(await t.ids({ limit }), ids)
      equal(await t.ids({ limit, first: 'newest', tenant: 't' }), ids.toReversed())
    }
  },
  'pages with a filter contain each fitting run once': async (t) => {
    const ids = runIds(30)
    for (const [at, runId] of ids.entries()) {
      await t.advance(1_000)
      await t.put(runId, { tags: at % 7 === 2 ? ['a'] : [] })
    }
    const fitting = ids.filter((_, at) => at % 7 === 2)
    for (const limit of [1, 2, 3, 4]) {
      equal(await t.ids({ tag: 'a', limit }), fitting)
      equal(await t.ids({ tag: 'a', limit, first: 'newest' }), fitting.toReversed())
    }
  },
  'runs created in the same millisecond are each listed once': async (t) => {
    const ids = runIds(20)
    for (const runId of ids) await t.put(runId)
    for (const first of ORDERS)
      for (const limit of [1, 3, 20]) {
        const listed = await t.ids({ first, limit })
        equal([...listed].sort(), [...ids].sort())
      }
  },
  'paging through runs stays complete while runs are added, changed and removed': async (t) => {
    for (const first of ORDERS) {
      const sessionId = first
      const ids = runIds(24, first)
      await t.putEach(ids.map((runId) => runKeyOf(runId, { sessionId })))
      let pages = 0
      const listed = await t.list({ sessionId, first, limit: 3 }, async (read) => {
        pages += 1
        for (const { state } of read.slice(1))
          await t.put(runKeyOf(state.runId, { sessionId }), { status: 'completed' })
        await t.advance(5_000)
        await t.store.removeRuns({ status: ['completed'], unchangedForMs: 1_000, limit: 10 })
        await t.put(runKeyOf(`added-${first}${pages}`, { sessionId }), { status: 'waiting' })
      })
      const old = runIdsOf(listed).filter((runId) => !runId.startsWith('added'))
      equal(old, first === 'oldest' ? ids : ids.toReversed())
      equal(new Set(runIdsOf(listed)).size, listed.length, 'no run is listed twice')
    }
  },
  'paging through runs continues after a removed run and an erased session': async (t) => {
    for (const first of ORDERS) {
      const keys = runIds(6, first).map((runId) => runKeyOf(runId, { sessionId: runId }))
      await t.putEach(keys)
      const listed = await t.list({ limit: 1, first }, async ([read]) => {
        if (read) await t.store.erase('t', { sessionId: read.state.sessionId })
      })
      const ids = keys.map(({ runId }) => runId)
      equal(runIdsOf(listed), first === 'oldest' ? ids : ids.toReversed())
      for (const sessionId of ids) await t.store.erase('t', { sessionId })
    }
  },
  'paging through a filter is complete while its runs stop fitting': async (t) => {
    const ids = runIds(11)
    await t.putEach(
      ids.map((runId) => runKeyOf(runId)),
      { status: 'running' },
    )
    const end = async (read: readonly StoredRun[]): Promise<void> => {
      await t.advance(1_000)
      for (const { state } of read) await t.put(state.runId, { status: 'expired' })
    }
    equal(runIdsOf(await t.list({ status: ['running'], limit: 2 }, end)), ids)
    for (const runId of ids) await t.decide(runId, { derived: { ended: [], pending: ['expired'] } })
    const tell = async (read: readonly StoredRun[]): Promise<void> => {
      for (const { state } of read) await t.decide(state.runId, { derived: QUIET })
    }
    equal(runIdsOf(await t.list({ pending: true, limit: 2 }, tell)), ids)
  },
  'an invalid cursor lists at most the runs that fit': async (t) => {
    await t.put('r')
    const texts = ['', ' ', ...'x -1 0 1.5 1e9 999999999999999 99999999999999999999 NaN __proto__'.split(' ')]
    const odd = [
      ...["' OR 1=1 --", '\u{1f600}', '{"at":1}', '[]', 'null'],
      ...['e30=', '1:2:3', '1,2', '%00', 'x'.repeat(10_000)],
    ]
    for (const cursor of [...texts, ...odd])
      for (const first of ORDERS) {
        const { items } = await t.store.listRuns({ tenant: 't', cursor, first, limit: 5 })
        ok(
          items.length <= 1 && items.every(({ state }) => state.runId === 'r'),
          `the cursor ${cursor} lists only runs that fit`,
        )
      }
  },
  'a cursor of another list never shows runs that do not fit': async (t) => {
    await t.putEach(runIds(3, 'mine').map((runId) => runKeyOf(runId)))
    await t.putEach(runIds(3, 'theirs').map((runId) => runKeyOf(runId, { tenant: 'other' })))
    for (const first of ORDERS) {
      const { nextCursor } = await t.store.listRuns({ tenant: 'other', limit: 1, first })
      ok(nextCursor, 'a list of three has a next page after one')
      for (const back of ORDERS) {
        const items = await t.list({ tenant: 't', limit: 2, cursor: nextCursor, first: back })
        ok(
          items.every(({ tenant }) => tenant === 't'),
          'a cursor does not lead to another tenant',
        )
      }
    }
  },
})
