import { equal } from '../assertions.ts'
import { adding, addingAll, fullTotals, PENDING, QUIET, runKeyOf, stateOf, sumOf } from './run-fixtures.ts'
import { type RunHarness, type RunStoreCase, runCases } from './run-harness.ts'
import { everyPart } from './states.ts'

export const runProcessCases: readonly RunStoreCase[] = [
  ...runCases(['secondHandle'], {
    'a change of a run through one handle is visible through the other at once': async (t) => {
      const other = t.through(t.other)
      const run = await t.put('r', everyPart())
      equal(await other.run('r'), run)
      equal((await other.see('r')).run, run)
      equal(await other.ids(), ['r'])
      equal(await other.session(), await t.session())
      const again = await other.decide('r', { state: stateOf(runKeyOf('r')), derived: QUIET })
      equal(await t.run('r'), again)
      equal(again?.revision, 2)
      equal(await t.other.openSession('t', 'new'), await t.store.openSession('t', 'new'))
      equal(await t.other.erase('t', { sessionId: 's' }), 1)
      equal(await t.run('r'), undefined)
    },
  }),
  ...runCases(['durable'], {
    'runs, sessions and totals survive reopening': async (t) => {
      const add = fullTotals('u', 1, '0.1')
      const key = runKeyOf('r', { parentRunId: 'p' })
      const failures = [{ runId: 'r', at: 1 }]
      await t.put(key, { parentRunId: 'p' }, { ...addingAll(add), failures, derived: PENDING })
      await t.put(runKeyOf('gone', { sessionId: 'erased' }), {}, adding({ session: add }))
      await t.store.erase('t', { sessionId: 'erased' })
      await t.store.openSession('t', 'opened')
      const all = async (from: RunHarness) => [
        ...(await Promise.all(['s', 'opened', 'erased'].map((id) => from.session(id)))),
        ...[await from.spend(), await from.list(), await from.list({ pending: true })],
        ...[await from.see(key), await from.see('p')],
      ]
      const before = structuredClone(await all(t))
      const reopened = await t.reopen()
      equal(await all(reopened), before)
      equal((await reopened.decide(key, { ...addingAll(add), touched: true }))?.revision, 1)
      equal((await reopened.session())?.totals, sumOf(add, add))
      equal(await reopened.descendants('p'), sumOf(add, add))
    },
  }),
]
