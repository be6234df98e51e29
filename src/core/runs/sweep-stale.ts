import { statusOfRun } from '../../model/run-status.ts'
import type { MergeDecision, RunKey, RunQuery, RunStore, StoredRun } from '../../ports/run-store.ts'
import { isRefused } from '../answers/result.ts'
import { yieldToEventLoop } from '../yield-to-event-loop.ts'
import { type Decide, decideMerge, mergeUpdate, type Recording } from './merge-update.ts'
import type { RecordDeps } from './record-deps.ts'

export interface SweepDeps extends Omit<RecordDeps, 'redactor' | 'store'> {
  readonly store: Pick<RunStore, 'mergeRun' | 'listRuns'>
  /** Default: all tenants. */
  readonly tenant?: string | undefined
  /** True for a run that waits for something else than a post: it is left alone. Default: none does. */
  readonly isAwaited?: ((run: RunKey) => Promise<boolean>) | undefined
}

const PAGE = 100

/**
 * Expires `running` runs whose last post, which becomes their end, is older than `olderThanMs`. `queued` and `waiting` runs may
 * have no posts for long. Throws the first error after the sweep, as a `HostFault` if host code threw it.
 */
export async function sweepStale(olderThanMs: number, deps: SweepDeps): Promise<{ readonly expired: number }> {
  const { store, clock, tenant } = deps
  const query: RunQuery = { tenant, status: ['running'], silentForMs: olderThanMs, first: 'oldest', limit: PAGE }
  const faults: unknown[] = []
  let expired = 0
  let cursor: string | undefined
  do {
    if (cursor !== undefined) await yieldToEventLoop(clock)
    const page = await store.listRuns({ ...query, cursor })
    for (const run of page.items) {
      try {
        if (await expire(run, deps)) expired++
      } catch (thrown) {
        faults.push(thrown)
      }
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
  if (faults.length > 0) throw faults[0]
  return { expired }
}

/** Expires a run, unless it got a post since it was listed. Returns true if it did. */
async function expire({ tenant, state, lastSeenAt }: StoredRun, deps: SweepDeps): Promise<boolean> {
  const { sessionId, runId } = state
  if (await deps.isAwaited?.({ tenant, sessionId, runId })) return false
  const decide: Decide = ({ run, ...snapshot }, update, rules) => {
    if (run === undefined) return GONE
    if (statusOfRun(run.state) !== 'running' || run.lastSeenAt !== lastSeenAt) return unchanged(run)
    const end = { ...update, status: 'expired', timings: { endedAt: run.lastSeenAt } } as const
    return { ...decideMerge({ run, ...snapshot }, end, rules), touched: false }
  }
  const merged = await mergeUpdate(tenant, { sessionId, runId }, deps, { decide })
  return !isRefused(merged) && merged.changed
}

/** The run was removed meanwhile, perhaps with its session, and must not be created again. */
const GONE: MergeDecision<Recording> = { result: { outcome: 'session_missing' } }

function unchanged({ state }: StoredRun): MergeDecision<Recording> {
  return { result: { outcome: 'merged', state, created: false, changed: false, ignored: [], firstEnd: false } }
}
