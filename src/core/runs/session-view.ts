import type { RunState, RunStatus, Session } from '../../model/run.ts'
import type { StoredRun, StoredSession } from '../../ports/run-store.ts'
import { writeInstant } from '../write-instant.ts'
import { latestOf, statusOfRun } from './shown-run.ts'

/**
 * Rolls a session up from its runs. A count that a run tells for its whole tree stands for what its descendants tell of it:
 * nothing is counted twice.
 */
export function rollUpSession(session: StoredSession, runs: Iterable<StoredRun>): Session {
  const states = new Map<string, RunState>()
  for (const { state } of runs) states.set(state.runId, state)
  const covered = coverage(states)
  const byStatus: Partial<Record<RunStatus, number>> = {}
  const counts: Record<string, number> = {}
  for (const state of states.values()) {
    const status = statusOfRun(state)
    byStatus[status] = (byStatus[status] ?? 0) + 1
    for (const [key, count] of Object.entries(state.counts))
      if (!covered(state).has(key))
        counts[key] = Math.min((Object.hasOwn(counts, key) ? (counts[key] ?? 0) : 0) + count, Number.MAX_SAFE_INTEGER)
  }
  return {
    sessionId: session.sessionId,
    createdAt: writeInstant(session.createdAt),
    updatedAt: writeInstant(session.updatedAt),
    runs: { total: states.size, byStatus },
    counts,
  }
}

const NOTHING: ReadonlySet<string> = new Set()

/** The counts of a run that a run above it has told for its whole tree. */
function coverage(states: ReadonlyMap<string, RunState>): (state: RunState) => ReadonlySet<string> {
  const trees = [...states.values()].some((state) => latestOf(state, 'countsScope') === 'tree')
  if (!trees) return () => NOTHING
  const known = new Map<RunState, ReadonlySet<string>>()
  return (state) => {
    const path: RunState[] = []
    const onPath = new Set<RunState>()
    let at: RunState | undefined = state
    for (
      ;
      at && !known.has(at) && !onPath.has(at);
      at = at.parentRunId === undefined ? undefined : states.get(at.parentRunId)
    ) {
      path.push(at)
      onPath.add(at)
    }
    // Runs that are each other's parents have no top: none of them stands for the others.
    let above: RunState | undefined = at && known.has(at) ? at : undefined
    for (const run of path.reverse()) {
      known.set(run, above === undefined ? NOTHING : under(above, known.get(above) ?? NOTHING))
      above = run
    }
    return known.get(state) ?? NOTHING
  }
}

function under(parent: RunState, covered: ReadonlySet<string>): ReadonlySet<string> {
  if (latestOf(parent, 'countsScope') !== 'tree') return covered
  return new Set([...covered, ...Object.keys(parent.counts)])
}
