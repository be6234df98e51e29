import { facetsOf, type RunFacets } from '../../model/run-facets.ts'
import type { StoredRun } from '../../ports/run-store.ts'
import { isOpenRun } from '../rules/run-rules.ts'
import { documentKey, prefixOf, timePart } from './keys.ts'
import type { DocumentEntries, Transaction } from './transaction.ts'

/** The index document of a run: what lists filter by. */
export interface ListedRun extends RunFacets {
  readonly tenant: string
  readonly runId: string
  readonly sessionId: string
}

/** Prefixes of runs by when they were created: of all, of those that have not ended, and of those with pending events. */
export const ALL_RUNS = 'all-runs/'
export const OPEN_RUNS = 'open-runs/'
export const PENDING_RUNS = 'pending-runs/'

export function runKey(tenant: string, runId: string): string {
  return documentKey('run', tenant, runId)
}

export function sessionKey(tenant: string, sessionId: string): string {
  return documentKey('session', tenant, sessionId)
}

/** What was added below a run. */
export function descendantKey(tenant: string, sessionId: string, runId: string): string {
  return documentKey('descendants', tenant, sessionId, runId)
}

/** What a user spent, by day. */
export function spendKey(tenant: string, userId: string): string {
  return documentKey('spend', tenant, userId)
}

export function runsOfTenant(tenant: string): string {
  return prefixOf('runs', tenant)
}

export function runsOfSession(tenant: string, sessionId: string): string {
  return prefixOf('session-runs', tenant, sessionId)
}

export function listedRun({ tenant, state }: StoredRun): ListedRun {
  return { tenant, runId: state.runId, sessionId: state.sessionId, ...facetsOf(state) }
}

/** The index documents of a run. */
export function runEntries(run: StoredRun | undefined): DocumentEntries {
  if (!run) return {}
  const listed = listedRun(run)
  const { tenant, runId, sessionId, status } = listed
  const time = timePart(run.createdAt)
  const [place, placeOfAll] = [`${time}/${documentKey(runId)}`, `${time}/${documentKey(tenant, runId)}`]
  return {
    [runsOfTenant(tenant) + place]: listed,
    [runsOfSession(tenant, sessionId) + place]: listed,
    [ALL_RUNS + placeOfAll]: listed,
    ...(isOpenRun(status) && { [OPEN_RUNS + placeOfAll]: listed }),
    ...(run.derived.pending.length > 0 && { [PENDING_RUNS + placeOfAll]: listed }),
  }
}

/** Removes a run if it is still as `mayGo` wants it. */
export async function removeRun(
  tx: Transaction,
  { tenant, runId }: ListedRun,
  mayGo: (run: StoredRun) => boolean,
): Promise<boolean> {
  const run = await tx.get<StoredRun>(runKey(tenant, runId))
  if (!run || !mayGo(run)) return false
  tx.put(runKey(tenant, runId), undefined)
  tx.index(runEntries(run), {})
  return true
}
