import type { RunState } from '../../../src/model/run.ts'
import type { StoredRun } from '../../../src/ports/run-store.ts'

/** A state as a store keeps it. */
export function storedAs(state: RunState, more: Partial<StoredRun> = {}): StoredRun {
  const derived = { ended: [], pending: [] }
  return { tenant: 't', state, derived, createdAt: 0, updatedAt: 0, lastSeenAt: 0, revision: 1, ...more }
}
