import { facetsOf } from '../../../model/run-facets.ts'
import { addSpend, addTotals, noSpend, noTotals, type Spend, type Totals } from '../../../model/totals.ts'
import type { StoredRun, StoredSession } from '../../../ports/run-store.ts'
import { isOpenRun } from '../../rules/run-rules.ts'
import type { Dialect } from '../connection/dialects.ts'
import type { RunRecord, SessionRecord } from '../schema/records.ts'

/** The long texts of a run that are written; an update leaves the others as they are. */
export interface Written {
  readonly state: boolean
  readonly derived: boolean
}

/** @param sessionId The session that it was created in. */
export function runRecord(run: StoredRun, sessionId: string, version: number, written: Written): RunRecord {
  const { state, derived, createdAt, updatedAt } = run
  const { status, provider, model, userId, parentRunId, tags } = facetsOf(state)
  const isPending = derived.pending.length > 0
  return {
    tenant: run.tenant,
    run_id: state.runId,
    session_id: sessionId,
    parent_run_id: parentRunId ?? null,
    top: derived.top ? 1 : null,
    status,
    provider: provider ?? null,
    model: model ?? null,
    user_id: userId ?? null,
    tags: tags.length > 0 ? tagLines(tags) : null,
    state: written.state ? JSON.stringify(state) : null,
    derived: written.derived ? JSON.stringify(derived) : null,
    created_at: createdAt,
    updated_at: updatedAt,
    last_seen_at: run.lastSeenAt,
    revision: run.revision,
    open_since: isOpenRun(status) ? createdAt : null,
    pending_since: isPending ? createdAt : null,
    over_since: isOpenRun(status) || isPending ? null : updatedAt,
    version,
  }
}

/** Tags, one a line. A list contains a tag if it contains {@link tagLines} of it: JSON has no line breaks. */
export function tagLines(tags: readonly string[]): string {
  return `\n${tags.map((tag) => JSON.stringify(tag)).join('\n')}\n`
}

/** A condition: one text contains another, to the letter. */
export function contains(text: string, part: string, { name }: Dialect): string {
  return `${name === 'postgresql' ? 'strpos' : 'instr'}(${text}, ${part}) > 0`
}

type Row = Readonly<Record<string, unknown>>

/** The columns of `runs` for {@link storedRun}. */
export const RUN_COLUMNS = [
  'tenant',
  'state',
  'derived',
  'created_at',
  'updated_at',
  'last_seen_at',
  'revision',
] as const

export function storedRun(row: Row): StoredRun {
  return {
    tenant: String(row.tenant),
    state: JSON.parse(String(row.state)),
    derived: JSON.parse(String(row.derived)),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    lastSeenAt: Number(row.last_seen_at),
    revision: Number(row.revision),
  }
}

/** The columns of `sessions` for {@link storedSession}. */
export const SESSION_COLUMNS = ['tenant', 'session_id', 'totals', 'failures', 'created_at', 'updated_at'] as const

export function storedSession(row: Row): StoredSession {
  return {
    tenant: String(row.tenant),
    sessionId: String(row.session_id),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    totals: readTotals(row.totals),
    failures: JSON.parse(String(row.failures)),
  }
}

/** @param written The texts that are written, as in {@link runRecord}. */
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
    totals: written.totals ? JSON.stringify(totals) : null,
    failures: written.failures ? JSON.stringify(failures) : null,
    version,
  }
}

/** Totals that may be added to: `noTotals()` has objects without a prototype, since callers choose the names. */
export function readTotals(text: unknown): Totals {
  const totals = noTotals()
  addTotals(totals, JSON.parse(String(text)))
  return totals
}

export function readSpend(text: unknown): Spend {
  const spend = noSpend()
  addSpend(spend, JSON.parse(String(text)))
  return spend
}
