import { expect } from 'vitest'
import type { RunStore, StoredRun } from '../../../../src/ports/run-store.ts'
import { USERS } from './generated-posts.ts'
import { expectedSums, type Flat, flatSums, withoutZeros } from './roll-up-oracle.ts'

async function keptSums(store: RunStore, tenant: string): Promise<{ session: Flat; users: Flat }> {
  const session = await store.findSession(tenant, 's1')
  if (!session) throw new Error('no session')
  const users: Flat = {}
  for (const user of USERS) {
    const spend = flatSums(await store.findSpend(tenant, user, 0))
    for (const [path, sum] of Object.entries(spend)) users[`${user}/spend/${path}`] = sum
  }
  return { session: withoutZeros(flatSums(session.totals)), users: withoutZeros(users) }
}

/** Compares the totals and the spend of the session `s1` with those calculated from its runs. @param tenant Default: `t`. */
export async function expectSums(store: RunStore, runs: readonly StoredRun[], tenant = 't'): Promise<void> {
  const { session, users } = expectedSums(runs)
  expect(await keptSums(store, tenant)).toEqual({ session: withoutZeros(session), users: withoutZeros(users) })
}
