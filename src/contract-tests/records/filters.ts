import type { Filter } from '../../storage/engine/records.ts'
import { equal } from '../assertions.ts'
import {
  changing,
  numbers,
  type RecordsCase,
  recordsCases,
  runOf,
  scanParts,
  stateOf,
  stored,
  sumOf,
  tagOf,
} from './records-harness.ts'

const MATCHES = 'a scan finds exactly the records that match all its filters'

/** Texts of which each is a part of no other one, but for the first. */
const TEXTS = ['a', 'xax', 'A', 'á', '%', '_', "'", '\\', '"', '*', '?', '[b]', ':b', '$1', '\nc\n', '💌', ' ']

export const filterCases: readonly RecordsCase[] = recordsCases([], {
  'a filter of values compares them exactly': async (t) => {
    await t.insert('plugin_records', ...TEXTS.map((b, at) => stored(`${at}`, { b })), stored('absent'))
    const idsOf = (where: readonly Filter[]): Promise<readonly unknown[]> =>
      t.scan('key', { kind: 'plugin_records', with: [['k']], where })
    for (const [at, text] of TEXTS.entries())
      equal(await idsOf([{ column: 'b', in: [text] }]), [`${at}`], `${MATCHES}: ${JSON.stringify(text)}`)
    equal((await idsOf([{ column: 'b', in: TEXTS }])).length, TEXTS.length, MATCHES)
    equal(await idsOf([{ column: 'b', in: [] }]), [], MATCHES)
    equal(await idsOf([{ column: 'b', in: ['null', 'undefined', 'aa'] }]), [], MATCHES)
  },
  'a filter of numbers and flags compares them': async (t) => {
    const runs = numbers(12).map((at) => runOf(`${at}`, { revision: at, ...(at % 3 === 0 && { top: 1 }) }))
    await t.insert('runs', ...runs)
    const idsOf = async (...where: Filter[]): Promise<unknown> =>
      (await t.scan('revision', { kind: 'runs', with: [[]], where })).toSorted(
        (one, other) => Number(one) - Number(other),
      )
    equal(await idsOf({ column: 'revision', below: 3 }), [0, 1, 2], MATCHES)
    equal(await idsOf({ column: 'revision', below: 11 }), numbers(11), `${MATCHES}: numbers compare by size`)
    equal(await idsOf({ column: 'revision', in: [10, 1, 99] }), [1, 10], MATCHES)
    equal(await idsOf({ column: 'top', in: [1] }), [0, 3, 6, 9], MATCHES)
    equal(await idsOf({ column: 'top', in: [1] }, { column: 'revision', below: 6 }), [0, 3], MATCHES)
    equal(await idsOf({ column: 'open_since', below: 9 }), [], `${MATCHES}: an absent value is not below a number`)
  },
  'a filter of parts compares them exactly': async (t) => {
    await t.insert('states', ...TEXTS.map((text, at) => stateOf(`${at}`, { outcomes: `(${text})` })))
    const idsOf = async (...where: Filter[]): Promise<unknown> =>
      (await t.scan('dispatch_id', { kind: 'states', with: [[]], where })).toSorted()
    const all = TEXTS.map((_, at) => `${at}`)
    for (const [at, text] of TEXTS.entries()) {
      const having = text === 'a' ? ['0', '1'] : [`${at}`]
      const shown = `${MATCHES}: ${JSON.stringify(text)}`
      equal(await idsOf({ column: 'outcomes', contains: text }), having, shown)
      const lacking = all.filter((id) => !having.includes(id)).sort()
      equal(await idsOf({ column: 'outcomes', lacks: text }), lacking, shown)
    }
    equal(await idsOf({ column: 'outcomes', contains: 'a' }, { column: 'outcomes', lacks: 'xa' }), ['0'], MATCHES)
    equal(await idsOf({ column: 'outcomes', contains: 'a)(' }), [], MATCHES)
  },
  'a filter may be on the record of another kind with the same key': async (t) => {
    await t.insert('run_tags', ...numbers(6).map((at) => tagOf(`${at}`, 'x', { created_at: at })))
    await t.insert(
      'runs',
      ...numbers(5).map((at) => runOf(`${at}`, { revision: at, tags: at === 2 ? null : `tag ${at}` })),
    )
    await t.insert('run_sums', sumOf('1'), sumOf('5'))
    const idsOf = (...where: Filter[]): Promise<readonly unknown[]> =>
      t.scan('run_id', { kind: 'run_tags', index: 'by_tag', with: [['t', 'x']], where })
    const other = 'a filter of another kind is on the record with the whole key'
    equal(await idsOf({ of: 'runs' }), ['0', '1', '2', '3', '4'], `${other}: without it the scanned one does not match`)
    equal(await idsOf({ of: 'run_sums' }), ['1', '5'], other)
    equal(await idsOf({ of: 'runs', column: 'revision', below: 2 }), ['0', '1'], other)
    equal(await idsOf({ of: 'runs', column: 'run_id', in: ['3', '5'] }), ['3'], other)
    equal(await idsOf({ of: 'runs', column: 'tags', contains: 'tag' }), ['0', '1', '3', '4'], other)
    equal(await idsOf({ of: 'runs', column: 'revision', in: [1, 2] }, { of: 'run_sums' }), ['1'], MATCHES)
    await t.change(changing('remove', 'runs', runOf('0')), changing('update', 'runs', runOf('1', { revision: 9 })))
    equal(await idsOf({ of: 'runs', column: 'revision', below: 3 }), ['2'], `${other}, as it was committed last`)
  },
  'a filter on another kind may give values of its key': async (t) => {
    const keys = numbers(4).map((at) => `${at}`)
    await t.insert('plugin_records', ...keys.map((key) => stored(key, { c: 'x', expires_at: Number(key) })))
    await t.insert(
      'plugin_records',
      stored('1', { kind: 'other', c: 'y' }),
      stored('2', { kind: 'other', tenant: 'u' }),
    )
    await t.insert(
      'run_tags',
      ...keys.map((id) => tagOf(id, 'x', { created_at: Number(id) })),
      tagOf('2', 'y', { created_at: 0 }),
    )
    const given = 'a filter of another kind finds its record by the values it gives'
    const records = { kind: 'plugin_records', with: [['k', 't']] } as const
    const idsOf = (where: Filter): Promise<readonly unknown[]> => t.scan('key', { ...records, where: [where] })
    equal(await idsOf({ of: 'plugin_records', key: { kind: 'other' } }), ['1'], given)
    equal(await idsOf({ of: 'plugin_records', key: { kind: 'other' }, column: 'c', in: ['x'] }), [], given)
    equal(await idsOf({ of: 'plugin_records', key: { key: '3' }, column: 'expires_at', below: 9 }), keys, given)
    const tagged = { kind: 'run_tags', index: 'by_tag', with: [['t', 'x']] } as const
    const where: Filter[] = [{ of: 'run_tags', key: { tag_key: 'y' } }]
    equal(await t.scan('run_id', { ...tagged, where }), ['2'], given)
  },
  'a scan with filters in parts has each match once': async (t) => {
    const runs = numbers(20).map((at) =>
      runOf(`${at}`, { created_at: at, status: at % 3 === 0 ? 'failed' : 'running' }),
    )
    await t.insert('runs', ...runs)
    await t.insert(
      'run_sums',
      ...numbers(20)
        .filter((at) => at % 2 === 0)
        .map((at) => sumOf(`${at}`)),
    )
    const where: Filter[] = [{ column: 'status', in: ['failed'] }, { of: 'run_sums' }]
    for (const isReverse of [false, true])
      for (const part of [{ limit: 1 }, { limit: 2 }, { limit: 3, most: 5 }, { limit: 4 }, { limit: 9 }]) {
        const scan = { kind: 'runs', index: 'by_time', with: [['t']], isReverse, where } as const
        const parts = await scanParts(t.other, { ...scan, ...part })
        const ids = parts.flatMap(({ found }) => found.map(({ record }) => record.run_id))
        const expected = ['0', '6', '12', '18']
        equal(ids, isReverse ? expected.toReversed() : expected, `${MATCHES}, once: ${JSON.stringify(part)}`)
      }
  },
})
