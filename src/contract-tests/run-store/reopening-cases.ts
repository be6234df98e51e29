import { equal, ok } from '../assertions.ts'
import { readAll, see } from './reading.ts'
import { decide, PENDING, put, type RunStoreCase, runKeyOf } from './run-fixtures.ts'
import { changesOf, fullTotals, sumOf } from './totals-fixtures.ts'

/** What is there for a process that starts when all others have ended. */
export const REOPENING_CASES: readonly RunStoreCase[] = [
  {
    name: 'runs, sessions and sums are there when the store is opened anew, and go on',
    needs: ['durable'],
    async run(trial) {
      const { store } = trial
      const add = fullTotals('u', 1, '0.1')
      const totalsChanges = changesOf({
        session: add,
        descendants: [{ runId: 'p', add }],
        users: [{ userId: 'u', add: add.spend }],
      })
      const key = runKeyOf('r', { parentRunId: 'p' })
      await put(
        store,
        key,
        { parentRunId: 'p' },
        { totalsChanges, failures: [{ runId: 'r', at: 1 }], derived: PENDING },
      )
      await put(store, runKeyOf('gone', { sessionId: 'erased' }), {}, { totalsChanges: changesOf({ session: add }) })
      await store.erase('t', { sessionId: 'erased' })
      await store.openSession('t', 'opened')
      const all = async (from: typeof store) => [
        ...(await Promise.all(['s', 'opened', 'erased'].map((id) => from.findSession('t', id)))),
        await from.findSpend('t', 'u', 0),
        await readAll(from),
        await readAll(from, { pending: true }),
        await see(from, key),
        await see(from, runKeyOf('p')),
      ]
      const before = structuredClone(await all(store))

      const reopened = await trial.reopen?.()
      ok(reopened, 'the trial can be opened anew, or the store does not declare that it is durable')
      equal(await all(reopened), before)
      equal((await decide(reopened, key, { totalsChanges, touched: true }))?.revision, 1)
      equal((await reopened.findSession('t', 's'))?.totals, sumOf(add, add))
      equal((await see(reopened, runKeyOf('p'))).descendants, sumOf(add, add))
    },
  },
]
