import { SallyportError } from '../errors.ts'
import { isStorable, type JsonObject, membersOf, toJson } from '../model/json.ts'
import { bool, fn, matching, oneOf, recordOf, whole } from '../options/checks.ts'
import {
  type Check,
  type Checks,
  faultOf,
  optionError,
  problemsAt,
  type Rules,
  readOptions,
} from '../options/read-options.ts'
import { kindOf, shownName } from '../options/shown-value.ts'
import { wrongReturn } from '../options/wrong-return.ts'
import type { Clock } from '../ports/clock.ts'
import type { Page } from '../ports/dispatch-query.ts'
import type {
  NewPluginRecord,
  PluginRecord,
  RecordChange,
  RecordName,
  RecordStore,
  RecordText,
} from '../ports/record-store.ts'
import { age } from '../services/call-checks.ts'
import { MAX_PAGE, pageChecks, pruneAll, readCursor, viewPage } from '../services/pagination.ts'
import type { PluginCore } from './plugin.ts'

/**
 * How records of a kind are listed and aged. The functions are pure.
 *
 * @example
 * ```ts
 * const reminders = recordsOf<{ readonly due: string }>(core, 'reminders', {
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
  /**
   * Records with these keys, in any order. A key that no record can have is not found.
   *
   * @param by A name of `sort`, whose texts `keys` are then; each may find any number of records. Default: `key`.
   */
  find(tenant: string, keys: readonly string[], by?: string): Promise<readonly PluginRecord<Body>[]>
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

/** As in the store. */
const MAX_KIND = 32
/** Less than stores take: they keep a key of 232 characters, and sort texts of 300. */
const MAX_TEXT = 200
const MAX_SORT = 4
const DEFAULT_PAGE = 50

const KIND = /^[a-z][a-z0-9_]*$/
const SORT_NAME = /^[a-z][A-Za-z0-9]{0,31}$/

const DECLARATION: Checks<RecordKind<never>> = { sort: recordOf(fn), expiresAt: fn }

const isText = (value: unknown, least: number): value is string =>
  typeof value === 'string' && value.length >= least && value.length <= MAX_TEXT && isStorable(value)

const TEXT = 'characters, with no NUL and no half of a surrogate pair'
const key = matching((value) => isText(value, 1), `must be a string of 1-${MAX_TEXT} ${TEXT}`)
const tenantText = matching((value) => isText(value, 0), `must be a string of up to ${MAX_TEXT} ${TEXT}`)
const instant = whole(0, Number.MAX_SAFE_INTEGER)

/**
 * Records of a kind of a plugin, in the store of the host. Call it in `setup`. A kind is declared by its use: a new one is no migration.
 *
 * @param kind 1-32 of `a-z 0-9 _` together with the name of the plugin and a full stop, a letter first.
 *
 * @example
 * ```ts
 * const reminders = recordsOf<{ readonly due: string }>(core, 'reminders', { sort: { due: ({ due }) => due } })
 * await reminders.change('default', 'invoice_7', () => ({ due: '2027-01-31' }))
 * const { items } = await reminders.list('default', { by: 'due', until: '2027-02-01' })
 * ```
 *
 * @throws {SallyportError} `option_invalid`: the name or the declaration is wrong.
 */
export function recordsOf<Body extends object>(
  { name, store, clock }: Pick<PluginCore, 'name' | 'store' | 'clock'>,
  kind: string,
  declaration: RecordKind<Body> = {},
): KindRecords<Body> {
  const stored = `${name}.${kind}`
  return kindRecords(stored, readDeclaration(stored, kind, declaration), declaration, store, clock)
}

/** Returns the names of the sort texts. */
function readDeclaration(kind: string, name: unknown, declaration: RecordKind<never>): readonly string[] {
  const call = 'recordsOf'
  if (typeof name !== 'string' || !KIND.test(name) || kind.length > MAX_KIND) {
    const detail = `must be a name of a-z 0-9 _, a letter first, of ${MAX_KIND} characters with the plugin's name and a full stop`
    optionError(call, [{ field: 'argument 2', detail }])
  }
  const { sort = {} } = readOptions(`${call} ${kind}`, declaration, DECLARATION)
  const names = Object.keys(sort)
  const wrong = names.filter((one) => !SORT_NAME.test(one) || one === 'key')
  const detail = 'must be 1-32 letters and digits, a lower-case letter first, and not key'
  optionError(`${call} ${kind}`, [
    ...(names.length > MAX_SORT ? [{ field: 'sort', detail: `has ${names.length} texts; at most ${MAX_SORT}` }] : []),
    ...wrong.map((one) => ({ field: 'sort', detail: `${shownName(one)} ${detail}` })),
  ])
  return names
}

function kindRecords<Body extends object>(
  kind: string,
  names: readonly string[],
  { sort = {}, expiresAt }: RecordKind<Body>,
  store: RecordStore,
  clock: Clock,
): KindRecords<Body> {
  const listChecks = {
    by: oneOf(['key', ...names]),
    is: key,
    from: key,
    until: key,
    reverse: bool,
    limit: whole(1, MAX_PAGE),
    cursor: () => undefined,
  } satisfies Checks<RecordListOptions>

  function placeOf(by: string): RecordText {
    return by === 'key' ? by : (names.indexOf(by) as Exclude<RecordText, 'key'>)
  }

  function recordOf({ tenant, key }: Pick<RecordName, 'tenant' | 'key'>, given: Body): NewPluginRecord<Body> {
    const body = bodyOf(given, kind) as Body & JsonObject
    const texts = names.map((name) => sort[name]?.(body, key) ?? null)
    texts.forEach((text, at) => {
      if (text !== null && !isText(text, 1))
        throw wrongReturn(`sort.${names[at]}() of the records ${kind}`, text, `1-${MAX_TEXT} characters or undefined`)
    })
    const expires = expiresAt?.(body, key)
    if (expires !== undefined && instant(expires, {}) !== undefined)
      throw wrongReturn(`expiresAt() of the records ${kind}`, expires, 'whole epoch milliseconds or undefined')
    return { kind, tenant, key, sort: texts, ...(expires !== undefined && { expiresAt: expires }), body }
  }

  function named(tenant: string, recordKey: string): RecordName {
    check(kind, { tenant: [tenant, tenantText], key: [recordKey, key] })
    return { kind, tenant, key: recordKey }
  }

  /** The record that was read: of this kind, so that no plugin changes another's. */
  function own(record: RecordName & { readonly version: number }): RecordName {
    if (record?.kind === kind && Number.isSafeInteger(record.version)) return named(record.tenant, record.key)
    throw invalid(`${kind}: give a record of this kind that was read`)
  }

  const removing =
    (what: 'remove' | 'compare') =>
    (record: RecordName & { readonly version: number }): RecordChange => ({
      do: what,
      record: own(record),
      version: record.version,
    })

  return {
    async find(tenant, keys, by = 'key') {
      check(kind, { tenant: [tenant, tenantText], keys: [keys, keyList], by: [by, listChecks.by] })
      const texts = keys.filter((one) => isText(one, 1)).map((text) => ({ tenant, text }))
      return (await store.findRecords({ kind, by: placeOf(by), texts })) as readonly PluginRecord<Body>[]
    },
    async list(tenant, options = {}) {
      check(kind, { tenant: [tenant, tenantText] })
      const given = readOptions(`list of ${kind}`, options, listChecks, textRules)
      const { by = 'key', is, from, until, reverse: isReverse = false, limit = DEFAULT_PAGE } = given
      const list = `${kind} by ${by}${is === undefined ? '' : ` ${is}`}`
      check(kind, given.cursor === undefined ? {} : { cursor: [given.cursor, pageChecks(list).cursor] })
      const [cursor] = readCursor(list, given.cursor) ?? []
      const page = await store.listRecords({ kind, tenant, by: placeOf(by), is, from, until, isReverse, limit, cursor })
      return viewPage(list, page, (record) => record as PluginRecord<Body>)
    },
    async change(tenant, recordKey, decide) {
      // A removal at a key that no record can have is no mistake.
      if (!isText(recordKey, 1) && decide(undefined) === undefined) return undefined
      const name = named(tenant, recordKey)
      return store.changeRecords([name], (draft) => {
        const before = draft.get(name)?.body as Body | undefined
        const after = decide(before)
        if (after === undefined) draft.remove(name)
        else if (after !== before) draft.put(recordOf(name, after))
        return after
      })
    },
    async prune(expiredForMs, tenant) {
      check(kind, { expiredForMs: [expiredForMs, age], ...(tenant !== undefined && { tenant: [tenant, tenantText] }) })
      const removal = { kind, tenant, expiredForMs, limit: MAX_PAGE }
      return pruneAll(() => store.removeRecords(removal), MAX_PAGE, clock)
    },
    insert: (tenant, recordKey, body) => ({ do: 'insert', record: recordOf(named(tenant, recordKey), body) }),
    update: (record, body) => ({ do: 'update', record: recordOf(own(record), body), version: record.version }),
    remove: removing('remove'),
    compare: removing('compare'),
  }
}

const textRules: Rules = ({ is, from, until }) =>
  is === undefined || (from ?? until) === undefined ? [] : [{ field: 'is', detail: 'excludes from and until' }]

const keyList: Check = (value) => (Array.isArray(value) ? undefined : `is ${kindOf(value)}; must be a list of keys`)

/** @throws {SallyportError} `option_invalid`, with all problems of the arguments. */
function check(kind: string, given: Readonly<Record<string, readonly [value: unknown, check: Check]>>): void {
  const problems = Object.entries(given).flatMap(([name, [value, of]]) => problemsAt(name, faultOf(value, of)))
  optionError(`records of ${kind}`, problems)
}

/** A copy of the body as it is stored. */
function bodyOf(given: unknown, kind: string): JsonObject {
  const problem = `${kind}: a body is a JSON object; this one is`
  if (!membersOf(given)) throw invalid(`${problem} ${kindOf(given)}`)
  try {
    return toJson(given) as JsonObject
  } catch {
    throw invalid(`${problem} none: it has a cycle, a bigint or a toJSON() that throws`)
  }
}

function invalid(problem: string): SallyportError {
  return new SallyportError('option_invalid', problem)
}
