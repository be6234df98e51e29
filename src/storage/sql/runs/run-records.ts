import { facetsOf } from '../../../model/run-facets.ts'
import { addSpend, addTotals, noSpend, noTotals, type Spend, type Totals } from '../../../model/totals.ts'
import type { StoredRun, StoredSession } from '../../../ports/run-store.ts'
import { isOpenRun } from '../../rules/run-rules.ts'
import { firstVersion } from '../connection/changes.ts'
import type { RunRecord, SessionRecord } from '../schema/records.ts'
import { readStored } from '../schema/stored-json.ts'
import { TAG_KEY_LENGTH } from '../schema/tables.ts'

/** Long texts of a run that are written. An update keeps the others. */
export interface Written {
  readonly state: boolean
  readonly derived: boolean
}

export function runRecord(run: StoredRun, version: number, written: Written): RunRecord {
  const { state, derived, createdAt, updatedAt } = run
  const { status, provider, model, userId, agentUserId, parentRunId, tags } = facetsOf(state)
  const isPending = derived.pending.length > 0
  return {
    tenant: run.tenant,
    session_id: state.sessionId,
    run_id: state.runId,
    tie_breaker: tieBreaker(),
    parent_run_id: parentRunId ?? null,
    top: derived.top === true ? 1 : null,
    status,
    provider: provider ?? null,
    model: model ?? null,
    user_id: userId ?? null,
    agent_user_id: agentUserId ?? null,
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

/** Tags, one per line. A list contains a tag if it contains {@link tagLines} of it: JSON has no line breaks. */
export function tagLines(tags: readonly string[]): string {
  return `\n${tags.map((tag) => JSON.stringify(tag)).join('\n')}\n`
}

/** Start of a tag, for an index. */
export function tagKey(tag: string): string {
  return tag.length <= TAG_KEY_LENGTH ? tag : tag.slice(0, TAG_KEY_LENGTH).toWellFormed()
}

/** Only an insert writes it. */
export function tieBreaker(): number {
  return firstVersion()
}

type Row = Readonly<Record<string, unknown>>

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
    state: readStored('runs.state', String(row.state)),
    derived: readStored('runs.derived', String(row.derived)),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    lastSeenAt: Number(row.last_seen_at),
    revision: Number(row.revision),
  }
}

export const SESSION_COLUMNS = ['tenant', 'session_id', 'totals', 'failures', 'created_at', 'updated_at'] as const

export function storedSession(row: Row): StoredSession {
  return {
    tenant: String(row.tenant),
    sessionId: String(row.session_id),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    totals: readTotals('sessions', row.totals),
    failures: readStored('sessions.failures', String(row.failures)),
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

/** Totals that can be added to. `noTotals()` creates objects without a prototype, because callers choose the names. */
export function readTotals(table: 'sessions' | 'run_sums', text: unknown): Totals {
  const totals = noTotals()
  addTotals(totals, readStored(`${table}.totals`, String(text)))
  return totals
}

export function readSpend(text: unknown): Spend {
  const spend = noSpend()
  addSpend(spend, readStored('spends.spend', String(text)))
  return spend
}
