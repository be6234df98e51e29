import type { Page } from '../ports/dispatch-query.ts'
import type { PluginRecord, RecordChange, RecordName } from '../ports/record-store.ts'

/**
 * How records of a kind are listed and aged. The functions are pure.
 *
 * @example
 * ```ts
 * const reminders = core.records<{ readonly due: string }>('reminders', {
 *   sort: { due: ({ due }) => due },
 *   expiresAt: ({ due }) => Date.parse(due),
 * })
 * ```
 */
export interface RecordKind<Body extends object> {
  /**
   * Texts by name, by which records are listed: 1-200 characters; `undefined`: the record is not in that list. At most four. Stored records keep
   * their texts: add names at the end, and give a renamed one its place.
   */
  readonly sort?: Readonly<Record<string, (body: Body, key: string) => string | undefined>>
  /** Instant from which {@link KindRecords.prune} counts, whole epoch milliseconds. Default: records are never pruned. */
  readonly expiresAt?: (body: Body, key: string) => number | undefined
}

/** Options of {@link KindRecords.list}. */
export interface RecordListOptions {
  /** `key`, or a name of `sort`. Default: `key`. */
  readonly by?: string | undefined
  /** Only records with this text; without `from` and `until`. Default: all. */
  readonly is?: string | undefined
  /** Texts from this one on. Default: all. */
  readonly from?: string | undefined
  /** Texts before this one. Default: all. */
  readonly until?: string | undefined
  /** From the last to the first. Default: `false`. */
  readonly reverse?: boolean | undefined
  /** Records of a page, 1-500. Default: 50. */
  readonly limit?: number | undefined
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/**
 * Records of one kind of a plugin. A tenant is a text of up to 200 characters; records of no tenant have the tenant `''`. A key has 1-200
 * characters; a body is a JSON object. Methods reject with the store's error when it is unavailable, and with `option_invalid` for what no store can
 * hold.
 */
export interface KindRecords<Body extends object> {
  /** Records with these keys, in any order. A key that no record can have is not found. */
  find(tenant: string, keys: readonly string[]): Promise<readonly PluginRecord<Body>[]>
  /**
   * A page of records, in the order of the text. Texts of equal length, of at most 90 characters `a-z`, `0-9` and `-`, sort by their characters, as
   * ISO dates do; others sort in an order that each database fixes. Records that cannot be read are left out.
   */
  list(tenant: string, options?: RecordListOptions): Promise<Page<PluginRecord<Body>>>
  /**
   * Stores what `decide` returns for the stored body. `undefined` removes the record, or stores none; the given body itself leaves it as it is.
   * After a concurrent change, `decide` is called again with the new body: it is synchronous and pure. Resolves to what it returned last. To
   * remove a record with a key that no record can have changes nothing.
   */
  change(tenant: string, key: string, decide: (body: Body | undefined) => Body | undefined): Promise<Body | undefined>
  /** Removes records that have been expired for longer than this. @param tenant Default: every tenant. */
  prune(expiredForMs: number, tenant?: string): Promise<number>
  /** For `core.commit`: a new record. */
  insert(tenant: string, key: string, body: Body): RecordChange
  /** For `core.commit`: another body for the record that was read. */
  update(record: RecordName & { readonly version: number }, body: Body): RecordChange
  /** For `core.commit`: removes the record that was read. */
  remove(record: RecordName & { readonly version: number }): RecordChange
  /** For `core.commit`: nothing is stored if the record has changed since it was read. */
  compare(record: RecordName & { readonly version: number }): RecordChange
}
