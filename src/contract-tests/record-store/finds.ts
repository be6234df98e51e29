import { equal, ok } from '../assertions.ts'
import { everything } from '../dispatch-store/hostile-values.ts'
import { spoil } from '../dispatch-store/samples.ts'
import { ODD_NAMES } from '../statistics-store/statistics-harness.ts'
import {
  KIND,
  keysOf,
  numbers,
  type RecordStoreCase,
  record,
  recordCases,
  TENANT,
  unversioned,
} from './record-harness.ts'

/** Names that are different from `{ kind: 'contract.notes', tenant: 't', key: 'a' }`. */
const OTHERS = [
  { kind: 'contract.others' },
  { kind: 'contract.note', tenant: 'st' },
  { kind: 'contract.Notes' },
  { tenant: 'T' },
  { tenant: '' },
  { tenant: 'ta', key: 'b' },
  { key: 'A' },
  { key: 'a ' },
  { key: 'ta' },
]

export const findCases: readonly RecordStoreCase[] = [
  ...recordCases([], {
    'a record is found by its kind, tenant and key, with all its members': async (t) => {
      const given = record({ key: 'a', sort: ['x', null, 'y'], expiresAt: 1_700_000_000_000, body: everything() })
      await t.put(given)
      equal(unversioned(await t.stored('a')), unversioned(given))
    },
    'a record without sort texts and expiry has none': async (t) => {
      await t.put({ key: 'a' })
      const { sort, expiresAt } = await t.stored('a')
      equal([sort.filter((text) => text !== null), expiresAt], [[], undefined])
    },
    'a record of another kind, tenant or key is another record': async (t) => {
      const records = [{}, ...OTHERS].map((name, at) => record({ key: 'a', body: { at }, ...name }))
      await t.put(...records)
      for (const { key, body, ...name } of records) equal((await t.stored(key, name)).body, body)
      equal(keysOf(await t.other.findRecords(KIND, TENANT, ['b', 'st', 'AA'])), [])
      equal(await t.read('a', { kind: 'contract' }), undefined)
    },
    'records of no tenant are found by the empty tenant': async (t) => {
      await t.put({ tenant: '', key: 'a', sort: ['x'], body: { of: 'none' } })
      equal((await t.stored('a', { tenant: '' })).body, { of: 'none' })
      equal(await t.keys({ tenant: '', by: 0 }), ['a'])
      equal(await t.read('a'), undefined)
    },
    'records of several keys are found in one call, each of them once': async (t) => {
      await t.put({ key: 'a' }, { key: 'b' }, { key: 'c' })
      const found = await t.other.findRecords(KIND, TENANT, ['c', 'unknown', 'a', 'a', 'c'])
      equal(keysOf(found).toSorted(), ['a', 'c'])
      equal(await t.other.findRecords(KIND, TENANT, []), [])
      equal(await t.other.findRecords(KIND, TENANT, ['unknown']), [])
    },
    '500 records are found in one call': async (t) => {
      const keys = numbers(500).map((at) => `k${1_000 + at}`)
      await t.put(...keys.map((key) => ({ key })))
      equal(keysOf(await t.other.findRecords(KIND, TENANT, keys)).toSorted(), keys)
    },
    'tenants, keys and sort texts keep every character': async (t) => {
      const records = ODD_NAMES.map((name, at) => record({ key: name, sort: [name, null, null, name], body: { at } }))
      await t.put(...records, ...records.map((each) => ({ ...each, tenant: each.key })))
      for (const given of records) {
        equal(unversioned(await t.stored(given.key)), unversioned(given))
        const own = { ...given, tenant: given.key }
        equal((await t.list({ tenant: own.tenant })).map(unversioned), [unversioned(own)])
      }
      for (const by of ['key', 0, 3] as const)
        equal((await t.keys({ by, limit: 4 })).toSorted(), ODD_NAMES.toSorted(), `the list by ${by}`)
    },
    'names of the most characters are found': async (t) => {
      const kind = `contract.${'k'.repeat(23)}`
      const [tenant, key] = ['t'.repeat(200), 'y'.repeat(200)]
      await t.put({ kind, tenant, key, sort: [key, key, key, key] })
      equal((await t.stored(key, { kind, tenant })).sort, [key, key, key, key])
      for (const by of ['key', 0, 1, 2, 3] as const) equal(await t.keys({ kind, tenant, by }), [key])
    },
    'a caller that changes a result does not change stored data': async (t) => {
      const given = record({ key: 'a', sort: ['x'], body: { list: [{ of: 'a' }] } })
      await t.put(given)
      const listed = await t.list()
      for (const found of [...(await t.other.findRecords(KIND, TENANT, ['a'])), ...listed]) {
        const { body } = found
        spoil(body)
        equal(found.body, given.body, 'each access gives a copy')
        spoil(found)
      }
      equal(unversioned(await t.stored('a')), unversioned(given))
    },
    'a caller that changes what it has stored does not change stored data': async (t) => {
      const body = { list: [{ of: 'a' }] }
      const sort = ['x']
      await t.put({ key: 'a', sort, body })
      await t.store.changeRecord({ kind: KIND, tenant: TENANT, key: 'b' }, () => record({ key: 'b', sort, body }))
      spoil(body)
      sort[0] = 'spoilt'
      for (const key of ['a', 'b']) {
        const expected = record({ key, sort: ['x'], body: { list: [{ of: 'a' }] } })
        equal(unversioned(await t.stored(key)), unversioned(expected))
      }
    },
  }),
  ...recordCases(['secondHandle'], {
    'records and their changes are visible through the other handle at once': async (t) => {
      await t.put({ key: 'a', body: { of: 'one' } })
      const seen = await t.stored('a')
      await t.other.changeRecord(seen, () => record({ key: 'a', body: { of: 'two' } }))
      const [found] = await t.store.findRecords(KIND, TENANT, ['a'])
      equal(found?.body, { of: 'two' })
      ok(found?.version !== seen.version, 'a change gives another version')
      await t.store.changeRecord(seen, () => undefined)
      equal([await t.read('a'), await t.keys()], [undefined, []])
    },
  }),
  ...recordCases(['durable'], {
    'records survive reopening': async (t) => {
      await t.put({ key: 'a', sort: ['x'], expiresAt: t.now() - 1, body: { of: 'a' } }, { key: 'b' })
      const before = await t.stored('a')
      const after = await t.reopen()
      equal(await after.stored('a'), before)
      equal(await after.keys({ by: 0 }), ['a'])
      equal(await after.removeExpired({ limit: 9 }), 1)
      equal(await after.keys(), ['b'])
    },
  }),
]
