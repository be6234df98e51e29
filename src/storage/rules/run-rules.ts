import type { DerivedRunData, RunStatus } from '../../model/run.ts'
import type { MergeDecision, StoredRun } from '../../ports/run-store.ts'

const NO_DERIVED: DerivedRunData = Object.freeze({ ended: [], pending: [] })

/** The stored run after a merge decision. Returns `run` itself if the decision changes nothing. */
export function applyDecision(
  run: StoredRun | undefined,
  { state, derived, touched }: MergeDecision<unknown>,
  tenant: string,
  now: number,
): StoredRun | undefined {
  if (!run) {
    if (!state) return undefined
    const created = { createdAt: now, updatedAt: now, lastSeenAt: now }
    return { tenant, state, derived: derived ?? NO_DERIVED, ...created, revision: 1 }
  }
  if (!state && !derived && !touched) return run
  return {
    tenant,
    state: state ?? run.state,
    derived: derived ?? run.derived,
    createdAt: run.createdAt,
    updatedAt: state ? now : run.updatedAt,
    lastSeenAt: touched ? now : run.lastSeenAt,
    revision: state ? run.revision + 1 : run.revision,
  }
}

const OPEN: ReadonlySet<RunStatus> = new Set<RunStatus>(['queued', 'running', 'waiting'])

/** Whether a run with this status has not ended. */
export function isOpenRun(status: RunStatus): boolean {
  return OPEN.has(status)
}
