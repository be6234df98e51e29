import type { DispatchStore } from '../../ports/dispatch-store.ts'
import type {
  CommitOutcome,
  CommitUnit,
  NewPluginRecord,
  PluginRecord,
  RecordChange,
  RecordName,
  RecordQuery,
  RecordRemoval,
  RecordStore,
} from '../../ports/record-store.ts'
import { equal, ok } from '../assertions.ts'
import type { CaseTable, ContractCase, StoreCapabilities, StoreTrial } from '../contract.ts'
import { readPages, reopened, storeCases } from '../store-cases.ts'

export const HOUR_MS = 3_600_000

/** Leeway for a store whose clock runs. */
export const MARGIN_MS = 10_000

export const KIND = 'contract.notes'
export const TENANT = 't'

/** An empty store of records and dispatches for one case. */
export interface RecordStoreTrial extends StoreTrial<RecordStore & Pick<DispatchStore, 'accept' | 'findDispatch'>> {}

export type RecordStoreCase = ContractCase<RecordStoreTrial>

/** A record with a key. The other members have defaults. */
export type GivenRecord = Partial<NewPluginRecord> & Pick<NewPluginRecord, 'key'>

/** A store under test, with the calls that most cases make. Default kind: `contract.notes`; tenant: `t`. Writes use `store`, reads use `other`. */
export interface RecordHarness {
  readonly store: RecordStoreTrial['store']
  /** The second handle; `store` if there is none. */
  readonly other: RecordStoreTrial['store']
  now(): number
  advance(ms: number): Promise<void>
  /** Inserts records in one commit. */
  put(...records: readonly GivenRecord[]): Promise<void>
  /** Commits changes of records. */
  commit(changes: readonly RecordChange[], handle?: RecordStoreTrial['store']): Promise<CommitOutcome>
  /** Stores what `decide` returns for the record of this key; `undefined` removes it, the record itself leaves it as it is. */
  change(key: string, decide: (stored: PluginRecord | undefined) => NewPluginRecord | undefined): Promise<void>
  /** The records of these keys. */
  find(...keys: readonly string[]): Promise<readonly PluginRecord[]>
  /** The record that has this key; `undefined` if there is none. */
  read(key: string, name?: Partial<RecordName>): Promise<PluginRecord | undefined>
  /** As `read`. Fails if there is no record. */
  stored(key: string, name?: Partial<RecordName>): Promise<PluginRecord>
  /** Reads a list page by page, and runs `between` between pages. Default: all records by their key. */
  list(
    query?: Partial<RecordQuery>,
    between?: (keys: readonly string[]) => Promise<void>,
  ): Promise<readonly PluginRecord[]>
  /** The keys of that list. */
  keys(query?: Partial<RecordQuery>, between?: (keys: readonly string[]) => Promise<void>): Promise<readonly string[]>
  /** Removes expired records. Default: of all tenants, up to 100. */
  removeExpired(removal?: Partial<RecordRemoval>): Promise<number>
  /** A harness over the same data, after all handles were closed. */
  reopen(): Promise<RecordHarness>
}

export function recordCases(
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<RecordHarness>,
): readonly RecordStoreCase[] {
  return storeCases(harnessOf, needs, table)
}

function harnessOf(trial: RecordStoreTrial): RecordHarness {
  const { store, other = store } = trial
  const commit: RecordHarness['commit'] = (changes, handle = store) => handle.commitUnit({ changes })

  const read: RecordHarness['read'] = async (key, { kind = KIND, tenant = TENANT } = {}) => {
    const [found, ...more] = await findByKey(other, [key], { kind, tenant })
    equal(more, [], 'one record has this key')
    return found
  }

  const list: RecordHarness['list'] = (query, between) => {
    const asked = { ...ALL, ...query }
    const next = between && ((items: readonly PluginRecord[]) => between(keysOf(items)))
    return readPages(asked.limit, (cursor = asked.cursor) => other.listRecords({ ...asked, cursor }), next)
  }

  return {
    store,
    other,
    now: () => trial.now(),
    advance: async (ms) => trial.advance(ms),
    async put(...records) {
      committed(await commit(records.map(insert)))
    },
    commit,
    change: (key, decide) => changeRecord(store, key, decide),
    find: (...keys) => findByKey(other, keys),
    read,
    async stored(key, name) {
      const found = await read(key, name)
      ok(found, `the record ${key} is stored`)
      return found
    },
    list,
    keys: async (query, between) => keysOf(await list(query, between)),
    removeExpired: (removal) => store.removeRecords({ kind: KIND, expiredForMs: 0, limit: 100, ...removal }),
    reopen: async () => harnessOf(await reopened(trial)),
  }
}

/** As {@link RecordHarness.find}, of a handle. */
export function findByKey(
  store: RecordStore,
  keys: readonly string[],
  { kind = KIND, tenant = TENANT }: Partial<RecordName> = {},
): Promise<readonly PluginRecord[]> {
  return store.findRecords({ kind, by: 'key', texts: keys.map((text) => ({ tenant, text })) })
}

/** As {@link RecordHarness.change}, of a handle. */
export function changeRecord(
  store: RecordStore,
  key: string,
  decide: (stored: PluginRecord | undefined) => NewPluginRecord | undefined,
): Promise<void> {
  const name = named(key)
  return store.changeRecords([name], (draft) => {
    const stored = draft.get(name)
    const next = decide(stored)
    if (next === undefined) draft.remove(name)
    else if (next !== stored) draft.put(next)
  })
}

const ALL: RecordQuery = { kind: KIND, tenant: TENANT, by: 'key', isReverse: false, limit: 100 }

export function record(given: GivenRecord): NewPluginRecord {
  return { kind: KIND, tenant: TENANT, sort: [], body: {}, ...given }
}

export function insert(given: GivenRecord): RecordChange {
  return { do: 'insert', record: record(given) }
}

export function update(stored: PluginRecord, rest: Partial<NewPluginRecord>): RecordChange {
  return { do: 'update', record: { ...unversioned(stored), ...rest }, version: stored.version }
}

export function named(key: string, rest: Partial<RecordName> = {}): RecordName {
  return { kind: KIND, tenant: TENANT, key, ...rest }
}

/** The members of a stored record but its version, with four texts, as a record that was given has them. */
export function unversioned({ kind, tenant, key, sort, expiresAt, body }: NewPluginRecord): NewPluginRecord {
  const texts = [0, 1, 2, 3].map((at) => sort[at] ?? null)
  return { kind, tenant, key, sort: texts, body, ...(expiresAt !== undefined && { expiresAt }) }
}

export function keysOf(records: readonly RecordName[]): readonly string[] {
  return records.map(({ key }) => key)
}

/** Fails unless everything was stored. */
export function committed(outcome: CommitOutcome): Extract<CommitOutcome, { readonly outcome: 'committed' }> {
  ok(outcome.outcome === 'committed', `the commit is stored, got ${outcome.outcome}`)
  return outcome
}

/** Fails unless the commit was refused because of exactly these records. */
export function conflicts(outcome: CommitOutcome, keys: readonly string[]): void {
  ok(outcome.outcome === 'conflict', `the commit has a conflict, got ${outcome.outcome}`)
  equal(
    outcome.records.toSorted((one, two) => (one.key < two.key ? -1 : 1)),
    keys.toSorted().map((key) => named(key)),
    'the names of the records in conflict',
  )
}

/** Commits units at the same time, alternately through both handles. */
export function commitAtOnce(t: RecordHarness, units: readonly CommitUnit[]): Promise<readonly CommitOutcome[]> {
  return Promise.all(units.map((unit, at) => (at % 2 === 0 ? t.store : t.other).commitUnit(unit)))
}

export function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at)
}
