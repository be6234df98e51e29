import { noSpend } from '../../model/totals.ts'
import { equal } from '../assertions.ts'
import { listIds, readAll, see } from './reading.ts'
import { put, type RunStoreCase, type RunTrial, runKeyOf, stateOf } from './run-fixtures.ts'
import { changesOf, fullTotals } from './totals-fixtures.ts'

const TENANTS = ['t', 'T', 't ', 'ť', '__proto__', 'constructor', '', 'x'.repeat(200)] as const

/** The same run, session, parent and user in every tenant, each with sums of its own. */
async function putInEach({ store }: RunTrial): Promise<void> {
  for (const [at, tenant] of TENANTS.entries()) {
    const add = fullTotals('a', at + 1, '0.1')
    const totalsChanges = changesOf({
      session: add,
      descendants: [{ runId: 'r', add }],
      users: [{ userId: 'u', add: add.spend }],
    })
    const more = { counts: { steps: at }, status: 'completed', latest: { userId: 'u' } } as const
    await put(store, runKeyOf('r', { tenant }), more, { totalsChanges, failures: [{ runId: 'r', at, userId: 'u' }] })
  }
}

async function expectIntact({ store }: RunTrial, tenants: readonly string[]): Promise<void> {
  for (const [at, tenant] of TENANTS.entries()) {
    if (!tenants.includes(tenant)) continue
    const add = fullTotals('a', at + 1, '0.1')
    const what = `the tenant ${JSON.stringify(tenant)}`
    const run = await store.findRun(tenant, 'r')
    equal([run?.tenant, run?.revision, run?.state.counts], [tenant, 1, { steps: at }], what)
    const session = await store.findSession(tenant, 's')
    equal([session?.tenant, session?.totals, session?.failures], [tenant, add, [{ runId: 'r', at, userId: 'u' }]], what)
    const snapshot = await see(store, runKeyOf('r', { tenant, parentRunId: 'r' }))
    equal(snapshot, { run, session, descendants: add, ancestors: [{ runId: 'r', run, descendants: add }] }, what)
    equal(await store.findSpend(tenant, 'u', 0), add.spend, what)
    equal(await readAll(store, { tenant }), [run], what)
    equal(
      await readAll(store, { tenant, sessionId: 's', userId: 'u', status: ['completed'], first: 'newest' }),
      [run],
      what,
    )
  }
}

/** Tenants know nothing of one another. */
export const TENANT_CASES: readonly RunStoreCase[] = [
  {
    name: 'the same ids in several tenants are runs, sessions and sums of their own',
    async run(trial) {
      await putInEach(trial)
      await expectIntact(trial, TENANTS)
    },
  },
  {
    name: 'of one tenant, another sees nothing, whatever it asks for',
    async run({ store, advance }) {
      const totalsChanges = changesOf({ users: [{ userId: 'u', add: fullTotals('a', 1, '0.1').spend }] })
      await put(store, runKeyOf('r'), { status: 'completed', latest: { userId: 'u' } }, { totalsChanges })
      await advance(10_000)
      for (const tenant of ['T', 't ', '', 's']) {
        equal(await store.findRun(tenant, 'r'), undefined)
        equal(await store.findSession(tenant, 's'), undefined)
        equal(await see(store, runKeyOf('r', { tenant, parentRunId: 'r' })), { ancestors: [{ runId: 'r' }] })
        equal(await store.findSpend(tenant, 'u', 0), noSpend())
        equal(await listIds(store, { tenant }), [])
        equal(await store.removeRuns({ tenant, status: ['completed'], unchangedForMs: 1_000, limit: 9 }), 0)
        equal(await store.erase(tenant, { sessionId: 's' }), 0)
        equal(await store.erase(tenant, { userId: 'u' }), 0)
      }
      equal(await listIds(store, { tenant: 't' }), ['r'])
      equal((await store.findSpend('t', 'u', 0)).runs, 1)
    },
  },
  {
    name: 'a list that names no tenant has the runs of all',
    async run(trial) {
      await putInEach(trial)
      const runs = await readAll(trial.store, { limit: 3 })
      equal(runs.map(({ tenant }) => tenant).sort(), [...TENANTS].sort())
      equal((await listIds(trial.store, { sessionId: 's', userId: 'u' })).length, TENANTS.length)
    },
  },
  {
    name: 'a session that one tenant erases is still there for the others',
    async run(trial) {
      await putInEach(trial)
      equal(await trial.store.erase('t', { sessionId: 's' }), 1)
      equal(await trial.store.findSession('t', 's'), undefined)
      await expectIntact(trial, TENANTS.slice(1))
    },
  },
  {
    name: 'a user whom one tenant erases is still there for the others',
    async run(trial) {
      await putInEach(trial)
      equal(await trial.store.erase('t', { userId: 'u' }), 1)
      equal(await trial.store.findSpend('t', 'u', 0), noSpend())
      await expectIntact(trial, TENANTS.slice(1))
    },
  },
  {
    name: 'a merge of one tenant changes nothing of the others',
    async run(trial) {
      await putInEach(trial)
      const totalsChanges = changesOf({
        session: fullTotals('b', 9, '9'),
        users: [{ userId: 'u', add: fullTotals('b', 9, '9').spend }],
      })
      await put(trial.store, runKeyOf('r'), { counts: { steps: 99 } }, { totalsChanges, failures: [] })
      equal((await trial.store.findRun('t', 'r'))?.state, stateOf(runKeyOf('r'), { counts: { steps: 99 } }))
      await trial.store.openSession('new', 's')
      await expectIntact(trial, TENANTS.slice(1))
    },
  },
]
