import { equal, ok } from '../assertions.ts'
import { readAll, see } from './reading.ts'
import { decide, keyOf, put, type RunStoreCase, UNTOLD } from './run-fixtures.ts'
import { changesOf, fullTally, sumOf } from './totals-fixtures.ts'

/** What is there for a process that starts when all others have ended. */
export const REOPENING_CASES: readonly RunStoreCase[] = [
  {
    name: 'runs, sessions and sums are there when the store is opened anew, and go on',
    needs: ['durable'],
    async run(trial) {
      const { store } = trial
      const add = fullTally('u', 1, '0.1')
      const tallies = changesOf({
        session: add,
        below: [{ runId: 'p', add }],
        users: [{ userId: 'u', add: add.spend }],
      })
      const key = keyOf('r', { parentRunId: 'p' })
      await put(store, key, { parentRunId: 'p' }, { tallies, failures: [{ runId: 'r', at: 1 }], account: UNTOLD })
      await put(store, keyOf('gone', { sessionId: 'erased' }), {}, { tallies: changesOf({ session: add }) })
      await store.erase('t', { sessionId: 'erased' })
      await store.openSession('t', 'opened')
      const all = async (from: typeof store) => [
        ...(await Promise.all(['s', 'opened', 'erased'].map((id) => from.findSession('t', id)))),
        await from.findSpend('t', 'u', 0),
        await readAll(from),
        await readAll(from, { untold: true }),
        await see(from, key),
        await see(from, keyOf('p')),
      ]
      const before = structuredClone(await all(store))

      const reopened = await trial.reopen?.()
      ok(reopened, 'the trial can be opened anew, or the store does not declare that it is durable')
      equal(await all(reopened), before)
      equal((await decide(reopened, key, { tallies, heard: true }))?.revision, 1)
      equal((await reopened.findSession('t', 's'))?.tally, sumOf(add, add))
      equal((await see(reopened, keyOf('p'))).below, sumOf(add, add))
    },
  },
]
