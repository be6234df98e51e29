import type { RunStore } from '../../ports/run-store.ts'
import { equal } from '../assertions.ts'
import { listIds } from './reading.ts'
import { otherOf, put, QUIET, type RunStoreCase, runIds, runKeyOf, stateOf } from './run-fixtures.ts'
import { countRuns } from './totals-fixtures.ts'

/** So many turns of the promises after a decision the erasure begins, at the latest. */
const TURNS = 12

const OF_USER = { latest: { userId: 'u' } }

type Erased = Parameters<RunStore['erase']>[1]

/** Begins once a store has decided a merge, and so in the middle of it, however quick the store is. Never within the decision. */
async function eraseAfter(turns: number, store: RunStore, of: Erased): Promise<number> {
  for (let turn = 0; turn <= turns; turn++) await Promise.resolve()
  return store.erase('t', of)
}

/** Merges a run below one that is erased meanwhile, and holds what came of both against the two orders that there are. */
async function meet(store: RunStore, other: RunStore, turns: number, of: Erased): Promise<void> {
  for (const runId of runIds(3)) await put(store, runKeyOf(runId), OF_USER, { totalsChanges: countRuns(1, 'p', 'u') })
  const key = runKeyOf('r', { parentRunId: 'r0' })
  let erasing: Promise<number> | undefined
  const { result: sawParent } = await store.mergeRun(key, ({ ancestors }) => {
    erasing ??= eraseAfter(turns, other, of)
    erasing.catch(() => {})
    return {
      result: ancestors[0]?.run !== undefined,
      state: stateOf(key, { ...OF_USER, parentRunId: 'r0' }),
      derived: QUIET,
      totalsChanges: countRuns(1, 'p', 'u'),
    }
  })
  const erased = await erasing
  const { runs } =
    'userId' in of
      ? await store.findSpend('t', 'u', 0)
      : ((await store.findSession('t', 's'))?.totals.spend ?? { runs: 0 })
  equal(
    { sawParent, erased, left: await listIds(store), inSum: runs },
    sawParent ? { sawParent, erased: 4, left: [], inSum: 0 } : { sawParent, erased: 3, left: ['r'], inSum: 1 },
    `the erasure that began ${turns} turns after the decision is before the merge or after it`,
  )
  await store.erase('t', { sessionId: 's' })
  await store.erase('t', { userId: 'u' })
}

/** A case on one handle, and the same case with the erasure on the other. */
function meeting(name: string, of: Erased): readonly RunStoreCase[] {
  const all = async (store: RunStore, other: RunStore): Promise<void> => {
    for (let turns = 0; turns < TURNS; turns++) await meet(store, other, turns, of)
  }
  return [
    { name, run: ({ store }) => all(store, store) },
    {
      name: `${name}, over two handles`,
      needs: ['secondHandle'],
      run: async (trial) => all(trial.store, otherOf(trial)),
    },
  ]
}

/** Erasures in the middle of a merge. */
export const ERASE_RACE_CASES: readonly RunStoreCase[] = [
  ...meeting('a session is erased before a merge that it meets or after it, and neither is lost', { sessionId: 's' }),
  ...meeting('a user is erased before a merge that they meet or after it, and neither is lost', { userId: 'u' }),
]
