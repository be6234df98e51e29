import type { RecordText } from '../../ports/record-store.ts'
import { equal, ok } from '../assertions.ts'
import { everything } from '../dispatch-store/hostile-values.ts'
import { spoil } from '../dispatch-store/samples.ts'
import { ODD_NAMES } from '../odd-names.ts'
import {
  changeRecord,
  findByKey,
  HOUR_MS,
  KIND,
  keysOf,
  MARGIN_MS,
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
      equal(keysOf(await t.find('b', 'st', 'AA')), [])
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
      const found = await t.find('c', 'unknown', 'a', 'a', 'c')
      equal(keysOf(found).toSorted(), ['a', 'c'])
      equal(await t.find(), [])
      equal(await t.find('unknown'), [])
    },
    '1,000 records are found in one call': async (t) => {
      const keys = numbers(1_000).map((at) => `k${1_000 + at}`)
      for (const part of [keys.slice(0, 500), keys.slice(500)])
        await t.put(...part.map((key) => ({ key, sort: [`of ${key}`] })))
      equal(keysOf(await t.find(...keys)).toSorted(), keys)
      const texts = keys.map((key) => ({ tenant: TENANT, text: `of ${key}` }))
      equal(keysOf(await t.other.findRecords({ kind: KIND, by: 0, texts })).toSorted(), keys)
    },
    'records are found by each of the four texts, in several tenants': async (t) => {
      await t.put({ key: 'a', sort: ['x', 'y', null, 'z'] }, { key: 'b', sort: ['x'] }, { key: 'c', sort: ['X', 'x'] })
      await t.put({ key: 'd', tenant: '', sort: ['x'] }, { key: 'e', kind: 'contract.others', sort: ['x'] })
      const find = async (by: RecordText, ...texts: readonly string[]) => {
        const both = texts.flatMap((text) => ['t', ''].map((tenant) => ({ tenant, text })))
        return keysOf(await t.other.findRecords({ kind: KIND, by, texts: both })).toSorted()
      }
      equal(
        [await find(0, 'x'), await find(0, 'x', 'X', 'x'), await find(0, 'y')],
        [['a', 'b', 'd'], ['a', 'b', 'c', 'd'], []],
      )
      equal([await find(1, 'x', 'y'), await find(2, 'z'), await find(3, 'z')], [['a', 'c'], [], ['a']])
      equal(await find('key', 'a', 'd', 'e'), ['a', 'd'])
    },
    'the time of the store goes on': async (t) => {
      const before = await t.other.now()
      ok(Math.abs(t.now() - before) < MARGIN_MS, 'the time is that of the store')
      await t.advance(HOUR_MS)
      ok((await t.store.now()) - before > HOUR_MS - MARGIN_MS, 'the time of the store goes on')
    },
    'records are counted until they expire, up to the limit': async (t) => {
      const expiresAt = t.now() + HOUR_MS
      await t.put(...['t', 'T', ''].map((tenant) => ({ key: 'a', tenant, expiresAt })), { key: 'b' })
      await t.put({ key: 'later', expiresAt: expiresAt + HOUR_MS }, { key: 'c', expiresAt: t.now() - HOUR_MS })
      await t.put({ key: 'a', kind: 'contract.others', expiresAt })
      equal([await t.other.countUnexpired(KIND, 9), await t.other.countUnexpired(KIND, 2)], [4, 2])
      await t.advance(HOUR_MS)
      equal([await t.other.countUnexpired(KIND, 9), await t.other.countUnexpired('contract.none', 9)], [1, 0])
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
      const [tenant, key, text] = ['t'.repeat(200), 'y'.repeat(232), 'x'.repeat(300)]
      await t.put({ kind, tenant, key, sort: [text, text, text, text] })
      equal((await t.stored(key, { kind, tenant })).sort, [text, text, text, text])
      for (const by of ['key', 0, 1, 2, 3] as const) equal(await t.keys({ kind, tenant, by }), [key])
    },
    'a caller that changes a result does not change stored data': async (t) => {
      const given = record({ key: 'a', sort: ['x'], body: { list: [{ of: 'a' }] } })
      await t.put(given)
      const listed = await t.list()
      for (const found of [...(await t.find('a')), ...listed]) {
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
      await t.change('b', () => record({ key: 'b', sort, body }))
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
      await changeRecord(t.other, 'a', () => record({ key: 'a', body: { of: 'two' } }))
      const [found] = await findByKey(t.store, ['a'])
      equal(found?.body, { of: 'two' })
      ok(found?.version !== seen.version, 'a change gives another version')
      await t.change('a', () => undefined)
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
