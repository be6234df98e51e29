import { facetsOf } from '../../../model/run-facets.ts'
import { addSpend, addTally, noSpend, noTally, type Spend, type Tally } from '../../../model/tally.ts'
import type { StoredRun, StoredSession } from '../../../ports/run-store.ts'
import { isOpenRun } from '../../rules/is-open-run.ts'
import type { RunRecord, SessionRecord } from '../schema/records.ts'

/** Which of its texts a record of a run has: an update leaves alone what has not changed. */
export interface Written {
  readonly state: boolean
  readonly account: boolean
}

/** @param sessionId The session that it was created in. */
export function runRecord(run: StoredRun, sessionId: string, version: number, written: Written): RunRecord {
  const { state, account, createdAt, updatedAt } = run
  const { status, provider, model, userId, parentRunId, tags } = facetsOf(state)
  const isUntold = account.untold.length > 0
  return {
    tenant: run.tenant,
    run_id: state.runId,
    session_id: sessionId,
    parent_run_id: parentRunId ?? null,
    top: account.top ? 1 : null,
    status,
    provider: provider ?? null,
    model: model ?? null,
    user_id: userId ?? null,
    tags: tags.length > 0 ? tagLines(tags) : null,
    state: written.state ? JSON.stringify(state) : null,
    account: written.account ? JSON.stringify(account) : null,
    created_at: createdAt,
    updated_at: updatedAt,
    last_seen_at: run.lastSeenAt,
    revision: run.revision,
    open_since: isOpenRun(status) ? createdAt : null,
    untold_since: isUntold ? createdAt : null,
    over_since: isOpenRun(status) || isUntold ? null : updatedAt,
    version,
  }
}

/** Tags such that one is found as {@link tagLines} of it alone: no JSON has a line break within. */
export function tagLines(tags: readonly string[]): string {
  return `\n${tags.map((tag) => JSON.stringify(tag)).join('\n')}\n`
}

type Row = Readonly<Record<string, unknown>>

/** The columns of `runs` that a stored run is read from. */
export const RUN_COLUMNS = [
  'tenant',
  'state',
  'account',
  'created_at',
  'updated_at',
  'last_seen_at',
  'revision',
] as const

export function storedRun(row: Row): StoredRun {
  return {
    tenant: String(row.tenant),
    state: JSON.parse(String(row.state)),
    account: JSON.parse(String(row.account)),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    lastSeenAt: Number(row.last_seen_at),
    revision: Number(row.revision),
  }
}

/** The columns of `sessions` that a stored session is read from. */
export const SESSION_COLUMNS = ['tenant', 'session_id', 'tally', 'failures', 'created_at', 'updated_at'] as const

export function storedSession(row: Row): StoredSession {
  return {
    tenant: String(row.tenant),
    sessionId: String(row.session_id),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    tally: readTally(row.tally),
    failures: JSON.parse(String(row.failures)),
  }
}

/** @param written Which of its texts the record has, as with {@link runRecord}. */
export function sessionRecord(
  { tenant, sessionId, createdAt, updatedAt, tally, failures }: StoredSession,
  version: number,
  written: { readonly tally: boolean; readonly failures: boolean },
): SessionRecord {
  return {
    tenant,
    session_id: sessionId,
    created_at: createdAt,
    updated_at: updatedAt,
    tally: written.tally ? JSON.stringify(tally) : null,
    failures: written.failures ? JSON.stringify(failures) : null,
    version,
  }
}

/** A sum that may be added to: names come from callers, and an object that was read has some of its own. */
export function readTally(text: unknown): Tally {
  const tally = noTally()
  addTally(tally, JSON.parse(String(text)))
  return tally
}

export function readSpend(text: unknown): Spend {
  const spend = noSpend()
  addSpend(spend, JSON.parse(String(text)))
  return spend
}
