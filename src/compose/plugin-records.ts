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
import type { KindRecords, RecordKind, RecordListOptions } from '../plugins/kind-records.ts'
import type { Clock } from '../ports/clock.ts'
import type { NewPluginRecord, PluginRecord, RecordChange, RecordName, RecordStore } from '../ports/record-store.ts'
import { age } from '../services/call-checks.ts'
import { MAX_PAGE, pageChecks, pruneAll, readCursor, viewPage } from '../services/pagination.ts'

/** As in the store. */
const MAX_KIND = 32
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

/** Creates the records of a kind of this plugin: `core.records`. */
export function recordsFor(
  plugin: string,
  store: RecordStore,
  clock: Clock,
): <Body extends object>(kind: string, declaration?: RecordKind<Body>) => KindRecords<Body> {
  return (name, declaration = {}) => {
    const kind = `${plugin}.${name}`
    const names = readDeclaration(kind, name, declaration)
    return kindRecords(kind, names, declaration, store, clock)
  }
}

/** Returns the names of the sort texts. */
function readDeclaration(kind: string, name: unknown, declaration: RecordKind<never>): readonly string[] {
  const call = 'records'
  if (typeof name !== 'string' || !KIND.test(name) || kind.length > MAX_KIND) {
    const detail = `must be a name of a-z 0-9 _, a letter first, of ${MAX_KIND} characters with the plugin's name and a full stop`
    optionError(call, [{ field: 'argument 1', detail }])
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
  const listChecks: Checks<RecordListOptions> = {
    by: oneOf(['key', ...names]),
    is: key,
    from: key,
    until: key,
    reverse: bool,
    limit: whole(1, MAX_PAGE),
    cursor: () => undefined,
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
    async find(tenant, keys) {
      check(kind, { tenant: [tenant, tenantText], keys: [keys, keyList] })
      const possible = keys.filter((one) => isText(one, 1))
      return possible.length === 0
        ? []
        : ((await store.findRecords(kind, tenant, possible)) as readonly PluginRecord<Body>[])
    },
    async list(tenant, options = {}) {
      check(kind, { tenant: [tenant, tenantText] })
      const given = readOptions(`list of ${kind}`, options, listChecks, textRules)
      const { by = 'key', is, from, until, reverse: isReverse = false, limit = DEFAULT_PAGE } = given
      const list = `${kind} by ${by}${is === undefined ? '' : ` ${is}`}`
      check(kind, given.cursor === undefined ? {} : { cursor: [given.cursor, pageChecks(list).cursor] })
      const [cursor] = readCursor(list, given.cursor) ?? []
      const place = by === 'key' ? by : (names.indexOf(by) as 0 | 1 | 2 | 3)
      const page = await store.listRecords({ kind, tenant, by: place, is, from, until, isReverse, limit, cursor })
      return viewPage(list, page, (record) => record as PluginRecord<Body>)
    },
    async change(tenant, recordKey, decide) {
      // Nothing is stored there, and to remove nothing is no mistake.
      if (!isText(recordKey, 1) && decide(undefined) === undefined) return undefined
      const name = named(tenant, recordKey)
      const changed = await store.changeRecord(name, (stored) => {
        const before = stored?.body as Body | undefined
        const after = decide(before)
        return after === before ? stored : after && recordOf(name, after)
      })
      return changed?.body as Body | undefined
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
