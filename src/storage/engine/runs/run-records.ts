import { copyJson } from '../../../model/json.ts'
import { facetsOf } from '../../../model/run-facets.ts'
import type { StoredRun, StoredSession } from '../../../ports/run-store.ts'
import { isOpenRun } from '../../rules/run-rules.ts'
import { columnOf } from '../columns.ts'
import { KINDS } from '../declarations.ts'
import { type JsonColumn, readable, type Stored, unreadable } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import type { Records } from '../records.ts'

export type RunRecord = RecordOf<'runs'>
export type SessionRecord = RecordOf<'sessions'>

/** Columns of which a {@link StoredRun} is read. */
export const RUN_COLUMNS: readonly (keyof RunRecord)[] = [
  'tenant',
  'state',
  'derived',
  'created_at',
  'updated_at',
  'last_seen_at',
  'revision',
]

/** @throws {SallyportError} `record_unreadable` */
export function storedRun(record: RunRecord): StoredRun {
  return {
    tenant: record.tenant,
    state: presentValue(record.state, 'runs.state'),
    derived: presentValue(record.derived, 'runs.derived'),
    createdAt: record.created_at,
    updatedAt: record.updated_at,
    lastSeenAt: record.last_seen_at,
    revision: record.revision,
  }
}

/** A run that its caller may change. @throws {SallyportError} `record_unreadable` */
export function ownRun(record: RunRecord, { sharesValues }: Records): StoredRun {
  const run = storedRun(record)
  return sharesValues ? copyJson(run) : run
}

/** JSON values that are written. An update keeps the others. */
export interface WrittenRun {
  readonly state: boolean
  readonly derived: boolean
}

export function runRecord(run: StoredRun, version: number, written: WrittenRun): RunRecord {
  const { state, derived, createdAt, updatedAt } = run
  const { status, provider, model, userId, agentUserId, parentRunId, tags } = facetsOf(state)
  const isOpen = isOpenRun(status)
  const isPending = derived.pending.length > 0
  return {
    tenant: run.tenant,
    session_id: state.sessionId,
    run_id: state.runId,
    tie_breaker: nextTieBreaker(),
    parent_run_id: parentRunId ?? null,
    top: derived.top === true ? 1 : null,
    status,
    provider: provider ?? null,
    model: model ?? null,
    user_id: userId ?? null,
    agent_user_id: agentUserId ?? null,
    tags: tags.length > 0 ? tagLines(tags) : null,
    state: written.state ? state : null,
    derived: written.derived ? derived : null,
    created_at: createdAt,
    updated_at: updatedAt,
    last_seen_at: run.lastSeenAt,
    revision: run.revision,
    open_since: isOpen ? createdAt : null,
    pending_since: isPending ? createdAt : null,
    over_since: isOpen || isPending ? null : updatedAt,
    version,
  }
}

/** @throws {SallyportError} `record_unreadable` */
export function storedSession(record: SessionRecord): StoredSession {
  return {
    tenant: record.tenant,
    sessionId: record.session_id,
    createdAt: record.created_at,
    updatedAt: record.updated_at,
    totals: presentValue(record.totals, 'sessions.totals'),
    failures: presentValue(record.failures, 'sessions.failures'),
  }
}

/** A copy. Its totals are shared, not copied. */
export function copySession(session: StoredSession): StoredSession {
  return { ...session, failures: copyJson(session.failures) }
}

/** @param written JSON values that are written, as in {@link runRecord}. */
export function sessionRecord(
  { tenant, sessionId, createdAt, updatedAt, totals, failures }: StoredSession,
  version: number,
  written: { readonly totals: boolean; readonly failures: boolean },
): SessionRecord {
  return {
    tenant,
    session_id: sessionId,
    created_at: createdAt,
    updated_at: updatedAt,
    totals: written.totals ? totals : null,
    failures: written.failures ? failures : null,
    version,
  }
}

/** The value of a column that an update may keep: a record that was read has one. */
function presentValue<T>(value: Stored<T> | null, column: JsonColumn): T {
  if (value === null) throw unreadable(column)
  return readable(value)
}

/** Tags, one per line. A list contains a tag if it contains `tagLines` of it: JSON has no line breaks. */
export function tagLines(tags: readonly string[]): string {
  return `\n${tags.map((tag) => JSON.stringify(tag)).join('\n')}\n`
}

const TAG_KEY_LENGTH = columnOf(KINDS.run_tags.columns.tag_key).length ?? 0

/** Start of a tag, for an index. */
export function tagKey(tag: string): string {
  return tag.length <= TAG_KEY_LENGTH ? tag : tag.slice(0, TAG_KEY_LENGTH).toWellFormed()
}

/** Keys of the records of tags. */
export function tagKeys(tags: readonly string[]): ReadonlySet<string> {
  return tags.length > 0 ? new Set(tags.map(tagKey)) : NO_KEYS
}

const NO_KEYS: ReadonlySet<string> = new Set()

let lastTieBreaker = Math.floor(Math.random() * 2 ** 49)

/**
 * Increases with each record that this process makes, so that runs of one millisecond are listed in the order of their creation. Starts at
 * random: those of two processes differ. It is `fixed`: an update does not write it.
 */
export function nextTieBreaker(): number {
  lastTieBreaker += 1
  return lastTieBreaker
}
