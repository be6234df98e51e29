import { dayOf } from '../../../model/day.ts'
import { MAX_RUNS_ABOVE } from '../../../model/run-tree-limit.ts'
import { addTotals, noTotals, type Spend, type Totals } from '../../../model/totals.ts'
import type {
  MergeDecision,
  MergeSnapshot,
  RunAncestor,
  RunKey,
  StoredRun,
  StoredSession,
  TotalsChanges,
} from '../../../ports/run-store.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { applyDecision } from '../../rules/run-rules.ts'
import type { Changes } from '../connection/changes.ts'
import type { LastMerge } from './merge-cache.ts'
import { type KnownRun, type KnownSession, type KnownSum, saveRun, saveSession, saveSum } from './merge-rows.ts'

/** What a user spent, to be added to that day. */
export interface Spent {
  readonly tenant: string
  readonly userId: string
  /** Days since 1970, UTC. */
  readonly day: number
  readonly add: Spend
}

/**
 * What was read for some merges, and what they have made of it so far: each sees what those before it decided. For one attempt
 * at writing it.
 */
export interface RunUnitOfWork {
  putRun(run: StoredRun, sessionId: string, version: number): void
  putSession(session: StoredSession, version: number): void
  putSum(tenant: string, sessionId: string, runId: string, totals: Totals, version: number): void
  /** All that was read has been put here: it was read for these. */
  begin(keys: readonly RunKey[]): void
  snapshot(key: RunKey): MergeSnapshot
  /** The run as it is after that. */
  decide(key: RunKey, decision: MergeDecision<unknown>, now: number): StoredRun | undefined
  /** What was asked for and has not been read: nothing that came out is to be believed until it is. */
  readonly missing: readonly RunKey[]
  readonly spent: readonly Spent[]
  /** Writes down all that is new or has changed, but for what was spent. From then on it is as if all of it were written. */
  save(changes: Changes): void
  /** What is stored of a run that nothing is above, and of its session, once it is written. */
  last(key: RunKey): LastMerge | undefined
}

const NOT_WRITTEN = { state: false, derived: false } as const

export function runUnitOfWork(): RunUnitOfWork {
  const runs = new Map<string, KnownRun>()
  const sessions = new Map<string, KnownSession>()
  const sums = new Map<string, KnownSum>()
  /** Runs, sums and sessions that were looked for, be they there or not. */
  const looked = new Set<string>()
  const missing: RunKey[] = []
  const spent: Spent[] = []

  function lookedFor(key: string, lookup: RunKey): void {
    if (looked.has(key)) return
    looked.add(key)
    missing.push(lookup)
  }

  function knownRun(tenant: string, sessionId: string, runId: string): KnownRun | undefined {
    const key = runKey(tenant, runId)
    lookedFor(key, { tenant, sessionId, runId })
    return runs.get(key)
  }

  function knownSum(tenant: string, sessionId: string, runId: string): KnownSum | undefined {
    const key = sumKey(tenant, sessionId, runId)
    lookedFor(key, { tenant, sessionId, runId })
    return sums.get(key)
  }

  function knownSession(tenant: string, sessionId: string, runId: string): KnownSession | undefined {
    const key = sessionKey(tenant, sessionId)
    lookedFor(key, { tenant, sessionId, runId })
    return sessions.get(key)
  }

  /** As {@link MergeSight.above} has them; none, where the run's own account says `top`. */
  function runAncestors(key: RunKey, own: StoredRun | undefined): readonly RunAncestor[] {
    const { tenant, sessionId } = key
    let runId = own?.state.parentRunId ?? key.parentRunId
    const ancestors: RunAncestor[] = []
    if (own?.derived.top) return ancestors
    const met = new Set<string>()
    while (runId !== undefined && ancestors.length < MAX_RUNS_ABOVE && !met.has(runId)) {
      met.add(runId)
      const found = knownRun(tenant, sessionId, runId)
      const run: StoredRun | undefined = found?.sessionId === sessionId ? found.run : undefined
      const descendants = knownSum(tenant, sessionId, runId)?.totals
      ancestors.push({ runId, ...(run && { run }), ...(descendants && { descendants }) })
      runId = run?.derived.top ? undefined : run?.state.parentRunId
    }
    return ancestors
  }

  function snapshot(key: RunKey): MergeSnapshot {
    const { tenant, sessionId, runId } = key
    const run = knownRun(tenant, sessionId, runId)?.run
    const session = knownSession(tenant, sessionId, runId)?.session
    const descendants = knownSum(tenant, sessionId, runId)?.totals
    return { run, session: session && { ...session }, descendants, ancestors: runAncestors(key, run) }
  }

  function openSession(tenant: string, sessionId: string, now: number): KnownSession {
    const session = { tenant, sessionId, createdAt: now, updatedAt: now, totals: noTotals(), failures: [] }
    const known = { session, isTouched: true, hasTotals: true, hasFailures: true }
    sessions.set(sessionKey(tenant, sessionId), known)
    return known
  }

  function addSums({ session, descendants, users }: TotalsChanges, known: KnownSession, now: number): void {
    const { tenant, sessionId, totals } = known.session
    known.hasTotals = true
    addTotals(totals, session)
    for (const { runId, add } of descendants) {
      const sum = knownSum(tenant, sessionId, runId) ?? {
        tenant,
        sessionId,
        runId,
        totals: noTotals(),
        isChanged: true,
      }
      sum.isChanged = true
      addTotals(sum.totals, add)
      sums.set(sumKey(tenant, sessionId, runId), sum)
    }
    for (const { userId, add, at } of users) spent.push({ tenant, userId, day: dayOf(at ?? now), add })
  }

  function changeSession({ tenant, sessionId, runId }: RunKey, decision: MergeDecision<unknown>, now: number): void {
    const { state, derived, totalsChanges, failures } = decision
    if (!state && !derived && !totalsChanges && !failures) return
    const found = knownSession(tenant, sessionId, runId)
    const known = found ?? (state && openSession(tenant, sessionId, now))
    if (!known) return
    known.isTouched = true
    if (state) known.session.updatedAt = now
    if (failures) known.session.failures = failures
    if (failures) known.hasFailures = true
    if (totalsChanges) addSums(totalsChanges, known, now)
  }

  /** The session of a run that is changed from another one: merges there are to see it. */
  function touchOther({ sessionId, run: { tenant, state } }: KnownRun): void {
    const known = knownSession(tenant, sessionId, state.runId)
    if (known) known.isTouched = true
  }

  return {
    putRun(run, sessionId, version) {
      const key = runKey(run.tenant, run.state.runId)
      const { tags } = run.state
      runs.set(key, { run, sessionId, version, tags, isChanged: false, written: NOT_WRITTEN })
    },
    putSession(session, version) {
      const known = { session: { ...session }, version, isTouched: false, hasTotals: false, hasFailures: false }
      sessions.set(sessionKey(session.tenant, session.sessionId), known)
    },
    putSum(tenant, sessionId, runId, totals, version) {
      sums.set(sumKey(tenant, sessionId, runId), { tenant, sessionId, runId, totals, version, isChanged: false })
    },
    begin(keys) {
      // They were read along the same way.
      for (const key of keys) snapshot(key)
      missing.length = 0
    },
    snapshot,

    decide(key, decision, now) {
      const { tenant, sessionId, runId } = key
      changeSession(key, decision, now)
      const found = knownRun(tenant, sessionId, runId)
      const run = applyDecision(found?.run, decision, tenant, now)
      if (run === undefined || run === found?.run) return run
      if (found && found.sessionId !== sessionId && (decision.state || decision.derived)) touchOther(found)
      const { state, derived } = found?.written ?? NOT_WRITTEN
      runs.set(runKey(tenant, runId), {
        sessionId,
        tags: [],
        ...found,
        run,
        isChanged: true,
        written: { state: state || decision.state !== undefined, derived: derived || decision.derived !== undefined },
      })
      return run
    },

    missing,
    spent,

    save(changes) {
      for (const known of inOrder(runs)) if (known.isChanged) saveRun(known, changes)
      for (const known of inOrder(sessions)) if (known.isTouched) saveSession(known, changes)
      for (const known of inOrder(sums)) if (known.isChanged) saveSum(known, changes)
    },

    last({ tenant, sessionId, runId, parentRunId }) {
      const known = runs.get(runKey(tenant, runId))
      const { session, version } = sessions.get(sessionKey(tenant, sessionId)) ?? {}
      const sum = sums.get(sumKey(tenant, sessionId, runId))
      if (known?.version === undefined || known.sessionId !== sessionId || !session || version === undefined)
        return undefined
      if (parentRunId !== undefined || known.run.state.parentRunId !== undefined) return undefined
      return {
        run: known.run,
        runVersion: known.version,
        session,
        sessionVersion: version,
        descendants: sum?.version === undefined ? undefined : { totals: sum.totals, version: sum.version },
      }
    },
  }
}

/** Always the same one, so that two writers do not wait for one another. */
function inOrder<T>(map: ReadonlyMap<string, T>): readonly T[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value)
}

function runKey(tenant: string, runId: string): string {
  return compoundKey('run', tenant, runId)
}

function sumKey(tenant: string, sessionId: string, runId: string): string {
  return compoundKey('sum', tenant, sessionId, runId)
}

function sessionKey(tenant: string, sessionId: string): string {
  return compoundKey('session', tenant, sessionId)
}
