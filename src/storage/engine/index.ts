/**
 * A store over records, for a database of your own with indexes and transactions.
 * @module sallyport/storage/engine
 */
import { bool, fn, whole } from '../../options/checks.ts'
import { type Checks, readOptions, required } from '../../options/read-options.ts'
import type { SallyportStore } from '../../ports/sallyport-store.ts'
import { storeOf } from './engine-store.ts'
import type { Records } from './records.ts'

export { type Column, type ColumnKind, type ColumnWords, columnOf } from './columns.ts'
export { KINDS } from './declarations.ts'
export { type JsonColumn, type Stored, Unreadable } from './json-values.ts'
export type { IndexOf, Kind, RecordOf } from './kinds.ts'
export type {
  Change,
  ClaimedJob,
  ClaimedJobs,
  Filter,
  FilterTarget,
  FilterTest,
  Follow,
  Found,
  Prefix,
  Records,
  Scan,
  Scanned,
  ScannedRecord,
  TimeBounds,
  Value,
  Wanted,
} from './records.ts'

const CHECKS: Checks<Records> = {
  ...{ now: required(fn), read: required(fn), scan: required(fn), commit: required(fn) },
  ...{ claim: fn, isRefusal: fn, sharesValues: bool },
  ...{ timeoutMs: whole(1, 600_000), maxClaimed: whole(1, 10_000) },
}

/**
 * A store over your records. It keeps every guarantee of the ports if your records keep those of {@link Records}: run `recordsContract` of
 * `sallyport/testing` over them.
 *
 * @param records Its functions are called without `this`: use closures, or `bind` them.
 *
 * @example
 * ```ts
 * createSallyport({ auth, store: engineStore(myRecords(database)) })
 * ```
 * @throws {SallyportError} `option_invalid`, with all problems of the records.
 */
export function engineStore(records: Records): SallyportStore {
  return storeOf(readOptions('engineStore', records, CHECKS))
}
