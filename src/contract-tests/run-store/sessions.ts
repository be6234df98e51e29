import { equal } from '../assertions.ts'
import { changesOf, fullTotals, runKeyOf } from './run-fixtures.ts'
import type { RunHarness, RunStoreCase } from './run-harness.ts'

const _FAILURE = { runId: 'r', at: 7, error: { type: 'timeout', retryable: true } }

const TENANTS = ['t', 'T', 't ', 'ť', '__proto__', 'constructor', '', 'x'.repeat(200)] as const

/** Puts the same run, session, parent and user in every tenant, each with its own totals. */
async function _putInEach(t: RunHarness): Promise<void> {
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

async function _expectIntact(t: RunHarness, tenants: readonly string[]): Promise<void> {
  for (const [at, tenant] of TENANTS.entries()) {
    if (!tenants.includes(tenant)) continue
    const add = fullTotals('a', at + 1, '0.1')
    const what = `the tenant ${JSON.stringify(tenant)}`
    const run = await t.store.findRun(tenant, 'r')
    equal([run?.tenant, run?.revision, run?.state.counts], [tenant, 1, { steps: at }], what)
    const session = await t.store.findSession(tenant, 's')
    equal([session?.tenant, session?.totals, session?.failures], [tenant, add, [{ runId: 'r', at, userId: 'u' }]], what)
    const snapshot = await t.see(runKeyOf('r', { tenant, parentRunId: 'r' }))
    equal(snapshot, { run, session, descendants: add, ancestors: [{ runId: 'r', run, descendants: add }] }, what)
    equal(await t.store.findSpend(tenant, 'u', 0), add.spend, what)
    equal(await t.list({ tenant }), [run], what)
    const query = { tenant, sessionId: 's', userId: 'u', status: ['completed'], first: 'newest' } as const
    equal(await t.list(query), [run], what)
  }
}

/** Runs and sessions in the store's time, and sessions that are opened and found. */
export const sessionCases: readonly RunStoreCase[] = []
