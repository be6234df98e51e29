import type { MergeDecision, RunQuery, StoredRun } from '../../ports/run-store.ts'
import { isRefused } from '../answers/result.ts'
import { yieldToEventLoop } from '../time-out.ts'
import { decideMerge, type Recording } from './merge/decide-merge.ts'
import { type Decide, mergeUpdate } from './merge/merge-update.ts'
import { statusOfRun } from './merge/run-status.ts'
import type { RecordDeps } from './record-deps.ts'

/** What a sweep needs. */
export interface SweepDeps extends Omit<RecordDeps, 'redactor'> {
  /** Absent: of all tenants. */
  readonly tenant?: string | undefined
}

const PAGE = 100

/**
 * Makes the runs `expired` that say they are running and were last heard of more than `olderThanMs` milliseconds ago; their
 * end is when that was. A run that is heard of while this goes on stays as it is. What is `queued` or `waiting` is spared: its
 * silence says nothing.
 *
 * One that fails holds up no other: what it threw is thrown once all have been tried, as a `HostFault` where a part of the host threw it.
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

/** Whether it did: the run is looked at again in the call that writes, and must not have been heard of meanwhile. */
async function expire({ tenant, state, lastSeenAt }: StoredRun, deps: SweepDeps): Promise<boolean> {
  const { sessionId, runId } = state
  const decide: Decide = ({ run, ...snapshot }, update, rules) => {
    if (run === undefined) return GONE
    if (statusOfRun(run.state) !== 'running' || run.lastSeenAt !== lastSeenAt) return unchanged(run)
    const end = { ...update, status: 'expired', timings: { endedAt: run.lastSeenAt } } as const
    return { ...decideMerge({ run, ...snapshot }, end, rules), touched: false }
  }
  const merged = await mergeUpdate(tenant, { sessionId, runId }, deps, decide)
  return !isRefused(merged) && merged.changed
}

/** Removed meanwhile, perhaps with its session: it must not come back. */
const GONE: MergeDecision<Recording> = { result: { outcome: 'session_missing' } }

function unchanged({ state }: StoredRun): MergeDecision<Recording> {
  return { result: { outcome: 'merged', state, created: false, changed: false, ignored: [], firstEnd: false } }
}
