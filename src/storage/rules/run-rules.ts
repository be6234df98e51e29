import type { DerivedRunData, RunStatus } from '../../model/run.ts'
import type { RunFacets } from '../../model/run-facets.ts'
import { shownReport } from '../../model/shown-run.ts'
import type { Totals } from '../../model/totals.ts'
import type { MergeDecision, MergeKey, StoredRun } from '../../ports/run-store.ts'

/** The parent that the totals of a run go to; `undefined` for a run at the top. */
export function countedParent({ state, derived }: Pick<StoredRun, 'state' | 'derived'>): string | undefined {
  return derived.top === true ? undefined : shownReport(state).parentRunId
}

/**
 * Where a snapshot's lists of ancestors begin: at the counted parent of the stored run, and at the parent that the key names if that
 * is another one.
 */
export function parentsOf(
  run: StoredRun | undefined,
  { parentRunId }: MergeKey,
): { readonly counted: string | undefined; readonly named: string | undefined } {
  const counted = run && countedParent(run)
  return { counted, named: parentRunId === counted ? undefined : parentRunId }
}

/** True if an application or an agent named this user in the run. */
export function isOfUser(run: Pick<RunFacets, 'userId' | 'agentUserId'>, userId: string): boolean {
  return run.userId === userId || run.agentUserId === userId
}

/** Removes a user's spend from the totals of descendants, in place. Returns false if there was none. */
export function removeUser({ users, agent }: Totals, userId: string): boolean {
  const isFound = Object.hasOwn(users, userId) || (agent !== undefined && Object.hasOwn(agent.users, userId))
  Reflect.deleteProperty(users, userId)
  if (agent) Reflect.deleteProperty(agent.users, userId)
  return isFound
}

const NO_DERIVED: DerivedRunData = Object.freeze({ ended: [], pending: [] })

/** The stored run after a merge decision; `run` itself if the decision changes nothing. */
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

export function isOpenRun(status: RunStatus): boolean {
  return OPEN.has(status)
}
