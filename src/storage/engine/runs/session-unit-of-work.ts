import { dayOf } from '../../../model/day.ts'
import { MAX_ANCESTORS } from '../../../model/run-tree-limit.ts'
import { shownReport } from '../../../model/shown-run.ts'
import { noTotals, type Spend, type Totals } from '../../../model/totals.ts'
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
import { applyDecision, countedParent, parentsOf } from '../../rules/run-rules.ts'
import { type Changes, firstVersion } from '../changes.ts'
import { readable } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import { plusTotals } from './plus-totals.ts'
import {
  nextTieBreaker,
  type RunRecord,
  runRecord,
  type SessionRecord,
  sessionRecord,
  storedRun,
  storedSession,
  tagKeys,
} from './run-records.ts'

/** An amount that is added to a user's spend of a day. */
export interface Spent {
  readonly tenant: string
  readonly userId: string
  /** Days since 1970, UTC. */
  readonly day: number
  readonly add: Spend
}

interface KnownRun {
  run: StoredRun
  /** As they are stored. */
  tags: readonly string[]
  /** Absent: it is new. */
  version: number | undefined
  isChanged: boolean
  hasState: boolean
  hasDerived: boolean
}

interface KnownSession {
  session: StoredSession
  version: number | undefined
  isChanged: boolean
  hasTotals: boolean
  hasFailures: boolean
}

interface KnownSum {
  totals: Totals
  version: number | undefined
  isChanged: boolean
}

/**
 * Part of a unit of work: one session with its runs and sums, for one attempt to write some merges. Each merge sees the decisions of earlier
 * ones. Values that were read or handed out never change: they are replaced.
 */
export class SessionUnitOfWork {
  /** Its compound key. */
  readonly id: string
  readonly tenant: string
  readonly sessionId: string
  /** Runs that were needed and are not loaded. Results are invalid until they are. */
  readonly missing: string[] = []
  readonly spent: Spent[] = []
  /** The run that {@link keep} prepared it for. */
  keptRunId: string | undefined
  #session: KnownSession | undefined
  /** Key of the last decision. */
  #last: MergeKey | undefined
  /** `undefined`: it was looked for. */
  readonly #runs = new Map<string, KnownRun | undefined>()
  readonly #sums = new Map<string, KnownSum | undefined>()

  constructor(id: string, { tenant, sessionId }: Pick<RunKey, 'tenant' | 'sessionId'>) {
    this.id = id
    this.tenant = tenant
    this.sessionId = sessionId
  }

  /** Whether no run is expected. */
  get isEmpty(): boolean {
    return this.#runs.size === 0
  }

  /** Declares that a run and its sum are read. Returns false if that is known. */
  expect(runId: string): boolean {
    if (this.#runs.has(runId)) return false
    this.#runs.set(runId, undefined)
    this.#sums.set(runId, undefined)
    return true
  }

  putRun(record: RunRecord): void {
    const run = storedRun(record)
    const { tags } = shownReport(run.state)
    const changes = { isChanged: false, hasState: false, hasDerived: false }
    this.#runs.set(record.run_id, { run, tags, version: record.version, ...changes })
  }

  putSum({ run_id, totals, version }: RecordOf<'run_sums'>): void {
    this.#sums.set(run_id, { totals: readable(totals), version, isChanged: false })
  }

  putSession(record: SessionRecord): void {
    const changes = { isChanged: false, hasTotals: false, hasFailures: false }
    this.#session = { session: storedSession(record), version: record.version, ...changes }
  }

  snapshot(key: MergeKey): MergeSnapshot {
    const run = this.#runOf(key.runId)?.run
    const { counted, named } = parentsOf(run, key)
    return {
      run,
      session: this.#session?.session,
      descendants: this.#sumOf(key.runId)?.totals,
      ancestors: this.#ancestorsFrom(counted),
      newAncestors: named === undefined ? undefined : this.#ancestorsFrom(named),
    }
  }

  decide(key: MergeKey, decision: MergeDecision<unknown>, now: number): StoredRun | undefined {
    const { runId } = key
    this.#last = key
    this.#changeSession(decision, now)
    const known = this.#runs.get(runId)
    const run = applyDecision(known?.run, decision, this.tenant, now)
    if (run === undefined || run === known?.run) return run
    if (known) {
      known.run = run
      known.isChanged = true
      known.hasState ||= decision.state !== undefined
      known.hasDerived ||= decision.derived !== undefined
    } else this.#runs.set(runId, newRun(run))
    return run
  }

  /** Adds all changes except spends. The unit of work then has the versions that will be stored. */
  save(changes: Changes): void {
    for (const known of this.#runs.values()) if (known?.isChanged) saveRun(known, changes)
    if (this.#session?.isChanged) saveSession(this.#session, changes)
    for (const [runId, known] of this.#sums) if (known?.isChanged) this.#saveSum(runId, known, changes)
  }

  /**
   * Prepares the unit of work, once it is written, for the next merge of the last run. Returns false if that merge needs a read, because the
   * run has ancestors or is not stored.
   */
  keep(): boolean {
    const { runId, parentRunId } = this.#last ?? {}
    const session = this.#session
    const known = runId === undefined ? undefined : this.#runs.get(runId)
    if (!known || !session || parentRunId !== undefined || countedParent(known.run) !== undefined) return false
    this.keptRunId = known.run.state.runId
    keepOnly(this.#runs, this.keptRunId)
    keepOnly(this.#sums, this.keptRunId)
    const sum = this.#sums.get(this.keptRunId)
    if (sum) sum.isChanged = false
    known.isChanged = known.hasState = known.hasDerived = false
    session.isChanged = session.hasTotals = session.hasFailures = false
    this.spent.length = 0
    return true
  }

  #runOf(runId: string): KnownRun | undefined {
    return this.#found(this.#runs, runId)
  }

  #sumOf(runId: string): KnownSum | undefined {
    return this.#found(this.#sums, runId)
  }

  #found<T>(map: Map<string, T | undefined>, runId: string): T | undefined {
    const found = map.get(runId)
    if (found === undefined && !map.has(runId)) {
      map.set(runId, undefined)
      this.missing.push(runId)
    }
    return found
  }

  #ancestorsFrom(parent: string | undefined): readonly RunAncestor[] {
    if (parent === undefined) return NO_ANCESTORS
    let runId: string | undefined = parent
    const ancestors: RunAncestor[] = []
    const met = new Set<string>()
    while (runId !== undefined && ancestors.length < MAX_ANCESTORS && !met.has(runId)) {
      met.add(runId)
      const run: StoredRun | undefined = this.#runOf(runId)?.run
      const descendants = this.#sumOf(runId)?.totals
      ancestors.push({ runId, ...(run && { run }), ...(descendants && { descendants }) })
      runId = run && countedParent(run)
    }
    return ancestors
  }

  #changeSession({ state, derived, totalsChanges, failures }: MergeDecision<unknown>, now: number): void {
    if (!state && !derived && !totalsChanges && !failures) return
    if (state) this.#session ??= newSession(this.tenant, this.sessionId, now)
    const known = this.#session
    if (!known) return
    const { session } = known
    known.isChanged = true
    known.hasTotals ||= totalsChanges !== undefined
    known.hasFailures ||= failures !== undefined
    known.session = {
      tenant: session.tenant,
      sessionId: session.sessionId,
      createdAt: session.createdAt,
      updatedAt: state ? now : session.updatedAt,
      totals: totalsChanges ? plusTotals(session.totals, totalsChanges.session) : session.totals,
      failures: failures ?? session.failures,
    }
    if (totalsChanges) this.#addTotals(totalsChanges, now)
  }

  #addTotals({ descendants, users }: TotalsChanges, now: number): void {
    for (const { runId, add } of descendants) {
      const known = this.#sumOf(runId)
      const totals = plusTotals(known?.totals ?? noTotals(), add)
      this.#sums.set(runId, { totals, version: known?.version, isChanged: true })
    }
    for (const { userId, add, at } of users)
      this.spent.push({ tenant: this.tenant, userId, day: dayOf(at ?? now), add })
  }

  #saveSum(run_id: string, known: KnownSum, changes: Changes): void {
    const { totals, version } = known
    known.version = version === undefined ? firstVersion() : version + 1
    const record = { tenant: this.tenant, session_id: this.sessionId, run_id, totals }
    if (version !== undefined) changes.update('run_sums', { ...record, version })
    else changes.insert('run_sums', { ...record, version: known.version })
  }
}

const NO_TAGS: readonly string[] = []
const NO_ANCESTORS: readonly RunAncestor[] = []

function keepOnly<T>(map: Map<string, T>, key: string): void {
  if (map.size > 1) for (const other of map.keys()) if (other !== key) map.delete(other)
}

function newRun(run: StoredRun): KnownRun {
  const all = { isChanged: true, hasState: true, hasDerived: true }
  return { run, tags: NO_TAGS, version: undefined, ...all }
}

function newSession(tenant: string, sessionId: string, now: number): KnownSession {
  const session = { tenant, sessionId, createdAt: now, updatedAt: now, totals: noTotals(), failures: [] }
  return { session, version: undefined, isChanged: true, hasTotals: true, hasFailures: true }
}

function saveRun(known: KnownRun, changes: Changes): void {
  const { run, version, hasState, hasDerived } = known
  if (known.tags !== shownReport(run.state).tags) saveTags(known, changes)
  known.version = version === undefined ? firstVersion() : version + 1
  const record = runRecord(run, version ?? known.version, { state: hasState, derived: hasDerived })
  if (version === undefined) changes.insert('runs', record)
  else changes.update('runs', record)
}

/** Records of tags never change; the version of the run guards them. */
function saveTags(known: KnownRun, changes: Changes): void {
  const { tenant, createdAt, state } = known.run
  const { tags } = shownReport(state)
  const before = tagKeys(known.tags)
  const after = tagKeys(tags)
  const { sessionId: session_id, runId: run_id } = state
  const record = { tenant, session_id, run_id, tie_breaker: nextTieBreaker(), created_at: createdAt, version: 1 }
  for (const tag_key of before) if (!after.has(tag_key)) changes.remove('run_tags', { ...record, tag_key })
  for (const tag_key of after) if (!before.has(tag_key)) changes.insert('run_tags', { ...record, tag_key })
  known.tags = tags
}

function saveSession(known: KnownSession, changes: Changes): void {
  const { session, version, hasTotals, hasFailures } = known
  known.version = version === undefined ? firstVersion() : version + 1
  const written = { totals: hasTotals, failures: hasFailures }
  if (version !== undefined) changes.update('sessions', sessionRecord(session, version, written))
  else changes.insert('sessions', sessionRecord(session, known.version, written))
}
