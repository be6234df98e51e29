import type { Totals } from '../../../model/totals.ts'
import type { StoredRun, StoredSession } from '../../../ports/run-store.ts'
import { type Changes, firstVersion } from '../connection/changes.ts'
import { indexKey } from '../dispatches/delivery-records.ts'
import { runRecord, sessionRecord } from './run-records.ts'

/** A run as it was read, and what has become of it. */
export interface KnownRun {
  readonly run: StoredRun
  /** The session that it was created in. */
  readonly sessionId: string
  /** Absent: it is new. */
  version?: number
  /** The tags that it is stored with. */
  tags: readonly string[]
  readonly isChanged: boolean
  readonly written: { readonly state: boolean; readonly derived: boolean }
}

/** A session, likewise. Its tally is added to where it is. */
export interface KnownSession {
  readonly session: { -readonly [Name in keyof StoredSession]: StoredSession[Name] }
  version?: number
  isTouched: boolean
  hasTotals: boolean
  hasFailures: boolean
}

/** The sum below a run, likewise. */
export interface KnownSum {
  readonly tenant: string
  readonly sessionId: string
  readonly runId: string
  readonly totals: Totals
  version?: number
  isChanged: boolean
}

const ALL_WRITTEN = { state: true, derived: true } as const

/** Writes down what has become of a run; from then on it has the version that it will have. */
export function saveRun(known: KnownRun, changes: Changes): void {
  const { run, sessionId, version, written } = known
  if (version !== undefined) changes.update('runs', runRecord(run, sessionId, version, written))
  known.version = version === undefined ? firstVersion() : version + 1
  if (version === undefined) changes.insert('runs', runRecord(run, sessionId, known.version, ALL_WRITTEN))
  if (known.tags !== run.state.tags) saveTags(known, changes)
}

/** Their rows never change, and are guarded by the version of the run. */
function saveTags(known: KnownRun, changes: Changes): void {
  const { tenant, createdAt, state } = known.run
  const before = new Set(known.tags.map(indexKey))
  const after = new Set(state.tags.map(indexKey))
  const row = { run_id: state.runId, tenant, created_at: createdAt, version: 1 }
  for (const tag_key of before) if (!after.has(tag_key)) changes.remove('run_tags', { ...row, tag_key })
  for (const tag_key of after) if (!before.has(tag_key)) changes.insert('run_tags', { ...row, tag_key })
  known.tags = state.tags
}

export function saveSession(known: KnownSession, changes: Changes): void {
  const { session, version, hasTotals, hasFailures } = known
  const written = { totals: hasTotals, failures: hasFailures }
  if (version !== undefined) changes.update('sessions', sessionRecord(session, version, written))
  known.version = version === undefined ? firstVersion() : version + 1
  if (version === undefined) changes.insert('sessions', sessionRecord(session, known.version, written))
}

export function saveSum(known: KnownSum, changes: Changes): void {
  const { tenant, sessionId, runId, totals, version } = known
  const record = { tenant, session_id: sessionId, run_id: runId, totals: JSON.stringify(totals) }
  if (version !== undefined) changes.update('run_sums', { ...record, version })
  known.version = version === undefined ? firstVersion() : version + 1
  if (version === undefined) changes.insert('run_sums', { ...record, version: known.version })
}
