import { dayOf } from '../../../model/day.ts'
import { MAX_ANCESTORS } from '../../../model/run-tree-limit.ts'
import { shownReport } from '../../../model/shown-run.ts'
import { addTotals, noTotals, type Spend, type Totals } from '../../../model/totals.ts'
import type {
  MergeDecision,
  MergeKey,
  MergeSnapshot,
  RunAncestor,
  RunKey,
  StoredRun,
  StoredSession,
  TotalsChanges,
} from '../../../ports/run-store.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { applyDecision, countedParent, parentsOf } from '../../rules/run-rules.ts'
import { type Changes, firstVersion } from '../connection/changes.ts'
import { runRecord, sessionRecord, tagKey, tieBreaker } from './run-records.ts'

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
  readonly descendants: { readonly totals: Totals; readonly version: number } | undefined
}

interface KnownRun {
  readonly run: StoredRun
  /** Absent: it is new. */
  version?: number
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

/** Unit of work: runs, sessions and sums of some merges, for one attempt to write them. Each merge sees the decisions of earlier ones. */
export class RunUnitOfWork {
  /** Requested keys that are not loaded. Results are invalid until they are. */
  readonly missing: MergeKey[] = []
  readonly spent: Spent[] = []
  readonly #runs = new Map<string, KnownRun>()
  readonly #sessions = new Map<string, KnownSession>()
  readonly #sums = new Map<string, KnownSum>()
  /** Keys that were looked up, found or not. */
  readonly #looked = new Set<string>()

  putRun(run: StoredRun, version: number): void {
    const { sessionId, runId } = run.state
    const known = { run, version, tags: shownReport(run.state).tags, isChanged: false, written: NOT_WRITTEN }
    this.#runs.set(runKey({ tenant: run.tenant, sessionId, runId }), known)
  }

  putSession(session: StoredSession, version: number): void {
    const known = { session: { ...session }, version, isTouched: false, hasTotals: false, hasFailures: false }
    this.#sessions.set(sessionKey(session.tenant, session.sessionId), known)
  }

  putSum(tenant: string, sessionId: string, runId: string, totals: Totals, version: number): void {
    this.#sums.set(sumKey(tenant, sessionId, runId), { tenant, sessionId, runId, totals, version, isChanged: false })
  }

  /** Call it once all data of these keys has been put in. */
  begin(keys: readonly MergeKey[]): void {
    // The query followed the same ancestors.
    for (const key of keys) this.snapshot(key)
    this.missing.length = 0
  }

  snapshot(key: MergeKey): MergeSnapshot {
    const run = this.#run(key)?.run
    const session = this.#session(key)?.session
    return {
      run,
      session: session && { ...session },
      descendants: this.#sum(key)?.totals,
      ...this.#ancestors(key, run),
    }
  }

  decide(key: RunKey, decision: MergeDecision<unknown>, now: number): StoredRun | undefined {
    this.#changeSession(key, decision, now)
    const found = this.#run(key)
    const run = applyDecision(found?.run, decision, key.tenant, now)
    if (run === undefined || run === found?.run) return run
    const { state, derived } = found?.written ?? NOT_WRITTEN
    this.#runs.set(runKey(key), {
      tags: [],
      ...found,
      run,
      isChanged: true,
      written: { state: state || decision.state !== undefined, derived: derived || decision.derived !== undefined },
    })
    return run
  }

  /** Adds all changes except spends. The unit of work then has the versions that will be stored. */
  save(changes: Changes): void {
    for (const known of inOrder(this.#runs)) if (known.isChanged) saveRun(known, changes)
    for (const known of inOrder(this.#sessions)) if (known.isTouched) saveSession(known, changes)
    for (const known of inOrder(this.#sums)) if (known.isChanged) saveSum(known, changes)
  }

  /** The rows of a run without ancestors, after they are written. */
  last({ tenant, sessionId, runId, parentRunId }: MergeKey): LastMerge | undefined {
    const known = this.#runs.get(runKey({ tenant, sessionId, runId }))
    const { session, version } = this.#sessions.get(sessionKey(tenant, sessionId)) ?? {}
    if (known?.version === undefined || !session || version === undefined) return undefined
    if (parentRunId !== undefined || countedParent(known.run) !== undefined) return undefined
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
    return this.#runs.get(this.#lookedFor(runKey(key), key))
  }

  #sum(key: RunKey): KnownSum | undefined {
    return this.#sums.get(this.#lookedFor(sumKey(key.tenant, key.sessionId, key.runId), key))
  }

  #session(key: RunKey): KnownSession | undefined {
    return this.#sessions.get(this.#lookedFor(sessionKey(key.tenant, key.sessionId), key))
  }

  #ancestors(key: MergeKey, own: StoredRun | undefined): Pick<MergeSnapshot, 'ancestors' | 'newAncestors'> {
    const { counted, named } = parentsOf(own, key)
    const ancestors = this.#ancestorsFrom(counted, key)
    return named === undefined ? { ancestors } : { ancestors, newAncestors: this.#ancestorsFrom(named, key) }
  }

  #ancestorsFrom(parent: string | undefined, { tenant, sessionId }: RunKey): readonly RunAncestor[] {
    let runId = parent
    const ancestors: RunAncestor[] = []
    const met = new Set<string>()
    while (runId !== undefined && ancestors.length < MAX_ANCESTORS && !met.has(runId)) {
      met.add(runId)
      const key: RunKey = { tenant, sessionId, runId }
      const run: StoredRun | undefined = this.#run(key)?.run
      const descendants = this.#sum(key)?.totals
      ancestors.push({ runId, ...(run && { run }), ...(descendants && { descendants }) })
      runId = run && countedParent(run)
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
  const { run, version, written } = known
  if (version !== undefined) changes.update('runs', runRecord(run, version, written))
  known.version = version === undefined ? firstVersion() : version + 1
  if (version === undefined) changes.insert('runs', runRecord(run, known.version, ALL_WRITTEN))
  if (known.tags !== shownReport(run.state).tags) saveTags(known, changes)
}

/** Rows of tags never change; the version of the run guards them. */
function saveTags(known: KnownRun, changes: Changes): void {
  const { tenant, createdAt, state } = known.run
  const before = new Set(known.tags.map(tagKey))
  const after = new Set(shownReport(state).tags.map(tagKey))
  const { sessionId: session_id, runId: run_id } = state
  const row = { tenant, session_id, run_id, tie_breaker: tieBreaker(), created_at: createdAt, version: 1 }
  for (const tag_key of before) if (!after.has(tag_key)) changes.remove('run_tags', { ...row, tag_key })
  for (const tag_key of after) if (!before.has(tag_key)) changes.insert('run_tags', { ...row, tag_key })
  known.tags = shownReport(state).tags
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

function runKey({ tenant, sessionId, runId }: RunKey): string {
  return compoundKey('run', tenant, sessionId, runId)
}

function sumKey(tenant: string, sessionId: string, runId: string): string {
  return compoundKey('sum', tenant, sessionId, runId)
}

function sessionKey(tenant: string, sessionId: string): string {
  return compoundKey('session', tenant, sessionId)
}
