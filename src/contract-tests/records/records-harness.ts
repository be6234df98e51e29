import type { DerivedRunData, RunReport, RunState } from '../../model/run.ts'
import { noTotals } from '../../model/totals.ts'
import type { Kind, RecordOf } from '../../storage/engine/kinds.ts'
import type { Change, Prefix, Records, Scan, Scanned, Value } from '../../storage/engine/records.ts'
import { equal, ok } from '../assertions.ts'
import { type CaseTable, type ContractCase, casesOf, type StoreCapabilities } from '../contract.ts'

/** Empty records for one case. No other code may write to them. */
export interface RecordsTrial {
  readonly records: Records
  /** A second handle on the same records, as in another process. Omit it if there is only one. */
  readonly other?: Records
  /** The records' time in epoch milliseconds. */
  now(): number
  /** Moves the records' time forward. */
  advance(ms: number): void | Promise<void>
  /** Opens the same records again, as a process that starts later. Omit it if they do not last that long. */
  reopen?(): Records | Promise<Records>
  /** Releases the records after the case, also after a failure. */
  close?(): void | Promise<void>
}

export const LOST = 'a commit that resolves to true has made all its changes'
export const UNTOUCHED = 'a commit that resolves to false has changed nothing'
export const COMPARED = 'a commit resolves to false if a record has another version, or an inserted one exists'
export const ACCEPTED = 'a commit without a conflict resolves to true'
export const EXACT = 'values are returned as they were committed'
export const APART = 'different texts are different values'

/** A record or a change of one, by its columns. */
export type Columns = Readonly<Record<string, unknown>>

/** Records under test, with the calls that most cases make. Writes use `records`, reads use `other`. */
export interface RecordsHarness extends RecordsTrial {
  /** The second handle; `records` if there is none. */
  readonly other: Records
  readonly handles: readonly Records[]
  /** Inserts records, and fails unless it succeeds. */
  insert<Name extends Kind>(kind: Name, ...records: readonly RecordOf<Name>[]): Promise<void>
  /** Makes changes, and fails unless it succeeds. */
  change(...changes: readonly Change[]): Promise<void>
  /** The record of a key. */
  find<Name extends Kind>(kind: Name, key: Prefix): Promise<RecordOf<Name> | undefined>
  /** Records that begin with the values. @param index Default: the key. */
  findAll<Name extends Kind>(kind: Name, begin: Prefix, index?: string): Promise<readonly RecordOf<Name>[]>
  /** Values of a column of the records of a scan of at most 100. */
  scan<Name extends Kind>(column: keyof RecordOf<Name>, scan: OpenScan<Name>): Promise<readonly unknown[]>
}

/** A scan whose limit may be absent. */
export type OpenScan<Name extends Kind> = Omit<Scan<Name>, 'limit'> & Partial<Scan<Name>>

export type RecordsCase = ContractCase<RecordsTrial>

export function recordsCases(
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<RecordsHarness>,
): readonly RecordsCase[] {
  return casesOf<RecordsHarness, StoreCapabilities>(needs, table).map(({ run, ...rest }) => ({
    ...rest,
    run: (trial) => run(recordsHarness(trial)),
  }))
}

function recordsHarness(trial: RecordsTrial): RecordsHarness {
  const { records, other = records } = trial

  async function change(...changes: readonly Change[]): Promise<void> {
    equal(await records.commit(changes), true, ACCEPTED)
  }

  return {
    ...trial,
    other,
    handles: other === records ? [records] : [records, other],
    change,
    insert: (kind, ...inserted) => change(changing('insert', kind, ...inserted)),
    async find(kind, key) {
      const found = await readAll(other, kind, [key])
      ok(found.length <= 1, `a key is that of one record, got ${found.length} of ${JSON.stringify(key)}`)
      return found[0]
    },
    findAll: (kind, begin, index) => readAll(other, kind, [begin], index),
    async scan(column, scan) {
      const { found } = await other.scan({ limit: 100, ...scan })
      return found.map(({ record }) => record[column])
    },
  }
}

export function changing(what: Change['do'], kind: Kind, ...records: readonly Columns[]): Change {
  return { do: what, kind, records }
}

/** Reads records of one kind. @param index Default: the key. */
export async function readAll<Name extends Kind>(
  records: Records,
  kind: Name,
  begin: readonly Prefix[],
  index?: string,
): Promise<readonly RecordOf<Name>[]> {
  const found = await records.read([{ kind, with: begin, ...(index !== undefined && { index }) }])
  return (found[kind] ?? []) as readonly RecordOf<Name>[]
}

/** No case needs so many scans. It ends a loop of scans that do not get on. */
const MAX_SCANS = 1_000

/** Scans until no more records are left. */
export async function scanParts<Name extends Kind>(
  records: Records,
  scan: Scan<Name>,
): Promise<readonly Scanned<Name>[]> {
  const parts: Scanned<Name>[] = []
  let after = scan.after
  for (let count = 0; count < MAX_SCANS; count++) {
    const part = await records.scan({ ...scan, ...(after && { after }) })
    ok(part.found.length <= scan.limit, `a scan finds at most its limit of ${scan.limit}, got ${part.found.length}`)
    parts.push(part)
    if (!part.last) return parts
    after = part.last
  }
  ok(false, `a scan ends: it has looked at all records and has no \`last\`, got ${MAX_SCANS} parts`)
}

/** Numbers from 0 on. */
export function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at)
}

export function member(
  delivery_id: string,
  dispatch_id: string,
  others: Partial<RecordOf<'members'>> = {},
): RecordOf<'members'> {
  return { delivery_id, dispatch_id, number: 1, event_data: {}, version: 1, ...others }
}

export function stateOf(dispatch_id: string, others: Columns = {}): RecordOf<'states'> {
  return { dispatch_id, version: 1, outcomes: 'email open', body: [], ...others }
}

export function counter(name: string, others: Partial<RecordOf<'counters'>> = {}): RecordOf<'counters'> {
  return { tenant: 't', name, times: [], max: 1, window_ms: 1, expires_at: 1, version: 1, ...others }
}

export function jobOf(delivery_id: string, others: Columns = {}): RecordOf<'jobs'> {
  return {
    ...{ delivery_id, dispatch_id: 'a', tenant: 't', channel: 'email', priority: 0, concurrency_key: null, wake_at: 1 },
    ...{ waits_for: null, expires_at: 1, fence: null, attempt: 0, begun: [], version: 1 },
    ...others,
  }
}

export function sumOf(run_id: string, others: Columns = {}): RecordOf<'run_sums'> {
  return { tenant: 't', session_id: 's', run_id, totals: noTotals(), version: 1, ...others }
}

export function tagOf(run_id: string, tag_key: string, others: Columns = {}): RecordOf<'run_tags'> {
  return { tenant: 't', session_id: 's', run_id, tag_key, tie_breaker: 1, created_at: 1, version: 1, ...others }
}

export function stored(key: string, others: Partial<RecordOf<'plugin_records'>> = {}): RecordOf<'plugin_records'> {
  const texts = { a: null, b: null, c: null, d: null, expires_at: null }
  return { kind: 'k', tenant: 't', key, ...texts, body: {}, version: 1, ...others }
}

/** JSON of the column `runs.state`, which backends may check. @param mark Part of it. */
export function runState(mark: string): RunState {
  return { runId: mark, sessionId: 's', application: NO_REPORT }
}

/** JSON of the column `runs.derived`. */
export function runDerived(...pending: DerivedRunData['pending']): DerivedRunData {
  return { ended: [], pending }
}

const NO_REPORT = {} as RunReport

export function runOf(run_id: string, others: Columns = {}): RecordOf<'runs'> {
  return {
    ...{ tenant: 't', session_id: 's', run_id, tie_breaker: 1, parent_run_id: null, top: null, status: 'running' },
    ...{ provider: null, model: null, user_id: null, agent_user_id: null, tags: null },
    ...{ state: runState(run_id), derived: runDerived() },
    ...{ created_at: 1, updated_at: 1, last_seen_at: 1, revision: 1, version: 1 },
    ...{ open_since: null, pending_since: null, over_since: null },
    ...others,
  }
}

export function runKey(run_id: string): readonly Value[] {
  return [run_id, 's', 't']
}
