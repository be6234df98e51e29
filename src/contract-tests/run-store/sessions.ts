import { noSpend, noTotals } from '../../model/totals.ts'
import { equal } from '../assertions.ts'
import { changesOf, fullTotals, PENDING, runKeyOf, stateOf } from './run-fixtures.ts'
import { happened, type RunHarness, type RunStoreCase, runCases, timedRuns } from './run-harness.ts'

const FAILURE = { runId: 'r', at: 7, error: { type: 'timeout', retryable: true } }

const TENANTS = ['t', 'T', 't ', 'ť', '__proto__', 'constructor', '', 'x'.repeat(200)] as const

/** Puts the same run, session, parent and user in every tenant, each with its own totals. */
async function putInEach(t: RunHarness): Promise<void> {
  for (const [at, tenant] of TENANTS.entries()) {
    const add = fullTotals('a', at + 1, '0.1')
    const totalsChanges = changesOf({
      session: add,
      descendants: [{ runId: 'r', add }],
      users: [{ userId: 'u', add: add.spend }],
    })
    const more = { counts: { steps: at }, status: 'completed', latest: { userId: 'u' } } as const
    await t.put(runKeyOf('r', { tenant }), more, { totalsChanges, failures: [{ runId: 'r', at, userId: 'u' }] })
  }
}

async function expectIntact(t: RunHarness, tenants: readonly string[]): Promise<void> {
  for (const [at, tenant] of TENANTS.entries()) {
    if (!tenants.includes(tenant)) continue
    const add = fullTotals('a', at + 1, '0.1')
    const what = `the tenant ${JSON.stringify(tenant)}`
    const run = await t.run(runKeyOf('r', { tenant }))
    equal([run?.tenant, run?.revision, run?.state.application?.counts], [tenant, 1, { steps: at }], what)
    const session = await t.store.findSession(tenant, 's')
    equal([session?.tenant, session?.totals, session?.failures], [tenant, add, [{ runId: 'r', at, userId: 'u' }]], what)
    const snapshot = await t.see(runKeyOf('r', { tenant, parentRunId: 'r' }))
    const newAncestors = [{ runId: 'r', run, descendants: add }]
    equal(snapshot, { run, session, descendants: add, ancestors: [], newAncestors }, what)
    equal(await t.store.findSpend(tenant, 'u', 0), add.spend, what)
    equal(await t.list({ tenant }), [run], what)
    const query = { tenant, sessionId: 's', userId: 'u', status: ['completed'], first: 'newest' } as const
    equal(await t.list(query), [run], what)
  }
}

export const sessionCases: readonly RunStoreCase[] = runCases([], {
  'createdAt, updatedAt and lastSeenAt are the time of the store': async (t) => {
    await t.advance(3 * 86_400_000)
    const { value: run, when } = await timedRuns(t, () => t.put('r'))
    for (const name of ['createdAt', 'updatedAt', 'lastSeenAt'] as const) happened(run[name], when, name)
    const session = await t.session()
    for (const name of ['createdAt', 'updatedAt'] as const) happened(session?.[name], when, `the session's ${name}`)
  },
  'updatedAt of a session changes only with the state of one of its runs': async (t) => {
    await t.put('a')
    await t.put('b')
    const before = await t.session()
    await t.advance(1_000)
    await t.decide('a', { derived: PENDING, touched: true, failures: [], totalsChanges: changesOf() })
    await t.store.openSession('t', 's')
    await t.put(runKeyOf('c', { sessionId: 'other' }))
    equal(await t.session(), before)
    const { when } = await timedRuns(t, () => t.put('b'))
    const after = await t.session()
    equal(after?.createdAt, before?.createdAt)
    happened(after?.updatedAt, when, "the session's last change")
  },
  'openSession creates an empty session': async (t) => {
    const { value: opened, when } = await timedRuns(t, () => t.store.openSession('t', 's'))
    happened(opened.createdAt, when, 'createdAt of the session')
    const { createdAt } = opened
    const empty = { tenant: 't', sessionId: 's', createdAt, updatedAt: createdAt, totals: noTotals(), failures: [] }
    equal(opened, empty)
    equal(await t.session(), empty)
  },
  'openSession returns an existing session unchanged': async (t) => {
    const opened = await t.store.openSession('t', 's')
    await t.advance(1_000)
    equal(await t.store.openSession('t', 's'), opened)
    await t.put('r', {}, { totalsChanges: changesOf({ session: fullTotals('a', 1, '0.1') }), failures: [FAILURE] })
    const found = await t.session()
    equal(found?.createdAt, opened.createdAt)
    await t.advance(1_000)
    equal(await t.store.openSession('t', 's'), found)
    equal(await t.session(), found)
  },
  'findSession returns undefined for an unknown session': async (t) => {
    await t.store.openSession('t', 's')
    for (const [tenant, sessionId] of [
      ['t', 'S'],
      ['t', ''],
      ['T', 's'],
      ['s', 't'],
    ] as const)
      equal(await t.store.findSession(tenant, sessionId), undefined)
  },
  'sessions with similar ids are separate': async (t) => {
    const names = ['s', 'S', '__proto__', 'constructor', 's.', 's:', `${'x'.repeat(199)}y`, `${'x'.repeat(199)}z`]
    for (const [at, sessionId] of names.entries()) {
      const totalsChanges = changesOf({ session: fullTotals('a', at + 1, '0.1') })
      await t.put(runKeyOf(`r${at}`, { sessionId }), {}, { totalsChanges, failures: [{ runId: `r${at}`, at }] })
    }
    for (const [at, sessionId] of names.entries()) {
      const session = await t.session(sessionId)
      equal(session?.sessionId, sessionId)
      equal(session?.totals, fullTotals('a', at + 1, '0.1'))
      equal(session?.failures, [{ runId: `r${at}`, at }])
      const { items } = await t.store.listRuns({ tenant: 't', sessionId, limit: 9 })
      equal(
        items.map(({ state }) => state),
        [stateOf(runKeyOf(`r${at}`, { sessionId }))],
      )
    }
  },
  'the same ids in several tenants are separate': async (t) => {
    await putInEach(t)
    await expectIntact(t, TENANTS)
  },
  'a tenant sees nothing of another tenant': async (t) => {
    const totalsChanges = changesOf({ users: [{ userId: 'u', add: fullTotals('a', 1, '0.1').spend }] })
    await t.put('r', { status: 'completed', latest: { userId: 'u' } }, { totalsChanges })
    await t.advance(10_000)
    for (const tenant of ['T', 't ', '', 's']) {
      equal(await t.run(runKeyOf('r', { tenant })), undefined)
      equal(await t.store.findSession(tenant, 's'), undefined)
      equal(await t.see(runKeyOf('r', { tenant, parentRunId: 'r' })), {
        ancestors: [],
        newAncestors: [{ runId: 'r' }],
      })
      equal(await t.store.findSpend(tenant, 'u', 0), noSpend())
      equal(await t.ids({ tenant }), [])
      equal(await t.store.removeRuns({ tenant, status: ['completed'], unchangedForMs: 1_000, limit: 9 }), 0)
      equal(await t.store.erase(tenant, { sessionId: 's' }), 0)
      equal(await t.store.erase(tenant, { userId: 'u' }), 0)
    }
    equal(await t.ids({ tenant: 't' }), ['r'])
    equal((await t.spend()).runs, 1)
  },
  'listRuns without a tenant returns the runs of all tenants': async (t) => {
    await putInEach(t)
    const runs = await t.list({ limit: 3 })
    equal(runs.map(({ tenant }) => tenant).sort(), [...TENANTS].sort())
    equal((await t.ids({ sessionId: 's', userId: 'u' })).length, TENANTS.length)
  },
  'erasing a session leaves other tenants': async (t) => {
    await putInEach(t)
    equal(await t.store.erase('t', { sessionId: 's' }), 1)
    equal(await t.session(), undefined)
    await expectIntact(t, TENANTS.slice(1))
  },
  'erasing a user leaves other tenants': async (t) => {
    await putInEach(t)
    equal(await t.store.erase('t', { userId: 'u' }), 1)
    equal(await t.spend(), noSpend())
    await expectIntact(t, TENANTS.slice(1))
  },
  'a merge leaves other tenants': async (t) => {
    await putInEach(t)
    const totalsChanges = changesOf({
      session: fullTotals('b', 9, '9'),
      users: [{ userId: 'u', add: fullTotals('b', 9, '9').spend }],
    })
    await t.put('r', { counts: { steps: 99 } }, { totalsChanges, failures: [] })
    equal((await t.run('r'))?.state, stateOf(runKeyOf('r'), { counts: { steps: 99 } }))
    await t.store.openSession('new', 's')
    await expectIntact(t, TENANTS.slice(1))
  },
})
