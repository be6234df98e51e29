import type { Wanted } from '../../storage/engine/records.ts'
import { equal, ok } from '../assertions.ts'
import {
  changing,
  LOST,
  member,
  numbers,
  type RecordsCase,
  readAll,
  recordsCases,
  runKey,
  runOf,
  stored,
  sumOf,
} from './records-harness.ts'

const ONCE = 'a read has each record once'

export const readCases: readonly RecordsCase[] = recordsCases([], {
  'a committed record is found by read and scan at once, through every handle': async (t) => {
    const [old, now] = [stored('1', { a: 'x' }), stored('1', { a: 'y', version: 2 })]
    /** Whether the record is found by its key, by a part of it, at `x` and at `y` of an index, and by a scan. */
    const check = async (key: unknown[], x: unknown[], y: unknown[], what: string): Promise<void> => {
      for (const handle of t.handles) {
        const read = (begin: string[], index?: string): Promise<unknown> =>
          readAll(handle, 'plugin_records', [['k', 't', ...begin]], index)
        equal(await read(['1']), key, `${LOST}: a read by key finds ${what}`)
        equal(await read([]), key, `${LOST}: a read by a part of the key finds ${what}`)
        equal(await read(['x'], 'by_a'), x, `${LOST}: a read by index finds ${what}`)
        equal(await read(['y'], 'by_a'), y, `${LOST}: a read by index finds ${what}`)
        for (const index of [{}, { index: 'by_a' }]) {
          const { found } = await handle.scan({ kind: 'plugin_records', ...index, with: [['k', 't']], limit: 9 })
          equal(
            found.map(({ record }) => record),
            key,
            `${LOST}: a scan finds ${what}`,
          )
        }
      }
    }
    await check([], [], [], 'nothing before a commit')
    await t.insert('plugin_records', old)
    await check([old], [old], [], 'an inserted record')
    await t.change(changing('update', 'plugin_records', stored('1', { a: 'y' })))
    await check([now], [], [now], 'an updated record, where its indexes have it now')
    await t.change(changing('remove', 'plugin_records', { kind: 'k', tenant: 't', key: '1', version: 2 }))
    await check([], [], [], 'no removed record')
  },
  'a read has each record once': async (t) => {
    const one = member('d', 'a')
    await t.insert('members', one, member('d', 'b'))
    equal(
      await readAll(t.other, 'members', [
        ['d', 'a'],
        ['d', 'a'],
      ]),
      [one],
      ONCE,
    )
    const overlapping = await readAll(t.other, 'members', [['d'], ['d', 'a'], ['d']])
    equal(overlapping.map(({ dispatch_id }) => dispatch_id).sort(), ['a', 'b'], ONCE)
    const wanted = (begin: string[]): Wanted => ({ kind: 'members', with: [begin] })
    const { members = [] } = await t.other.read([wanted(['d', 'a']), wanted(['d']), wanted(['d', 'a'])])
    equal(members.map(({ dispatch_id }) => dispatch_id).sort(), ['a', 'b'], ONCE)
  },
  'a read finds all records of many keys and kinds': async (t) => {
    const ids = numbers(250).map((at) => `id${at}`)
    await t.insert('run_sums', ...ids.map((id) => sumOf(id)))
    await t.insert('members', ...ids.map((id) => member(id, 'a')))
    const found = await t.other.read([
      { kind: 'run_sums', with: [...ids, 'gone'].map((id) => ['t', 's', id]) },
      { kind: 'members', with: [...ids, 'gone'].map((id) => [id, 'a']) },
      { kind: 'counters', with: [['t', 'gone']] },
    ])
    equal(
      found.run_sums?.map(({ run_id }) => run_id).sort(),
      ids.toSorted(),
      'a read finds every key that has a record',
    )
    equal(
      found.members?.map(({ delivery_id }) => delivery_id).sort(),
      ids.toSorted(),
      'a read finds records of every kind',
    )
    equal(found.counters ?? [], [], 'a read finds nothing for a key without a record')
  },
  'a read by the first columns finds the records with exactly these values': async (t) => {
    const all = [
      member('d', 'a'),
      member('d', 'b'),
      member('dd', 'a'),
      member('D', 'a'),
      member('', 'd'),
      member('d ', 'a'),
    ]
    await t.insert('members', ...all)
    const idsOf = async (...begin: string[]): Promise<unknown> =>
      (await t.findAll('members', begin)).map((one) => `${one.delivery_id}/${one.dispatch_id}`).sort()
    equal(await idsOf('d'), ['d/a', 'd/b'], 'a prefix is of whole values')
    equal(await idsOf(''), ['/d'], 'an empty text is a value')
    equal(
      await idsOf(),
      all.map((one) => `${one.delivery_id}/${one.dispatch_id}`).sort(),
      'an empty prefix begins all records',
    )
    equal(await readAll(t.other, 'members', []), [], 'no prefix finds no record')
  },
  'a record with an absent column is not in an index of it': async (t) => {
    await t.insert(
      'runs',
      runOf('1'),
      runOf('2', { user_id: 'u', open_since: 5 }),
      runOf('3', { user_id: '', open_since: 0 }),
    )
    const ids = async (begin: (string | number)[], index: string): Promise<unknown> => [
      (await t.findAll('runs', begin, index)).map(({ run_id }) => run_id).sort(),
      (await t.scan('run_id', { kind: 'runs', index, with: [begin] })).toSorted(),
    ]
    const both = (...expected: string[]): unknown => [expected, expected]
    const absent = 'an index lacks the records that lack one of its columns, and has all others'
    equal(await ids(['t'], 'by_user'), both('2', '3'), absent)
    equal(await ids([], 'open'), both('2', '3'), absent)
    equal(await ids([0], 'open'), both('3'), absent)
    equal(await ids(['t'], 'by_time'), both('1', '2', '3'), absent)
    await t.change(changing('update', 'runs', runOf('2'), runOf('1', { user_id: 'u', open_since: 7 })))
    equal(await ids(['t'], 'by_user'), both('1', '3'), absent)
    equal(await ids([], 'open'), both('1', '3'), absent)
  },
  'a read with `follow` finds the wanted records, and no more than those that follow from them': async (t) => {
    const chain = ['b', 'c', 'd', 'gone'].map((parent_run_id, at) => runOf('abcd'[at] ?? '', { parent_run_id }))
    await t.insert('runs', ...chain, runOf('other'), runOf('top', { parent_run_id: 'a', top: 1 }))
    await t.insert('run_sums', ...['a', 'b', 'c', 'd', 'gone', 'other'].map((id) => sumOf(id)))
    const follow = { column: 'parent_run_id', unless: 'top', depth: 2, also: ['run_sums'] } as const
    const read = async (id: string): Promise<(readonly string[])[]> => {
      const found = await t.other.read([{ kind: 'runs', with: [runKey(id)], follow }])
      return [found.runs, found.run_sums].map((list = []) => list.map(({ run_id }) => run_id).sort())
    }
    for (const [id, followed, also] of [
      ['a', ['a', 'b', 'c'], ['b', 'c']],
      ['d', ['d'], ['gone']],
      ['top', ['top'], []],
    ] as const) {
      const [runs = [], sums = []] = await read(id)
      ok(runs.includes(id), 'a read with `follow` finds the wanted record')
      // A backend may ignore `follow`.
      if (runs.length > 1 || sums.length > 0)
        equal([runs, sums], [followed, also], 'a read follows the column up to its depth')
    }
  },
  'a scan and a read of some columns have these columns': async (t) => {
    await t.insert('runs', runOf('1', { created_at: 3, tie_breaker: 4, status: 'failed' }))
    const byStatus = { kind: 'runs', index: 'by_status', with: [['t']], limit: 9 } as const
    for (const columns of [[], ['run_id', 'revision']]) {
      const { found } = await t.other.scan({ ...byStatus, columns })
      const { tenant, status, created_at, tie_breaker, run_id, revision } = found[0]?.record ?? runOf('')
      const named = columns.length > 0 ? [run_id, revision] : ['1', 1]
      equal(
        [tenant, status, created_at, tie_breaker, ...named],
        ['t', 'failed', 3, 4, '1', 1],
        'a scan has the columns of the index and those it names',
      )
    }
    const read = await t.other.read([{ kind: 'runs', with: [runKey('1')], columns: ['version', 'revision'] }])
    const run = read.runs?.[0]
    equal(
      [run?.run_id, run?.version, run?.revision],
      ['1', 1, 1],
      'a read has the columns of the key and those it names',
    )
  },
})
