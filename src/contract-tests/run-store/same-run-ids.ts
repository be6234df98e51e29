import { noSpend } from '../../model/totals.ts'
import type { MergeKey, RunAncestor } from '../../ports/run-store.ts'
import { equal } from '../assertions.ts'
import { changesOf, fullTotals, PENDING, QUIET, runKeyOf, stateOf } from './run-fixtures.ts'
import { type RunHarness, type RunStoreCase, runCases } from './run-harness.ts'

const MINUTE = 60_000

/** Sessions that each have a run `r` with a parent `p`. */
const SESSIONS = ['s', 'S', 'other', 's.r', '__proto__'] as const

function inSession(sessionId: string, runId = 'r', more: Partial<MergeKey> = {}): MergeKey {
  return runKeyOf(runId, { sessionId, ...more })
}

/** Puts the runs `p` and `r` in every session, a minute apart, each with its own counts, user, tags and totals. */
async function putInEach(t: RunHarness): Promise<void> {
  for (const [at, sessionId] of SESSIONS.entries()) {
    await t.advance(MINUTE)
    await t.put(inSession(sessionId, 'p'), { status: 'running' })
    await t.advance(1_000)
    const add = fullTotals('a', at + 1, '0.1')
    const users = [{ userId: `u${at}`, add: add.spend }]
    const totalsChanges = changesOf({ session: add, descendants: [{ runId: 'p', add }], users })
    const failures = [{ runId: 'r', at }]
    const latest = { userId: `u${at}`, provider: 'o', model: 'm' }
    const state = {
      parentRunId: 'p',
      status: 'completed',
      counts: { steps: at },
      latest,
      tags: [`t${at}`, 'all'],
    } as const
    await t.put(inSession(sessionId), state, { totalsChanges, failures })
  }
}

/** Checks that these sessions have exactly what {@link putInEach} put. */
async function expectIntact(t: RunHarness, sessionIds: readonly string[]): Promise<void> {
  for (const [at, sessionId] of SESSIONS.entries()) {
    if (!sessionIds.includes(sessionId)) continue
    const what = `the session ${sessionId}`
    const add = fullTotals('a', at + 1, '0.1')
    const [parent, run] = [await t.run(inSession(sessionId, 'p')), await t.run(inSession(sessionId))]
    equal(
      [parent?.state.sessionId, parent?.revision, parent?.state.application?.parentRunId],
      [sessionId, 1, undefined],
      what,
    )
    equal([run?.state.sessionId, run?.revision, run?.state.application?.counts], [sessionId, 1, { steps: at }], what)
    const ancestor: RunAncestor = { runId: 'p', ...(parent && { run: parent }), descendants: add }
    const session = await t.session(sessionId)
    equal(await t.see(inSession(sessionId)), { run, session, ancestors: [ancestor] }, what)
    equal([session?.totals, session?.failures], [add, [{ runId: 'r', at }]], what)
    equal(await t.list({ tenant: 't', sessionId }), [parent, run], what)
    equal(await t.list({ tenant: 't', tag: `t${at}` }), [run], what)
    equal(await t.list({ tenant: 't', userId: `u${at}` }), [run], what)
    equal(await t.spend(`u${at}`), add.spend, what)
  }
}

function allBut(...sessionIds: readonly string[]): readonly string[] {
  return SESSIONS.filter((sessionId) => !sessionIds.includes(sessionId))
}

export const sameRunIdCases: readonly RunStoreCase[] = runCases([], {
  'runs of one id in several sessions are separate': async (t) => {
    await putInEach(t)
    await expectIntact(t, SESSIONS)
  },
  'a session neither finds nor sees the run of another session': async (t) => {
    await t.put(inSession('s', 'p'))
    await t.put(inSession('s'), { parentRunId: 'p' })
    equal(await t.run(inSession('other')), undefined)
    equal(await t.see(inSession('other')), { ancestors: [] })
    equal(await t.see(inSession('other', 'new', { parentRunId: 'r' })), {
      ancestors: [],
      newAncestors: [{ runId: 'r' }],
    })
    equal(await t.session('other'), undefined)
  },
  'a merge creates a run of its own beside the run of that id in another session': async (t) => {
    const first = await t.put(inSession('s'), { counts: { steps: 1 } })
    const second = await t.put(inSession('other'), { counts: { steps: 2 } })
    equal([second.revision, second.state.sessionId], [1, 'other'])
    equal(await t.run(inSession('s')), first)
    equal(await t.run(inSession('other')), second)
  },
  'a merge changes the run of its session only': async (t) => {
    await putInEach(t)
    await t.advance(MINUTE)
    const add = fullTotals('b', 9, '9')
    const totalsChanges = changesOf({ session: add, descendants: [{ runId: 'p', add }] })
    await t.put(inSession('s'), { status: 'failed', tags: ['new'] }, { totalsChanges, failures: [], derived: PENDING })
    await t.decide(inSession('s', 'p'), { derived: { ...QUIET, top: true }, touched: true })
    await expectIntact(t, allBut('s'))
    equal(await t.ids({ tenant: 't', tag: 'new' }), ['r'])
    equal(await t.ids({ tenant: 't', status: ['failed'] }), ['r'])
  },
  'a merge without a stored run changes no run of that id in another session': async (t) => {
    await putInEach(t)
    await t.store.openSession('t', 'empty')
    const decision = { derived: PENDING, touched: true, failures: [{ runId: 'r', at: 1 }] }
    equal(await t.decide(inSession('empty'), decision), undefined)
    await expectIntact(t, SESSIONS)
  },
  'the parent of a run is the run of that id in its own session': async (t) => {
    await t.put(inSession('s', 'p'), { parentRunId: 'grand' })
    await t.put(inSession('s', 'grand'))
    await t.put(inSession('other', 'p'), { parentRunId: 'top' })
    await t.put(inSession('other'), { parentRunId: 'p' })
    equal(await t.ancestorIds(inSession('other')), ['p', 'top'])
    equal(await t.ancestorIds(inSession('s', 'new', { parentRunId: 'p' })), ['p', 'grand'])
    equal((await t.ancestors(inSession('other')))[0]?.run?.state.sessionId, 'other')
  },
  'spend of runs of one id in two sessions adds up': async (t) => {
    const add = fullTotals('USD', 1, '0.1')
    const decision = { totalsChanges: changesOf({ users: [{ userId: 'u', add: add.spend }] }) }
    for (const sessionId of ['s', 'other', 's']) await t.put(inSession(sessionId), {}, decision)
    const spend = await t.spend()
    equal([spend.runs, spend.cost], [3, { USD: '0.3' }])
  },
  'lists contain the runs of one id in all sessions, on pages of any length': async (t) => {
    await putInEach(t)
    const sessionsOf = async (query: Parameters<RunHarness['list']>[0]): Promise<readonly string[]> =>
      (await t.list(query)).map(({ state }) => state.sessionId)
    for (const limit of [1, 2, 100])
      for (const tenant of ['t', undefined]) {
        equal(await sessionsOf({ tenant, limit, status: ['completed'] }), SESSIONS)
        equal(await sessionsOf({ tenant, limit, tag: 'all', first: 'newest' }), SESSIONS.toReversed())
        equal(await sessionsOf({ tenant, limit, status: ['running'] }), SESSIONS)
        equal(await sessionsOf({ tenant, limit, provider: 'o', model: 'm' }), SESSIONS)
      }
  },
  'runs of one id created in the same millisecond are each listed once': async (t) => {
    const sessionIds = Array.from({ length: 20 }, (_, at) => `s${at}`)
    for (const sessionId of sessionIds) await t.put(inSession(sessionId), { tags: ['a'] }, { derived: PENDING })
    for (const query of [
      {},
      { tenant: 't' },
      { tenant: 't', tag: 'a' },
      { status: ['running'] },
      { pending: true },
    ] as const)
      for (const limit of [1, 3, 20]) {
        const runs = await t.list({ ...query, limit })
        equal(runs.map(({ state }) => state.sessionId).sort(), [...sessionIds].sort(), JSON.stringify(query))
      }
  },
  'pending events belong to the run of one session': async (t) => {
    await putInEach(t)
    await t.decide(inSession('s'), { derived: PENDING })
    await t.decide(inSession('other'), { derived: PENDING })
    const sessionsOf = async (): Promise<readonly string[]> =>
      (await t.list({ pending: true })).map(({ state }) => state.sessionId)
    equal(await sessionsOf(), ['s', 'other'])
    await t.decide(inSession('s'), { derived: QUIET })
    equal(await sessionsOf(), ['other'])
    equal((await t.run(inSession('other')))?.derived, PENDING)
  },
  'silence belongs to the run of one session': async (t) => {
    await putInEach(t)
    await t.advance(10 * MINUTE)
    await t.decide(inSession('s', 'p'), { touched: true })
    const silent = await t.list({ status: ['running'], silentForMs: 5 * MINUTE })
    equal(
      silent.map(({ state }) => state.sessionId),
      allBut('s'),
    )
    await t.put(inSession('other', 'p'), { status: 'expired' })
    equal((await t.run(inSession('S', 'p')))?.state.application?.status, 'running')
    await expectIntact(t, allBut('s', 'other'))
  },
  'removeRuns removes the runs that match, and none of the same id': async (t) => {
    await putInEach(t)
    await t.advance(10 * MINUTE)
    await t.put(inSession('s'), { status: 'completed', tags: ['all'] })
    await t.decide(inSession('other'), { derived: PENDING })
    const query = { tenant: 't', status: ['completed'], unchangedForMs: 5 * MINUTE, limit: 100 } as const
    equal(await t.store.removeRuns(query), SESSIONS.length - 2)
    const left = await t.list({ status: ['completed'] })
    equal(
      left.map(({ state }) => state.sessionId),
      ['s', 'other'],
    )
    equal(
      (await t.list({ tenant: 't', tag: 'all' })).map(({ state }) => state.sessionId),
      ['s', 'other'],
    )
    equal((await t.list({ status: ['running'] })).length, SESSIONS.length)
  },
  'erasing a session leaves the runs of the same ids in other sessions': async (t) => {
    await putInEach(t)
    equal(await t.store.erase('t', { sessionId: 's' }), 2)
    equal([await t.run(inSession('s')), await t.session('s')], [undefined, undefined])
    await expectIntact(t, allBut('s'))
    equal(await t.see(inSession('s', 'r', { parentRunId: 'p' })), {
      ancestors: [],
      newAncestors: [{ runId: 'p' }],
    })
  },
  'erasing a user leaves the runs and failures of the same ids in other sessions': async (t) => {
    await putInEach(t)
    equal(await t.store.erase('t', { userId: 'u0' }), 1)
    equal(await t.run(inSession('s')), undefined)
    equal((await t.run(inSession('s', 'p')))?.revision, 1)
    equal((await t.session('s'))?.failures, [])
    equal(await t.spend('u0'), noSpend())
    await expectIntact(t, allBut('s'))
  },
  'alternating merges of one run id in two sessions keep both runs current': async (t) => {
    for (let steps = 1; steps <= 6; steps++)
      for (const sessionId of ['s', 'other']) {
        const key = inSession(sessionId)
        const { result, run } = await t.store.mergeRun(key, ({ run: seen }) => ({
          result: seen?.state.application?.counts.steps ?? 0,
          state: stateOf(key, { counts: { steps } }),
          derived: QUIET,
        }))
        equal([result, run?.revision, run?.state.sessionId], [steps - 1, steps, sessionId])
      }
  },
})
