import type { DispatchAnswer } from '../model/dispatch.ts'
import type { JsonObject } from '../model/json.ts'
import type { Page } from './dispatch-query.ts'
import type { Acceptance, AcceptOutcome, DispatchChange } from './dispatch-store.ts'

/** Where a record is. */
export interface RecordName {
  /** 1-32 characters. Records of a plugin: the name of the plugin, a full stop and the name of the kind. */
  readonly kind: string
  /** Up to 200 characters. Empty: it belongs to no tenant. */
  readonly tenant: string
  /** 1-232 characters. */
  readonly key: string
}

/** A record to store. */
export interface NewPluginRecord<Body extends object = JsonObject> extends RecordName {
  /** At most four texts of 1-300 characters, by which its kind is listed. `null`: it is in no list by this text. */
  readonly sort: readonly (string | null)[]
  /** Instant from which its removal counts, epoch milliseconds. Absent: it is never removed by age. */
  readonly expiresAt?: number | undefined
  readonly body: Body
}

/** A stored record. */
export interface PluginRecord<Body extends object = JsonObject> extends NewPluginRecord<Body> {
  /** A copy, made at each access. @throws {SallyportError} `record_unreadable`. */
  readonly body: Body
  /** Another one after each change. */
  readonly version: number
}

/** A change of one record. `insert`: it must not exist. The others: it must have this version. `compare` changes nothing. */
export type RecordChange =
  | { readonly do: 'insert'; readonly record: NewPluginRecord<object> }
  | { readonly do: 'update'; readonly record: NewPluginRecord<object>; readonly version: number }
  | { readonly do: 'remove' | 'compare'; readonly record: RecordName; readonly version: number }

/** Text by which records are found and listed: the key, or the place of a sort text. */
export type RecordText = 'key' | 0 | 1 | 2 | 3

/** Records of one kind with any of these texts. */
export interface RecordSearch {
  readonly kind: string
  readonly by: RecordText
  /** At most 1,000. */
  readonly texts: readonly { readonly tenant: string; readonly text: string }[]
}

/** A list of records of one kind and tenant, in the order of the text. */
export interface RecordQuery extends Pick<RecordName, 'kind' | 'tenant'> {
  readonly by: RecordText
  /** Only this text; without `from` and `until`. Default: all. */
  readonly is?: string | undefined
  /** Texts from this one on. Default: all. */
  readonly from?: string | undefined
  /** Texts before this one. Default: all. */
  readonly until?: string | undefined
  /** From the last to the first. */
  readonly isReverse: boolean
  readonly limit: number
  /** `nextCursor` of the previous page. An unknown one starts from the beginning. */
  readonly cursor?: string | undefined
  /** Whether a record is in the list. Pure. Default: all are. A page may have fewer records than its limit, and a cursor. */
  readonly where?: ((record: PluginRecord) => boolean) | undefined
}

/** Records as they will be stored together, or none of them. */
export interface RecordDraft {
  /** `undefined`: it does not exist, or is removed. */
  get(name: RecordName): PluginRecord | undefined
  /** Stores or replaces a record as a whole. */
  put(record: NewPluginRecord<object>): void
  remove(name: RecordName): void
}

/** Records to remove by their expiry, the oldest first. */
export interface RecordRemoval {
  readonly kind: string
  /** Default: all tenants. */
  readonly tenant?: string | undefined
  /** Their expiry lies more than this many milliseconds before the time of the store. */
  readonly expiredForMs: number
  readonly limit: number
}

/** Changes that are stored together, or none of them. At most 500 of each list. */
export interface CommitUnit {
  /** Each finds what those before it have stored. */
  readonly accept?: readonly Acceptance[] | undefined
  /** Cancelled as by `cancel` of the store, before anything is accepted. */
  readonly cancel?: readonly { readonly tenant: string; readonly dispatchId: string }[] | undefined
  readonly changes?: readonly RecordChange[] | undefined
}

/** Outcome of {@link RecordStore.commitUnit}. */
export type CommitOutcome =
  | {
      readonly outcome: 'committed'
      readonly answers: readonly DispatchAnswer[]
      /** `undefined`: the tenant has no such dispatch. */
      readonly cancelled: readonly (DispatchChange | undefined)[]
    }
  /** Some acceptances stored nothing, and so did everything else. */
  | { readonly outcome: 'refused'; readonly refused: readonly RefusedAcceptance[] }
  /** These records have another version, or exist although they are new. Nothing was stored. */
  | { readonly outcome: 'conflict'; readonly records: readonly RecordName[] }

/** An acceptance that stored nothing, and the cause. `at`: its place in the unit. */
export type RefusedAcceptance = { readonly at: number } & Exclude<AcceptOutcome, { readonly outcome: 'accepted' }>

/**
 * Stores records of plugins: JSON under a kind, a tenant and a key. A new kind is no migration. Every method throws when the store is
 * unavailable, and must then have made all of its changes or none. What the methods return may be changed by the caller.
 */
export interface RecordStore {
  /** The time of the store, by which records expire: epoch milliseconds. */
  now(): Promise<number>
  /** Finds records, in any order, each of them once. */
  findRecords(search: RecordSearch): Promise<readonly PluginRecord[]>
  /**
   * A page of records that can be read. Texts of equal length, of at most 90 characters `a-z`, `0-9` and `-`, sort by their characters, as ISO
   * dates do; so do texts of equal length that begin with the same characters and end with 16 digits. Others sort in an order that each database
   * fixes.
   */
  listRecords(query: RecordQuery): Promise<Page<PluginRecord>>
  /** The number of records of a kind whose expiry lies after the time of the store. @param limit A higher number is not counted. */
  countUnexpired(kind: string, limit: number): Promise<number>
  /**
   * Reads records, and stores what `change` makes of them; an error that it throws stores nothing, and the call rejects with it. After a concurrent
   * change, `change` is called again: it is synchronous and pure. Resolves to its last result. Concurrent calls may share a transaction, in
   * which each finds what those before it have stored. A record that `change` only reads may change before the others are stored: `compare` of
   * {@link RecordStore.commitUnit} guards it.
   *
   * @param names Records that `change` may read and store, at most 2,500.
   */
  changeRecords<Result>(names: readonly RecordName[], change: (draft: RecordDraft) => Result): Promise<Result>
  /** Resolves to the number of removed records: fewer than `limit` means that none is left. */
  removeRecords(removal: RecordRemoval): Promise<number>
  /** @throws {SallyportError} `option_invalid`: a list has more than 500 entries. */
  commitUnit(unit: CommitUnit): Promise<CommitOutcome>
}
