import type { ClaimRequest } from '../../ports/dispatch-store.ts'
import type { Kind, RecordOf } from './kinds.ts'

/**
 * Stored records, which the engine makes a store of. `KINDS` of `declarations.ts` declares their kinds. Every method throws when the records are unavailable,
 * and has then changed nothing, or the engine cannot know whether it has.
 */
export interface Records {
  /** The time of the records, by one clock for all processes. */
  now(): TimeBounds | Promise<TimeBounds>
  /** Reads records by key or index, all as they were at one moment. Each record comes once, in any order. */
  read(wanted: readonly Wanted[]): Promise<Found>
  /** Reads parts of indexes, in their order. What was committed before the call is found; the records may be of different moments. */
  scan<Name extends Kind>(scan: Scan<Name>): Promise<Scanned<Name>>
  /**
   * Makes all changes in one transaction and resolves to `true`, if every inserted record is new and every other one has its version.
   * Otherwise it changes nothing and resolves to `false`. Of two concurrent commits that change or compare one record of the same version,
   * with at least one that changes it, one resolves to `false`. Committed changes survive a crash, as far as the database promises.
   */
  commit(changes: readonly Change[]): Promise<boolean>
  /** Leases due jobs in one step. Default: the engine scans, reads and commits. */
  claim?(request: ClaimRequest, fence: string): Promise<ClaimedJobs>
  /** Values of JSON that it returns are those that it keeps: the engine copies them for callers. Default: each call returns new ones. */
  readonly sharesValues?: boolean
  /** Whether the values of one record caused an error, and not the state of the records: the others of a batch are then written without it. */
  isRefusal?(cause: unknown): boolean
  /** Limit in milliseconds for the wait of a call to begin, and again for its duration; it then rejects. Default: no limit. */
  readonly timeoutMs?: number
  /** Most jobs that the engine leases or expires in one commit. Default: no limit. */
  readonly maxClaimed?: number
}

/** Whole epoch milliseconds between which the time of the records lies. Both are equal if it is known exactly. */
export interface TimeBounds {
  readonly earliest: number
  readonly latest: number
}

/** A value of a column of a key or an index. */
export type Value = string | number

/** Values of the leading columns of a key or an index. */
export type Prefix = readonly Value[]

/** Records of one kind to read: those whose key or index begins with any of these values. */
export interface Wanted {
  readonly kind: Kind
  /** Default: the key. */
  readonly index?: string
  readonly with: readonly Prefix[]
  /** Only these columns are used, besides those of the key: the others need not be right. Default: all. */
  readonly columns?: readonly string[]
  /** Reads more records of the kind. A backend may ignore it: the engine then reads them itself, more slowly. */
  readonly follow?: Follow
}

/**
 * The records whose keys are those of the records read, with the first value of the key replaced by a column's value; then those of these
 * records, and so on.
 */
export interface Follow {
  readonly column: string
  /** Not from records in which this flag is set. */
  readonly unless: string
  readonly depth: number
  /** Kinds with the same key columns: their records of all these keys are read too, whether the followed record exists or not. */
  readonly also: readonly Kind[]
}

/** Records by kind. */
export type Found = { readonly [Name in Kind]?: readonly RecordOf<Name>[] }

/**
 * A part of an index: the records that begin with the values of a prefix, from a position on and before another one, in the order of the
 * remaining columns; records of equal columns in a fixed order. Numbers sort by size. Texts sort in a fixed order, in which texts of equal length that begin with the
 * same characters and end with 16 digits sort by these.
 */
export interface Scan<Name extends Kind = Kind> {
  readonly kind: Name
  /**
   * The index is one of this kind, whose key has all columns of the key of the scan's kind: each of its records names one of that kind, and is
   * left out if there is none. Columns of the index have the same values in both. Default: the scan's kind.
   */
  readonly by?: Kind
  /** Default: the key. */
  readonly index?: string
  /** Values of the leading columns. Several: their records are merged in the order of the columns after them. All have as many values. */
  readonly with: readonly Prefix[]
  /** From this position on: records whose leading columns after the prefix are not below it. */
  readonly from?: Prefix
  /** Before this position. */
  readonly until?: Prefix
  /** After this position, in the direction of the scan: records whose leading columns are equal to it are left out. */
  readonly after?: Prefix
  readonly isReverse?: boolean
  /** All must match. */
  readonly where?: readonly Filter[]
  /** Most records that match. */
  readonly limit: number
  /** Most records that are looked at. Default: no limit. */
  readonly most?: number
  /** Only these columns are used, besides those of the index: the others need not be right. Default: all. */
  readonly columns?: readonly string[]
}

/** A condition on a record, or on another one that belongs to it. */
export type Filter = FilterTarget & FilterTest

/** The record that a filter is about. */
export interface FilterTarget {
  /**
   * The condition is on the record of this kind, which is found by its whole key: by columns of the scanned record of the same names, and
   * by `key`. Without that record the scanned one does not match. Default: on the scanned record.
   */
  readonly of?: Kind
  readonly key?: Readonly<Record<string, Value>>
}

/** The test of a filter. */
export type FilterTest =
  /** The other record exists. */
  | { readonly column?: never }
  | { readonly column: string; readonly in: readonly Value[] }
  /** The text has this part. */
  | { readonly column: string; readonly contains: string }
  | { readonly column: string; readonly lacks: string }
  | { readonly column: string; readonly below: number }

/** The result of a scan. */
export interface Scanned<Name extends Kind> {
  readonly found: readonly ScannedRecord<Name>[]
  /** Position of the last record that was looked at, whether it matched or not. Absent: there are no more after it. */
  readonly last?: Prefix
}

/** A record that a scan found, and where. */
export interface ScannedRecord<Name extends Kind> {
  readonly record: RecordOf<Name>
  /** Values of the columns of the index after the prefix, then what distinguishes records of equal columns. */
  readonly at: Prefix
}

/**
 * Records of one kind to change. `insert`: they must not exist. `update`: replaces the columns of the record that are not `fixed`, and adds 1 to
 * its version; an absent `kept` column stays as it is. `remove` and `compare` read the key and the version alone. All but `insert` name the
 * version that was read. Removals come before insertions: one commit may remove a record and insert it anew.
 */
export interface Change<Name extends Kind = Kind> {
  readonly do: 'insert' | 'update' | 'remove' | 'compare'
  readonly kind: Name
  readonly records: readonly Partial<RecordOf<Name>>[]
}

/** Result of {@link Records.claim}. */
export interface ClaimedJobs {
  readonly leased: readonly ClaimedJob[]
  /** Time of the claim. */
  readonly now: number
  /** The next due time or end of a lease of a job that may be claimed; `Infinity`: none is known. */
  readonly nextAt: number
  /** As in `Claims.last`. */
  readonly last: Readonly<Record<string, string>>
}

/** A leased job, with the other records of its delivery. */
export interface ClaimedJob {
  /** As it was before the claim. */
  readonly job: RecordOf<'jobs'>
  readonly dispatch: RecordOf<'dispatches'>
  readonly state: RecordOf<'states'>
  /** Absent: a digest that is not rendered. */
  readonly content: RecordOf<'contents'> | undefined
}
