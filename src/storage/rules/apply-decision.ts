import type { RunAccount } from '../../model/run.ts'
import type { MergeDecision, StoredRun } from '../../ports/run-store.ts'

const NO_ACCOUNT: RunAccount = Object.freeze({ ended: [], untold: [] })

/** What is stored of a run after a decision: what was, where nothing was decided of it. */
export function runAfter(
  run: StoredRun | undefined,
  { state, account, heard }: MergeDecision<unknown>,
  tenant: string,
  now: number,
): StoredRun | undefined {
  if (!run) {
    if (!state) return undefined
    const created = { createdAt: now, updatedAt: now, lastSeenAt: now }
    return { tenant, state, account: account ?? NO_ACCOUNT, ...created, revision: 1 }
  }
  if (!state && !account && !heard) return run
  return {
    tenant,
    state: state ?? run.state,
    account: account ?? run.account,
    createdAt: run.createdAt,
    updatedAt: state ? now : run.updatedAt,
    lastSeenAt: heard ? now : run.lastSeenAt,
    revision: state ? run.revision + 1 : run.revision,
  }
}
