import { equal, ok } from '../assertions.ts'
import { ODD_NAMES } from '../odd-names.ts'
import {
  HOUR_MS,
  insert,
  keysOf,
  numbers,
  type RecordHarness,
  type RecordStoreCase,
  record,
  recordCases,
  unversioned,
  update,
} from './record-harness.ts'

const LIMITS = [1, 2, 3, 12, 13, 14]

/** Unknown to lists by the key and by a text. */
const CURSORS: readonly string[] = [
  ...['', 'x', 'zzz', 'k99', '-1', '1 ', '0 k', ' k', "' or 1=1 --", '9 k', '300 k', '99999 k', '{}', '\u{1f600}'],
  'x'.repeat(5_000),
]

/** In their order, all of one length: no order is promised for texts of different lengths. */
const SHORT: readonly string[] =
  '--- --0 -0- -a0 0-- 00- 000 001 010 100 109 110 900 a-- a-b a0z aaa ab- b-0 zz9 zzz'.split(' ')

/** A text of the most characters for which an order is promised. */
const LONG: readonly string[] = SHORT.map((text) => text.padStart(90, 'z-0'))

/** In the order of their times. */
const DATES: readonly string[] = [
  ...['2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-01-31T10:00:00.000Z'],
  ...['2026-02-01T09:00:00.000Z', '2026-10-01T00:00:00.000Z'],
]

/** Stores 13 records whose keys and first texts have the same order. Returns their keys. */
async function fill(t: RecordHarness): Promise<readonly string[]> {
  const keys = numbers(13).map((at) => `k${10 + 2 * at}`)
  await t.put(...keys.toReversed().map((key) => ({ key, sort: [`text-${key}`] })))
  return keys
}

/** The lists of {@link fill}. */
const QUERIES = [
  { by: 'key', isReverse: false },
  { by: 'key', isReverse: true },
  { by: 0, isReverse: false },
  { by: 0, isReverse: true },
] as const

export const listCases: readonly RecordStoreCase[] = recordCases([], {
  'listed records have all their members': async (t) => {
    const given = record({ key: 'a', sort: ['x', null, 'y', 'z'], expiresAt: t.now() + HOUR_MS, body: { list: [1] } })
    await t.put(given)
    for (const by of ['key', 0, 2, 3] as const) {
      const listed = await t.list({ by })
      equal(listed.map(unversioned), [unversioned(given)])
      equal(listed[0]?.version, (await t.stored('a')).version)
    }
  },
  'records are listed in the order of their keys, whatever was stored first': async (t) => {
    for (const [tenant, keys] of Object.entries({ short: SHORT, long: LONG })) {
      for (const key of keys.toReversed()) await t.put({ tenant, key })
      equal(await t.keys({ tenant }), keys)
      equal(await t.keys({ tenant, isReverse: true }), keys.toReversed())
    }
  },
  'records are listed in the order of each of the four texts': async (t) => {
    for (const [tenant, texts] of Object.entries({ short: SHORT, long: LONG })) {
      const sorts = texts.map((_, at) => [0, 7, 11, 15].map((by) => texts[(at + by) % texts.length] ?? null))
      await t.put(...sorts.map((sort, at) => ({ tenant, key: `k${10 + at}`, sort })))
      for (const by of [0, 1, 2, 3] as const)
        for (const isReverse of [false, true]) {
          const listed = await t.list({ tenant, by, isReverse, limit: 5 })
          const order = isReverse ? texts.toReversed() : texts
          equal(
            listed.map(({ sort }) => sort[by]),
            order,
            `by text ${by}${isReverse ? ' in reverse' : ''}`,
          )
        }
    }
  },
  'ISO dates sort by time': async (t) => {
    for (const [at, date] of DATES.toReversed().entries())
      await t.put({ key: `k${at}`, sort: [date, date.slice(0, 10)] })
    const listed = await t.list({ by: 0 })
    equal(
      listed.map(({ sort }) => sort[0]),
      DATES,
    )
    const january = await t.list({ by: 0, from: '2026-01-01T00:00:00.000Z', until: '2026-02-01T00:00:00.000Z' })
    equal(
      january.map(({ sort }) => sort[0]),
      DATES.slice(1, 4),
    )
    equal((await t.list({ by: 1, from: '2026-01-01', until: '2026-02-01' })).length, 3)
  },
  'a list begins with the text `from` and ends before the text `until`': async (t) => {
    const keys = await fill(t)
    for (const { by, isReverse } of QUERIES) {
      const text = (key: string): string => (by === 'key' ? key : `text-${key}`)
      const expect = async (from: string | undefined, until: string | undefined, expected: readonly string[]) => {
        const bounds = { ...(from && { from: text(from) }), ...(until && { until: text(until) }) }
        for (const limit of [2, 100])
          equal(await t.keys({ by, isReverse, limit, ...bounds }), isReverse ? expected.toReversed() : expected)
      }
      await expect('k12', undefined, keys.slice(1))
      await expect(undefined, 'k18', keys.slice(0, 4))
      await expect('k12', 'k18', ['k12', 'k14', 'k16'])
      await expect('k13', 'k19', ['k14', 'k16', 'k18'])
      await expect('k12', 'k12', [])
      await expect('k90', undefined, [])
    }
  },
  'texts that end with a time are listed by it, apart from those of other names': async (t) => {
    const names = [...ODD_NAMES.map((name) => `${name.length}:${name}`), '', '3:a', '30:a', '2:a0']
    const timed = (name: string, at: number): string => name + String(at).padStart(16, '0')
    for (const [of, name] of names.entries())
      await t.put(...[3, 1, 2].map((at) => ({ key: `${of}-${at}`, sort: [null, timed(name, at * 1_000)] })))
    for (const [of, name] of names.entries())
      for (const isReverse of [false, true]) {
        const range = { by: 1, from: timed(name, 0), isReverse, limit: 2 } as const
        const keys = [1, 2, 3].map((at) => `${of}-${at}`)
        equal(await t.keys({ ...range, until: timed(name, 9_000) }), isReverse ? keys.toReversed() : keys)
        equal(await t.keys({ ...range, from: timed(name, 1_001), until: timed(name, 3_000) }), [`${of}-2`])
      }
  },
  'a filter chooses among the listed records': async (t) => {
    const keys = numbers(30).map((at) => `k${10 + at}`)
    await t.put(...keys.map((key, at) => ({ key, sort: ['x'], body: { at } })))
    const chosen = keys.filter((_, at) => at % 7 === 0)
    for (const by of ['key', 0] as const)
      for (const isReverse of [false, true])
        for (const limit of [1, 2, 5, 6])
          equal(
            await t.keys({ by, isReverse, limit, where: ({ body }) => Number(body.at) % 7 === 0 }),
            isReverse ? chosen.toReversed() : chosen,
          )
  },
  'a record is not in the list by a text that it does not have': async (t) => {
    await t.put({ key: 'a' }, { key: 'b', sort: [null, 'x', null] }, { key: 'c', sort: ['x', null, null, 'y'] })
    for (const isReverse of [false, true]) {
      for (const [by, keys] of [['c'], ['b'], [], ['c']].entries())
        equal(await t.keys({ by: by as 0 | 1 | 2 | 3, isReverse, limit: 1 }), keys, `by text ${by}`)
      equal((await t.keys({ isReverse })).toSorted(), ['a', 'b', 'c'])
    }
  },
  'a list has records of its kind and tenant alone': async (t) => {
    await t.put({ key: 'a', sort: ['x'] }, { key: 'b', kind: 'contract.others', sort: ['x'] })
    await t.put({ key: 'c', tenant: 'T', sort: ['x'] }, { key: 'd', tenant: '', sort: ['x'] })
    for (const by of ['key', 0] as const) {
      equal(await t.keys({ by }), ['a'])
      equal(await t.keys({ by, kind: 'contract.others' }), ['b'])
      equal(await t.keys({ by, tenant: 'T' }), ['c'])
      equal(await t.keys({ by, tenant: '' }), ['d'])
      equal(await t.keys({ by, kind: 'contract' }), [])
    }
  },
  'a changed record is listed by its new texts, a removed one not at all': async (t) => {
    await t.put({ key: 'a', sort: ['x', 'x'] }, { key: 'b', sort: ['y'] }, { key: 'c', sort: ['y'] })
    const [a, b] = [await t.stored('a'), await t.stored('b')]
    await t.commit([update(a, { sort: ['z', null, 'x'] }), { do: 'remove', record: b, version: b.version }])
    equal([await t.keys({ by: 0 }), await t.keys({ by: 1 }), await t.keys({ by: 2 })], [['c', 'a'], [], ['a']])
    equal(await t.keys(), ['a', 'c'])
  },
  'pages of any length contain each record once': async (t) => {
    const keys = await fill(t)
    for (const limit of LIMITS)
      for (const query of QUERIES)
        equal(await t.keys({ ...query, limit }), query.isReverse ? keys.toReversed() : keys, `by ${limit}`)
  },
  'pages contain each of the records with one text once': async (t) => {
    const keys = numbers(13).map((at) => `k${10 + at}`)
    await t.put(...keys.map((key, at) => ({ key, sort: [at < 10 ? 'same' : 'text'] })))
    for (const limit of LIMITS)
      for (const isReverse of [false, true]) equal((await t.keys({ by: 0, isReverse, limit })).toSorted(), keys)
    equal((await t.keys({ by: 0, from: 'same', until: 'text', limit: 3 })).toSorted(), keys.slice(0, 10))
  },
  'paging stays complete while records are inserted': async (t) => {
    const keys = await fill(t)
    for (const [at, query] of QUERIES.entries()) {
      let added = 0
      const add = async () => {
        if (added++ > 2) return
        // One is inserted before all others, one among them and one after them.
        const news = ['a', 'k15-', 'z'].map((start) => `${start}${at}${added}`)
        await t.put(...news.map((key) => ({ key, sort: [`text-${key}`] })))
      }
      const listed = await t.keys({ ...query, limit: 3 }, add)
      equal(new Set(listed).size, listed.length, 'no record is listed twice')
      equal(
        listed.filter((key) => keys.includes(key)),
        query.isReverse ? keys.toReversed() : keys,
        'every record is listed',
      )
    }
  },
  'paging stays complete while records are removed, also the last of a page': async (t) => {
    for (const query of QUERIES) {
      const keys = await fill(t)
      const listed = await t.keys({ ...query, limit: 3 }, async (page) => {
        for (const key of page) await t.change(key, () => undefined)
      })
      equal(listed, query.isReverse ? keys.toReversed() : keys)
      for (const key of await t.keys()) await t.change(key, () => undefined)
    }
  },
  'a page that is not the last is full, and the last one has no cursor': async (t) => {
    await fill(t)
    for (const query of QUERIES) {
      const asked = { kind: 'contract.notes', tenant: 't', ...query }
      const first = await t.other.listRecords({ ...asked, limit: 12 })
      equal(first.items.length, 12)
      ok(first.nextCursor !== undefined, 'a page before the last has a cursor')
      const last = await t.other.listRecords({ ...asked, limit: 12, cursor: first.nextCursor })
      equal([last.items.length, last.nextCursor], [1, undefined])
      equal((await t.other.listRecords({ ...asked, limit: 13 })).nextCursor, undefined)
    }
  },
  'an unknown cursor starts from the beginning': async (t) => {
    const keys = await fill(t)
    await t.commit([insert({ key: 'k99', tenant: 'other' })])
    for (const query of QUERIES)
      for (const cursor of CURSORS) {
        const { items } = await t.other.listRecords({ kind: 'contract.notes', tenant: 't', ...query, limit: 2, cursor })
        const order = query.isReverse ? keys.toReversed() : keys
        equal(keysOf(items), order.slice(0, 2), `the cursor ${cursor.slice(0, 20)}, by ${query.by}`)
      }
  },
})
