import type { MergeDecision, MergeSnapshot, RunStore } from '../../ports/run-store.ts'
import { equal } from '../assertions.ts'
import { readAll, runIdsOf, see } from './reading.ts'
import { otherOf, put, QUIET, type RunStoreCase, type RunTrial, runIds, runKeyOf, stateOf } from './run-fixtures.ts'
import { changesOf, countRuns, spendOf, totalsOf } from './totals-fixtures.ts'

const MANY = 100
const ONE = spendOf({ runs: 1, tokens: 3, cost: { USD: '0.1' } })

/** Given the handles by turns. */
type Turns = (at: number) => RunStore

/** A case that calls one handle many times at once, and the same case over two handles by turns. */
function race(name: string, run: (trial: RunTrial, turn: Turns) => Promise<void>): readonly RunStoreCase[] {
  return [
    { name, run: (trial) => run(trial, () => trial.store) },
    {
      name: `${name}, over two handles`,
      needs: ['secondHandle'],
      async run(trial) {
        const handles = [trial.store, otherOf(trial)] as const
        await run(trial, (at) => handles[at % 2 === 0 ? 0 : 1])
      },
    },
  ]
}

/** Waits for all of them, however they end, and throws what the first of them threw. */
async function together<T>(count: number, start: (at: number) => Promise<T>): Promise<readonly T[]> {
  const settled = await Promise.allSettled(Array.from({ length: count }, (_, at) => start(at)))
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/** Adds one to what the run, its session, what is above it and its user come to. Gives how many the session had before. */
function countUp(
  runId: string,
  sessionId: string,
  snapshot: MergeSnapshot,
  users: readonly string[],
): MergeDecision<number> {
  const steps = (snapshot.run?.state.counts.steps ?? 0) + 1
  return {
    result: snapshot.session?.totals.spend.runs ?? 0,
    state: stateOf(runKeyOf(runId, { sessionId }), { counts: { steps } }),
    derived: QUIET,
    totalsChanges: { ...countRuns(1, 'p', ''), users: users.map((userId) => ({ userId, add: ONE })) },
  }
}

function zeroTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at)
}

/** Calls that come at the same time. */
export const RACE_CASES: readonly RunStoreCase[] = [
  ...race(`of ${MANY} merges of one run at once, each sees what the ones before wrote`, async ({ store }, turn) => {
    const merges = await together(MANY, (at) =>
      turn(at).mergeRun(runKeyOf('r'), (snapshot) => countUp('r', 's', snapshot, ['u'])),
    )
    equal(sorted(merges.map(({ result }) => result)), zeroTo(MANY))
    equal(
      sorted(merges.map(({ run }) => run?.revision ?? 0)),
      zeroTo(MANY).map((at) => at + 1),
    )
    for (const { result, run } of merges) equal(run?.state.counts, { steps: result + 1 })
    const run = await store.findRun('t', 'r')
    equal([run?.revision, run?.state.counts], [MANY, { steps: MANY }])
    equal((await store.findSpend('t', 'u', 0)).runs, MANY)
  }),

  ...race(
    `of merges of ${MANY} runs of one session at once, each sees what the ones before added`,
    async ({ store }, turn) => {
      const merges = await together(MANY, (at) =>
        turn(at).mergeRun(runKeyOf(`r${at}`), (snapshot) => countUp(`r${at}`, 's', snapshot, ['u'])),
      )
      equal(sorted(merges.map(({ result }) => result)), zeroTo(MANY))
      equal((await store.findSession('t', 's'))?.totals.spend.runs, MANY)
      equal((await see(store, runKeyOf('p'))).descendants?.spend.runs, MANY)
      equal(await store.findSpend('t', 'u', 0), { ...ONE, runs: MANY, tokens: 3 * MANY, cost: { USD: '10' } })
      equal((await readAll(store, { limit: 30 })).length, MANY)
    },
  ),

  ...race(`what one user spends in ${MANY} merges over ten sessions at once adds up`, async ({ store }, turn) => {
    await together(MANY, (at) => {
      const sessionId = `s${at % 10}`
      return turn(at).mergeRun(runKeyOf(`r${at}`, { sessionId }), (snapshot) =>
        countUp(`r${at}`, sessionId, snapshot, ['u']),
      )
    })
    equal(await store.findSpend('t', 'u', 0), { ...ONE, runs: MANY, tokens: 3 * MANY, cost: { USD: '10' } })
    for (const at of zeroTo(10)) equal((await store.findSession('t', `s${at}`))?.totals.spend.runs, MANY / 10)
  }),

  ...race('merges at once that add to the same users in different orders all come through', async ({ store }, turn) => {
    const users = ['u0', 'u1', 'u2', 'u3']
    await together(60, (at) => {
      const sessionId = `s${at}`
      const order = [...users.slice(at % 4), ...users.slice(0, at % 4)]
      const inTurn = at % 2 === 0 ? order : order.reverse()
      return turn(at).mergeRun(runKeyOf(`r${at}`, { sessionId }), (snapshot) =>
        countUp(`r${at}`, sessionId, snapshot, inTurn),
      )
    })
    for (const userId of users) equal((await store.findSpend('t', userId, 0)).runs, 60)
  }),

  ...race('one run id posted to two sessions at once becomes one run', async ({ store }, turn) => {
    for (const runId of runIds(10)) {
      const sessions = [`${runId}-one`, `${runId}-two`]
      const merges = await together(10, (at) => {
        const key = runKeyOf(runId, { sessionId: `${sessions[at % 2]}` })
        return turn(at % 4 < 2 ? 0 : 1).mergeRun(key, ({ run }) =>
          run ? { result: run.state.sessionId } : { result: 'created', state: stateOf(key), derived: QUIET },
        )
      })
      const run = await store.findRun('t', runId)
      const results = merges.map(({ result }) => result)
      equal(results.filter((result) => result === 'created').length, 1, 'one of them creates it')
      equal(results.filter((result) => result === run?.state.sessionId).length, 9, 'the others see it where it is')
      equal(run?.revision, 1)
      const opened = await Promise.all(sessions.map((sessionId) => store.findSession('t', sessionId)))
      equal(opened.filter((session) => session !== undefined).length, 1, 'the other session is not opened')
    }
    equal(sorted(runIdsOf(await readAll(store))), sorted(runIds(10)))
  }),

  ...race('of a run and the first below it, merged at once, exactly one sees the other', async ({ store }, turn) => {
    await store.openSession('t', 's')
    for (const runId of runIds(20)) {
      const parent = turn(0).mergeRun(runKeyOf(runId), ({ descendants }) => ({
        result: descendants !== undefined,
        state: stateOf(runKeyOf(runId)),
        derived: QUIET,
      }))
      const key = runKeyOf(`below-${runId}`, { parentRunId: runId })
      const child = turn(1).mergeRun(key, ({ ancestors }) => ({
        result: ancestors[0]?.run !== undefined,
        state: stateOf(key, { parentRunId: runId }),
        derived: QUIET,
        totalsChanges: changesOf({ descendants: [{ runId, add: totalsOf({ spend: ONE }) }] }),
      }))
      const saw = (await Promise.all([parent, child])).map(({ result }) => result)
      equal(sorted(saw), [false, true], 'only the one that comes second sees the other')
    }
  }),

  ...race('a session that is opened many times at once is one session', async ({ store }, turn) => {
    const sessions = await together(20, (at) => turn(at).openSession('t', 's'))
    const found = await store.findSession('t', 's')
    for (const session of sessions) equal(session, found)
  }),

  ...race('removals at once remove each run once, and count it once', async ({ store, advance }, turn) => {
    for (const runId of runIds(40)) await put(store, runKeyOf(runId), { status: 'completed' })
    await advance(10_000)
    const query = { status: ['completed'], unchangedForMs: 1_000, limit: 15 } as const
    const counts = await together(8, (at) => turn(at).removeRuns(query))
    let removed = counts.reduce((sum, count) => sum + count, 0)
    // One that met another may have left something to the next.
    for (let count = 1; count > 0; removed += count) count = await store.removeRuns(query)
    equal(removed, 40)
    equal(await readAll(store), [])
  }),

  ...race(
    'a session that is erased among merges has the runs and the sums of those that came after',
    async ({ store }, turn) => {
      const count = 60
      const erased: number[] = []
      await together(count + 2, async (at) => {
        if (at % 20 === 10) return void erased.push(await turn(at / 10).erase('t', { sessionId: 's' }))
        await turn(at).mergeRun(runKeyOf(`r${at}`), (snapshot) => countUp(`r${at}`, 's', snapshot, []))
      })
      const left = await readAll(store)
      const session = await store.findSession('t', 's')
      equal(session?.totals.spend.runs ?? 0, left.length, 'a sum has just the runs that are left')
      equal((await see(store, runKeyOf('p'))).descendants?.spend.runs ?? 0, left.length)
      equal(
        left.length + erased.reduce((sum, runs) => sum + runs, 0),
        count + 2 - erased.length,
        'each run is left or erased',
      )
    },
  ),
]

function sorted<T>(values: readonly T[]): readonly T[] {
  return [...values].sort((a, b) => (a < b ? -1 : 1))
}
