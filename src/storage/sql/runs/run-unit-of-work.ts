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
import { type Changes, firstVersion } from '../connection/changes.ts'
import { indexKey } from '../dispatches/dispatch-records.ts'
import { runRecord, sessionRecord } from './run-records.ts'

/** A user's spend, to be added to that day. */
export interface Spent {
  readonly tenant: string
  readonly userId: string
  /** Days since 1970, UTC. */
  readonly day: number
  readonly add: Spend
}

/** The rows of the last merge in a session, with the versions that it wrote. */
export interface LastMerge {
  readonly run: StoredRun
  readonly runVersion: number
  readonly session: StoredSession
  readonly sessionVersion: number
  /** The totals of the run's descendants. */
  readonly descendants: { readonly totals: Totals; readonly version: number } | undefined
}

/** A run as it is now. */
interface KnownRun {
  readonly run: StoredRun
  /** The session that it was created in. */
  readonly sessionId: string
  /** Absent: it is new. */
  version?: number
  /** The tags in its rows. */
  tags: readonly string[]
  readonly isChanged: boolean
  readonly written: { readonly state: boolean; readonly derived: boolean }
}

interface KnownSession {
  readonly session: { -readonly [Name in keyof StoredSession]: StoredSession[Name] }
  version?: number
  isTouched: boolean
  hasTotals: boolean
  hasFailures: boolean
}

/** The totals of the descendants of a run. */
interface KnownSum {
  readonly tenant: string
  readonly sessionId: string
  readonly runId: string
  readonly totals: Totals
  version?: number
  isChanged: boolean
}

const NOT_WRITTEN = { state: false, derived: false } as const
const ALL_WRITTEN = { state: true, derived: true } as const

/**
 * Unit of work: the runs, sessions and sums that were read for some merges, and the decisions so far. Each merge sees the decisions
 * before it. It is for one attempt to write them.
 */
export class RunUnitOfWork {
  /** Keys that were asked for and have not been read. Results are invalid until these are read. */
  readonly missing: RunKey[] = []
  readonly spent: Spent[] = []
  readonly #runs = new Map<string, KnownRun>()
  readonly #sessions = new Map<string, KnownSession>()
  readonly #sums = new Map<string, KnownSum>()
  /** The keys that were looked for, found or not. */
  readonly #looked = new Set<string>()

  putRun(run: StoredRun, sessionId: string, version: number): void {
    const { runId, tags } = run.state
    this.#runs.set(runKey(run.tenant, runId), { run, sessionId, version, tags, isChanged: false, written: NOT_WRITTEN })
  }

  putSession(session: StoredSession, version: number): void {
    const known = { session: { ...session }, version, isTouched: false, hasTotals: false, hasFailures: false }
    this.#sessions.set(sessionKey(session.tenant, session.sessionId), known)
  }

  putSum(tenant: string, sessionId: string, runId: string, totals: Totals, version: number): void {
    this.#sums.set(sumKey(tenant, sessionId, runId), { tenant, sessionId, runId, totals, version, isChanged: false })
  }

  /** Call it once everything that was read for these keys has been put in. */
  begin(keys: readonly RunKey[]): void {
    // The query followed the same ancestors.
    for (const key of keys) this.snapshot(key)
    this.missing.length = 0
  }

  snapshot(key: RunKey): MergeSnapshot {
    const run = this.#run(key)?.run
    const session = this.#session(key)?.session
    return {
      run,
      session: session && { ...session },
      descendants: this.#sum(key)?.totals,
      ancestors: this.#ancestors(key, run),
    }
  }

  /** Applies a decision. Returns the run after it. */
  decide(key: RunKey, decision: MergeDecision<unknown>, now: number): StoredRun | undefined {
    const { tenant, sessionId, runId } = key
    this.#changeSession(key, decision, now)
    const found = this.#run(key)
    const run = applyDecision(found?.run, decision, tenant, now)
    if (run === undefined || run === found?.run) return run
    // A run of another session: merges there must see the change.
    if (found && found.sessionId !== sessionId && (decision.state || decision.derived)) {
      const other = this.#session({ tenant, sessionId: found.sessionId, runId })
      if (other) other.isTouched = true
    }
    const { state, derived } = found?.written ?? NOT_WRITTEN
    this.#runs.set(runKey(tenant, runId), {
      sessionId,
      tags: [],
      ...found,
      run,
      isChanged: true,
      written: { state: state || decision.state !== undefined, derived: derived || decision.derived !== undefined },
    })
    return run
  }

  /** Adds all changes except spends. Afterwards the unit of work has the versions that will be stored. */
  save(changes: Changes): void {
    for (const known of inOrder(this.#runs)) if (known.isChanged) saveRun(known, changes)
    for (const known of inOrder(this.#sessions)) if (known.isTouched) saveSession(known, changes)
    for (const known of inOrder(this.#sums)) if (known.isChanged) saveSum(known, changes)
  }

  /** The rows of a run without ancestors, after they are written. */
  last({ tenant, sessionId, runId, parentRunId }: RunKey): LastMerge | undefined {
    const known = this.#runs.get(runKey(tenant, runId))
    const { session, version } = this.#sessions.get(sessionKey(tenant, sessionId)) ?? {}
    if (known?.version === undefined || known.sessionId !== sessionId || !session || version === undefined)
      return undefined
    if (parentRunId !== undefined || known.run.state.parentRunId !== undefined) return undefined
    const sum = this.#sums.get(sumKey(tenant, sessionId, runId))
    const descendants = sum?.version === undefined ? undefined : { totals: sum.totals, version: sum.version }
    return { run: known.run, runVersion: known.version, session, sessionVersion: version, descendants }
  }

  #lookedFor(key: string, { tenant, sessionId, runId }: RunKey): string {
    if (!this.#looked.has(key)) {
      this.#looked.add(key)
      this.missing.push({ tenant, sessionId, runId })
    }
    return key
  }

  #run(key: RunKey): KnownRun | undefined {
    return this.#runs.get(this.#lookedFor(runKey(key.tenant, key.runId), key))
  }

  #sum(key: RunKey): KnownSum | undefined {
    return this.#sums.get(this.#lookedFor(sumKey(key.tenant, key.sessionId, key.runId), key))
  }

  #session(key: RunKey): KnownSession | undefined {
    return this.#sessions.get(this.#lookedFor(sessionKey(key.tenant, key.sessionId), key))
  }

  /** {@link MergeSnapshot.ancestors}: none if the run's derived data says `top`. */
  #ancestors({ tenant, sessionId, parentRunId }: RunKey, own: StoredRun | undefined): readonly RunAncestor[] {
    let runId = own?.derived.top ? undefined : (own?.state.parentRunId ?? parentRunId)
    const ancestors: RunAncestor[] = []
    const met = new Set<string>()
    while (runId !== undefined && ancestors.length < MAX_RUNS_ABOVE && !met.has(runId)) {
      met.add(runId)
      const key: RunKey = { tenant, sessionId, runId }
      const found = this.#run(key)
      const run: StoredRun | undefined = found?.sessionId === sessionId ? found.run : undefined
      const descendants = this.#sum(key)?.totals
      ancestors.push({ runId, ...(run && { run }), ...(descendants && { descendants }) })
      runId = run?.derived.top ? undefined : run?.state.parentRunId
    }
    return ancestors
  }

  #changeSession(key: RunKey, { state, derived, totalsChanges, failures }: MergeDecision<unknown>, now: number): void {
    if (!state && !derived && !totalsChanges && !failures) return
    const known = this.#session(key) ?? (state && this.#openSession(key, now))
    if (!known) return
    known.isTouched = true
    if (state) known.session.updatedAt = now
    if (failures) {
      known.session.failures = failures
      known.hasFailures = true
    }
    if (totalsChanges) this.#addTotals(totalsChanges, known, now)
  }

  #openSession({ tenant, sessionId }: RunKey, now: number): KnownSession {
    const session = { tenant, sessionId, createdAt: now, updatedAt: now, totals: noTotals(), failures: [] }
    const known = { session, isTouched: true, hasTotals: true, hasFailures: true }
    this.#sessions.set(sessionKey(tenant, sessionId), known)
    return known
  }

  #addTotals({ session, descendants, users }: TotalsChanges, known: KnownSession, now: number): void {
    const { tenant, sessionId, totals } = known.session
    known.hasTotals = true
    addTotals(totals, session)
    for (const { runId, add } of descendants) {
      const key = { tenant, sessionId, runId }
      const sum = this.#sum(key) ?? { ...key, totals: noTotals(), isChanged: true }
      sum.isChanged = true
      addTotals(sum.totals, add)
      this.#sums.set(sumKey(tenant, sessionId, runId), sum)
    }
    for (const { userId, add, at } of users) this.spent.push({ tenant, userId, day: dayOf(at ?? now), add })
  }
}

function saveRun(known: KnownRun, changes: Changes): void {
  const { run, sessionId, version, written } = known
  if (version !== undefined) changes.update('runs', runRecord(run, sessionId, version, written))
  known.version = version === undefined ? firstVersion() : version + 1
  if (version === undefined) changes.insert('runs', runRecord(run, sessionId, known.version, ALL_WRITTEN))
  if (known.tags !== run.state.tags) saveTags(known, changes)
}

/** Rows of tags never change; the version of the run guards them. */
function saveTags(known: KnownRun, changes: Changes): void {
  const { tenant, createdAt, state } = known.run
  const before = new Set(known.tags.map(indexKey))
  const after = new Set(state.tags.map(indexKey))
  const row = { run_id: state.runId, tenant, created_at: createdAt, version: 1 }
  for (const tag_key of before) if (!after.has(tag_key)) changes.remove('run_tags', { ...row, tag_key })
  for (const tag_key of after) if (!before.has(tag_key)) changes.insert('run_tags', { ...row, tag_key })
  known.tags = state.tags
}

function saveSession(known: KnownSession, changes: Changes): void {
  const { session, version, hasTotals, hasFailures } = known
  known.version = version === undefined ? firstVersion() : version + 1
  const written = { totals: hasTotals, failures: hasFailures }
  if (version !== undefined) changes.update('sessions', sessionRecord(session, version, written))
  else changes.insert('sessions', sessionRecord(session, known.version, written))
}

function saveSum(known: KnownSum, changes: Changes): void {
  const { tenant, sessionId, runId, totals, version } = known
  known.version = version === undefined ? firstVersion() : version + 1
  const record = { tenant, session_id: sessionId, run_id: runId, totals: JSON.stringify(totals) }
  if (version !== undefined) changes.update('run_sums', { ...record, version })
  else changes.insert('run_sums', { ...record, version: known.version })
}

/** Sorted by key, so that all writers lock rows in the same order. */
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
