import { documentRecords } from '../../../src/storage/documents/document-records.ts'
import type { Documents } from '../../../src/storage/documents/index.ts'
import type { Kind } from '../../../src/storage/engine/kinds.ts'
import type { Change, Records } from '../../../src/storage/engine/records.ts'
import { mapDocuments } from './map-documents.ts'
import { drawRecord, type Row } from './records-model.ts'

export interface Harness {
  readonly texts: Map<string, string>
  readonly documents: Documents
  readonly records: Records
  /** Number of calls of each method, and of listed documents. */
  readonly calls: Record<'get' | 'list' | 'listed' | 'commit', number>
}

export function harness(texts: Map<string, string> = new Map()): Harness {
  const calls = { get: 0, list: 0, listed: 0, commit: 0 }
  const map = mapDocuments({ now: () => 1_000 }, texts)
  const counted = <T>(method: keyof typeof calls, call: () => T): T => {
    calls[method]++
    return call()
  }
  const documents: Documents = {
    now: map.now,
    get: (key) => counted('get', () => map.get(key)),
    async list(prefix, range) {
      const listed = await counted('list', () => map.list(prefix, range))
      calls.listed += listed.length
      return listed
    },
    commit: (changes) => counted('commit', () => map.commit(changes)),
  }
  return { texts, documents, records: documentRecords(documents), calls }
}

export function change(what: Change['do'], kind: Kind, ...records: readonly Row[]): Change {
  return { do: what, kind, records: records as never }
}

export function run(runId: string, more: Row = {}): Row {
  return {
    ...drawRecord('runs', () => 0),
    ...{ tenant: 't', session_id: 's', run_id: runId, tie_breaker: 0, status: 'running', created_at: 5, version: 1 },
    ...more,
  }
}

export function sums(runId: string, more: Row = {}): Row {
  return { tenant: 't', session_id: 's', run_id: runId, totals: { runs: 1 }, version: 1, ...more }
}

export function digest(id: string, more: Row = {}): Row {
  return { delivery_id: id, open_key: 'k', joined: 0, body: {}, version: 1, ...more }
}
