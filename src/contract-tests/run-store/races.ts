import type { MergeDecision, MergeSnapshot, RunStore } from '../../ports/run-store.ts'
import { equal } from '../assertions.ts'
import { adding, countRuns, QUIET, runIds, runKeyOf, spendOf, stateOf, totalsOf } from './run-fixtures.ts'
import { type RunHarness, type RunStoreCase, runCases } from './run-harness.ts'

const MANY = 100
const ONE = spendOf({ runs: 1, tokens: 3, cost: { USD: '0.1' } })
const OF_USER = { latest: { userId: 'u' } }

/** Maximum microtasks between a decision and the start of an erasure. */
const MAX_TURNS = 12

type Erased = Parameters<RunStore['erase']>[1]

/** Alternates between handles. */
type Turns = (at: number) => RunStore

/** Runs each case of the table on one handle, and on two alternating handles. */
function concurrently(
  table: Readonly<Record<string, (t: RunHarness, turn: Turns) => Promise<void>>>,
): readonly RunStoreCase[] {
  const on = (suffix: string, turnsOf: (t: RunHarness) => Turns) =>
    Object.fromEntries(
      Object.entries(table).map(([name, run]) => [`${name}${suffix}`, (t: RunHarness) => run(t, turnsOf(t))]),
    )
  return [
    ...runCases(
      [],
      on('', (t) => () => t.store),
    ),
    ...runCases(
      ['secondHandle'],
      on(', over two handles', (t) => (at) => (at % 2 === 0 ? t.store : t.other)),
    ),
  ]
}

/** Starts all calls, waits for all, and throws the first error. */
async function together<T>(count: number, start: (at: number) => Promise<T>): Promise<readonly T[]> {
  const settled = await Promise.allSettled(zeroTo(count).map(start))
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/** Adds one to the run, its session, the run `p` and the users. The result is the previous number of runs in the session. */
function countUp(
  runId: string,
  sessionId: string,
  snapshot: MergeSnapshot,
  users: readonly string[],
): MergeDecision<number> {
  const steps = (snapshot.run?.state.application?.counts.steps ?? 0) + 1
  return {
    result: snapshot.session?.totals.spend.runs ?? 0,
    state: stateOf({ runId, sessionId }, { counts: { steps } }),
    derived: QUIET,
    totalsChanges: { ...countRuns(1, 'p', ''), users: users.map((userId) => ({ userId, add: ONE })) },
  }
}

/** Begins an erasure some microtasks after a decision: during the merge, but never within the decision. */
async function eraseAfter(turns: number, store: RunStore, of: Erased): Promise<number> {
  for (let turn = 0; turn <= turns; turn++) await Promise.resolve()
  return store.erase('t', of)
}

/** Merges a run whose parent is erased concurrently. Fails unless the result matches one of the two orders. */
async function eraseDuringMerge(t: RunHarness, other: RunStore, turns: number, of: Erased): Promise<void> {
  for (const runId of runIds(3)) await t.put(runId, OF_USER, { totalsChanges: countRuns(1, 'p', 'u') })
  const key = runKeyOf('r', { parentRunId: 'r0' })
  let erasing: Promise<number> | undefined
  const { result: sawParent } = await t.store.mergeRun(key, ({ newAncestors }) => {
    erasing ??= eraseAfter(turns, other, of)
    erasing.catch(() => {})
    return {
      result: newAncestors?.[0]?.run !== undefined,
      state: stateOf(key, { ...OF_USER, parentRunId: 'r0' }),
      derived: QUIET,
      totalsChanges: countRuns(1, 'p', 'u'),
    }
  })
  const erased = await erasing
  const { runs } = 'userId' in of ? await t.spend() : ((await t.session())?.totals.spend ?? { runs: 0 })
  equal(
    { sawParent, erased, left: await t.ids(), inSum: runs },
    sawParent ? { sawParent, erased: 4, left: [], inSum: 0 } : { sawParent, erased: 3, left: ['r'], inSum: 1 },
    `an erasure that begins ${turns} microtasks after the decision happens before the merge or after it`,
  )
  await t.store.erase('t', { sessionId: 's' })
  await t.store.erase('t', { userId: 'u' })
}

function zeroTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at)
}

function sorted<T>(values: readonly T[]): readonly T[] {
  return [...values].sort((a, b) => (a < b ? -1 : 1))
}

export const runRaceCases: readonly RunStoreCase[] = concurrently({
  [`of ${MANY} concurrent merges of one run each sees the state of the ones before`]: async (t, turn) => {
    const merges = await together(MANY, (at) =>
      turn(at).mergeRun(runKeyOf('r'), (snapshot) => countUp('r', 's', snapshot, ['u'])),
    )
    equal(sorted(merges.map(({ result }) => result)), zeroTo(MANY))
    equal(sorted(merges.map(({ run }) => (run?.revision ?? 0) - 1)), zeroTo(MANY))
    for (const { result, run } of merges) equal(run?.state.application?.counts, { steps: result + 1 })
    const run = await t.run('r')
    equal([run?.revision, run?.state.application?.counts], [MANY, { steps: MANY }])
    equal((await t.spend()).runs, MANY)
  },
  [`of concurrent merges of ${MANY} runs of one session each sees the totals of the ones before`]: async (t, turn) => {
    const merges = await together(MANY, (at) =>
      turn(at).mergeRun(runKeyOf(`r${at}`), (snapshot) => countUp(`r${at}`, 's', snapshot, ['u'])),
    )
    equal(sorted(merges.map(({ result }) => result)), zeroTo(MANY))
    equal((await t.session())?.totals.spend.runs, MANY)
    equal((await t.descendants('p'))?.spend.runs, MANY)
    equal(await t.spend(), { ...ONE, runs: MANY, tokens: 3 * MANY, cost: { USD: '10' } })
    equal((await t.list({ limit: 30 })).length, MANY)
  },
  [`the spend of one user adds up over ${MANY} concurrent merges in ten sessions`]: async (t, turn) => {
    await together(MANY, (at) => {
      const key = runKeyOf(`r${at}`, { sessionId: `s${at % 10}` })
      return turn(at).mergeRun(key, (snapshot) => countUp(key.runId, key.sessionId, snapshot, ['u']))
    })
    equal(await t.spend(), { ...ONE, runs: MANY, tokens: 3 * MANY, cost: { USD: '10' } })
    for (const at of zeroTo(10)) equal((await t.session(`s${at}`))?.totals.spend.runs, MANY / 10)
  },
  'concurrent merges that add to the same users in different orders all succeed': async (t, turn) => {
    const users = ['u0', 'u1', 'u2', 'u3']
    await together(60, (at) => {
      const key = runKeyOf(`r${at}`, { sessionId: `s${at}` })
      const order = [...users.slice(at % 4), ...users.slice(0, at % 4)]
      const inTurn = at % 2 === 0 ? order : order.reverse()
      return turn(at).mergeRun(key, (snapshot) => countUp(key.runId, key.sessionId, snapshot, inTurn))
    })
    for (const userId of users) equal((await t.spend(userId)).runs, 60)
  },
  'one run id posted concurrently to two sessions becomes one run in each': async (t, turn) => {
    for (const runId of runIds(10)) {
      const sessions = [`${runId}-one`, `${runId}-two`]
      const merges = await together(10, (at) => {
        const key = runKeyOf(runId, { sessionId: `${sessions[at % 2]}` })
        return turn(at % 4 < 2 ? 0 : 1).mergeRun(key, (snapshot) => countUp(runId, key.sessionId, snapshot, []))
      })
      for (const [at, sessionId] of sessions.entries()) {
        const own = merges.filter((_, merge) => merge % 2 === at)
        equal(sorted(own.map(({ result }) => result)), zeroTo(5), 'a merge sees only the merges of its session')
        const run = await t.run(runKeyOf(runId, { sessionId }))
        equal([run?.state.sessionId, run?.state.application?.counts, run?.revision], [sessionId, { steps: 5 }, 5])
        equal((await t.session(sessionId))?.totals.spend.runs, 5)
      }
    }
    equal((await t.list()).length, 20)
  },
  'of a concurrently merged run and its first child exactly one sees the other': async (t, turn) => {
    await t.store.openSession('t', 's')
    for (const runId of runIds(20)) {
      const parent = turn(0).mergeRun(runKeyOf(runId), ({ descendants }) => ({
        result: descendants !== undefined,
        state: stateOf(runKeyOf(runId)),
        derived: QUIET,
      }))
      const key = runKeyOf(`below-${runId}`, { parentRunId: runId })
      const child = turn(1).mergeRun(key, ({ newAncestors }) => ({
        result: newAncestors?.[0]?.run !== undefined,
        state: stateOf(key, { parentRunId: runId }),
        derived: QUIET,
        ...adding({ descendants: [{ runId, add: totalsOf({ spend: ONE }) }] }),
      }))
      const saw = (await Promise.all([parent, child])).map(({ result }) => result)
      equal(sorted(saw), [false, true], 'only the second merge sees the other run')
    }
  },
  'concurrent openSession calls open one session': async (t, turn) => {
    const sessions = await together(20, (at) => turn(at).openSession('t', 's'))
    const found = await t.session()
    for (const session of sessions) equal(session, found)
  },
  'concurrent removals remove and count each run once': async (t, turn) => {
    for (const runId of runIds(40)) await t.put(runId, { status: 'completed' })
    await t.advance(10_000)
    const query = { status: ['completed'], unchangedForMs: 1_000, limit: 15 } as const
    const counts = await together(8, (at) => turn(at).removeRuns(query))
    let removed = counts.reduce((sum, count) => sum + count, 0)
    // After a conflict, a removal may leave runs to the next one.
    for (let count = 1; count > 0; removed += count) count = await t.store.removeRuns(query)
    equal(removed, 40)
    equal(await t.list(), [])
  },
  'a session erased during merges has the runs and totals of later merges only': async (t, turn) => {
    const count = 60
    const erased: number[] = []
    await together(count + 2, async (at) => {
      if (at % 20 === 10) return void erased.push(await turn(at / 10).erase('t', { sessionId: 's' }))
      await turn(at).mergeRun(runKeyOf(`r${at}`), (snapshot) => countUp(`r${at}`, 's', snapshot, []))
    })
    const left = await t.list()
    equal((await t.session())?.totals.spend.runs ?? 0, left.length, 'the totals count exactly the runs that are left')
    equal((await t.descendants('p'))?.spend.runs ?? 0, left.length)
    const gone = erased.reduce((sum, runs) => sum + runs, 0)
    equal(left.length + gone, count + 2 - erased.length, 'each run is left or erased')
  },
  'a session erased during a merge is erased before or after it': async (t, turn) => {
    for (let turns = 0; turns < MAX_TURNS; turns++) await eraseDuringMerge(t, turn(1), turns, { sessionId: 's' })
  },
  'a user erased during a merge is erased before or after it': async (t, turn) => {
    for (let turns = 0; turns < MAX_TURNS; turns++) await eraseDuringMerge(t, turn(1), turns, { userId: 'u' })
  },
  'concurrent merges of one run store and return the last decision': async (_t, turn) => {
    let times = 0
    const merges = Array.from({ length: 20 }, (_, at) =>
      turn(at).mergeRun(runKeyOf('r'), () => {
        const counts = { times: ++times }
        return { result: counts.times, state: stateOf(runKeyOf('r'), { counts }), derived: QUIET }
      }),
    )
    const results = await Promise.all(merges)
    for (const { result, run } of results) equal(run?.state.application?.counts, { times: result })
  },
})
