import { equal } from '../../../../src/contract-tests/assertions.ts'
import {
  adding,
  fullTotals,
  QUIET,
  runKeyOf,
  spendOf,
  stateOf,
  totalsOf,
} from '../../../../src/contract-tests/run-store/run-fixtures.ts'
import { type RunHarness, type RunStoreCase, runCases } from '../../../../src/contract-tests/run-store/run-harness.ts'
import type { RunReport } from '../../../../src/model/run.ts'
import { noSpend, noTotals } from '../../../../src/model/totals.ts'

const AGENT = { provider: 'p2', model: 'm2', userId: 'agents user' }

function record(t: RunHarness, application: Partial<RunReport> | undefined, agent: Partial<RunReport>) {
  const { application: whole, ...state } = stateOf(runKeyOf('r'), application, agent)
  return t.decide('r', { state: application ? { ...state, application: whole as RunReport } : state, derived: QUIET })
}

/** Cases about runs that applications and agents report. */
export const sourceCases: readonly RunStoreCase[] = runCases([], {
  'what an agent reports is stored apart from what an application reports': async (t) => {
    const [application, agent] = [
      { status: 'completed', tags: ['a'] },
      { status: 'failed', seq: 7, tags: ['b'] },
    ] as const
    await record(t, application, agent)
    equal((await t.run('r'))?.state, stateOf(runKeyOf('r'), application, agent))
    equal((await t.see('r')).run?.state, stateOf(runKeyOf('r'), application, agent))
  },
  'a run that only an agent reports is found by what the agent reports': async (t) => {
    await record(t, undefined, { status: 'waiting', latest: AGENT, tags: ['b'] })
    for (const query of [{ provider: 'p2' }, { model: 'm2' }, { userId: 'agents user' }, { tag: 'b' }])
      equal(await t.ids({ tenant: 't', ...query }), ['r'])
    equal(await t.ids({ tenant: 't', status: ['waiting'] }), ['r'])
  },
  "a run is found by the application's value, and not by the agent's": async (t) => {
    await record(t, undefined, { status: 'failed', latest: AGENT, tags: ['b'] })
    const latest = { provider: 'p1', model: 'm1', userId: 'u' }
    await record(t, { status: 'completed', latest, tags: ['a'] }, { status: 'failed', latest: AGENT, tags: ['b'] })
    for (const query of [{ provider: 'p1' }, { model: 'm1' }, { userId: 'u' }, { tag: 'a' }])
      equal(await t.ids({ tenant: 't', ...query }), ['r'])
    for (const query of [{ provider: 'p2' }, { model: 'm2' }, { userId: 'agents user' }, { tag: 'b' }])
      equal(await t.ids({ tenant: 't', ...query }), [])
    equal(await t.ids({ tenant: 't', status: ['completed'] }), ['r'])
    equal(await t.ids({ tenant: 't', status: ['failed'] }), [])
  },
  'the sums of applications and of agents are kept apart': async (t) => {
    const [one, other] = [fullTotals('a', 1, '0.1'), fullTotals('b', 2, '0.2')]
    await t.put('r', {}, adding({ session: one, descendants: [{ runId: 'p', add: one }] }))
    const { agent: ofAgents } = other
    const add = { ...noTotals(), ...(ofAgents && { agent: ofAgents }) }
    await t.decide('r', adding({ session: add, descendants: [{ runId: 'p', add }] }))
    const { agent, ...applications } = (await t.session())?.totals ?? noTotals()
    const { agent: firstAgent, ...first } = one
    equal(applications, first)
    equal(agent?.spend.runs, (firstAgent?.spend.runs ?? 0) + (ofAgents?.spend.runs ?? 0))
    equal((await t.descendants('p'))?.agent?.spend, agent?.spend)
  },
  'erasing a user removes the runs whose agent has that user': async (t) => {
    await record(t, { latest: { userId: 'u' } }, { latest: AGENT })
    await t.put('other', { latest: { userId: 'u' } })
    equal(await t.store.erase('t', { userId: 'agents user' }), 1)
    equal(await t.ids({ tenant: 't' }), ['other'])
  },
  'erasing a user removes the failures whose agent had that user, also of a removed run': async (t) => {
    const failures = [
      { runId: 'r', at: 1, byAgent: true as const, userId: 'u', agentUserId: 'agents user' },
      { runId: 'other', at: 1, userId: 'u' },
    ]
    await t.put('r', {}, { failures })
    await t.store.erase('t', { userId: 'agents user' })
    equal((await t.session())?.failures, failures.slice(1))
  },
  'erasing a user removes the user from the sums of agents': async (t) => {
    const users = { 'agents user': spendOf({ runs: 1 }), other: spendOf({ runs: 2 }) }
    const { agent: _, ...sums } = totalsOf({ users })
    const add = { ...noTotals(), agent: sums }
    await t.put('r', {}, adding({ descendants: [{ runId: 'p', add }] }))
    await t.store.erase('t', { userId: 'agents user' })
    equal((await t.descendants('p'))?.agent?.users, { other: { ...noSpend(), runs: 2 } })
  },
})
