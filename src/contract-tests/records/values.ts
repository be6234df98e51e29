import type { JsonObject } from '../../model/json.ts'
import { equal } from '../assertions.ts'
import {
  APART,
  changing,
  counter,
  EXACT,
  jobOf,
  member,
  numbers,
  type RecordsCase,
  readAll,
  recordsCases,
  runKey,
  runOf,
  stateOf,
  stored,
} from './records-harness.ts'

/** Different texts that some databases compare as equal, change, or read as a part of a query. */
const NAMES: readonly string[] = [
  ...['a', 'a ', ' a', 'A', 'á', 'a\u0301', 'à', 'ä', 'ae', 'æ', 'ａ', 'a\u200b', 'a\t', 'a\n', '', ' '],
  ...['ß', 'ss', 'ẞ', 'ı', 'i', 'I', 'İ', '１', '1', '01', '1.0', '💥', '💣', '👩‍👩‍👧', '👩👩👧'],
  ...["'", '"', '`', '\\', '\\\\', "\\'", "''", '%', '_', 'a%', 'a_', '*', '?', '[a]', '$1', ':a', '@a', '{a}', '#{a}'],
  ...['--', ';', '/*', '#', '<a>', '&amp;', 'a:b', 'a|b', 'a/b', 'a,b', '\u2028', '\u00a0', '\ufeffa', '\x7f', '\r\n'],
  ...['__proto__', 'constructor', 'toString', 'null', 'undefined', 'true', 'NaN', '\ufffd', '\x01', '\\u0000'],
]

/** Texts of a length in four-byte characters, different only at the end. */
function longTexts(length: number): readonly string[] {
  return ['x', 'y', 'X'].map((end) => `${'💌'.repeat((length - 2) / 2)}${end.padEnd(2, '.')}`)
}

const INTEGERS = [
  0,
  1,
  255,
  2 ** 31,
  2 ** 32 + 1,
  1_800_000_000_123,
  Number.MAX_SAFE_INTEGER - 1,
  Number.MAX_SAFE_INTEGER,
]

const JSON_VALUES: JsonObject = {
  texts: [...NAMES, '2026-11-21T08:00:00.000Z', '/Date(0)/'],
  numbers: [...INTEGERS, -1, 0.1, 0.1 + 0.2, 1e-7, 1.5e300, 123_456_789.123_456_78],
  others: [true, false, null, [], {}, [[]], [{}], [null, [null]]],
  named: Object.fromEntries(NAMES.map((text, at) => [text, at])),
  own: JSON.parse('{"__proto__":{"a":1},"constructor":1,"$set":1,"a.b":2,"0":4}'),
}

export const valueCases: readonly RecordsCase[] = recordsCases([], {
  'texts are returned exactly': async (t) => {
    const texts = [...NAMES, 'long '.repeat(20_000)]
    await t.insert('states', ...texts.map((outcomes, at) => stateOf(`${at}`, { outcomes })))
    for (const [at, text] of texts.entries())
      equal((await t.find('states', [`${at}`]))?.outcomes, text, `${EXACT}: ${JSON.stringify(text.slice(0, 20))}`)
    await t.insert('plugin_records', ...NAMES.map((a, at) => stored(`${at}`, { a, b: a })))
    for (const [at, text] of NAMES.entries()) {
      const { a, b } = (await t.find('plugin_records', ['k', 't', `${at}`])) ?? stored('')
      equal([a, b], [text, text], `${EXACT}: ${JSON.stringify(text)}`)
    }
  },
  'integers are returned exactly, up to 2^53 - 1': async (t) => {
    const all = INTEGERS.map((at, nth) => counter(`${nth}`, { max: at, window_ms: at, expires_at: at }))
    await t.insert('counters', ...all)
    for (const one of all) equal(await t.find('counters', ['t', one.name]), one, EXACT)
    await t.insert('counters', counter('high', { version: Number.MAX_SAFE_INTEGER - 1 }))
    await t.change(changing('update', 'counters', counter('high', { version: Number.MAX_SAFE_INTEGER - 1 })))
    equal((await t.find('counters', ['t', 'high']))?.version, Number.MAX_SAFE_INTEGER, EXACT)
  },
  'absent values are returned as null': async (t) => {
    const full = { top: 1, parent_run_id: 'p', provider: '', user_id: 'u', tags: '', open_since: 0, over_since: 1 }
    const all = [runOf('1'), runOf('2', full)]
    await t.insert('runs', ...all)
    for (const one of all) equal(await t.find('runs', runKey(one.run_id)), one, EXACT)
    await t.insert('contents', { delivery_id: 'd', dispatch_id: 'a', body: null, version: 1 })
    const content = await t.find('contents', ['d'])
    equal(content, { delivery_id: 'd', dispatch_id: 'a', body: null, version: 1 }, EXACT)
  },
  'JSON is returned exactly': async (t) => {
    await t.insert('members', member('d', 'a', { event_data: JSON_VALUES }), member('d', 'b'))
    equal((await t.find('members', ['d', 'a']))?.event_data, JSON_VALUES, EXACT)
    equal((await t.find('members', ['d', 'b']))?.event_data, {}, EXACT)
    const job = jobOf('d', { begun: [{ startedAt: '2026-11-21T08:00:00.000Z', odd: JSON_VALUES }] })
    await t.insert('jobs', job, jobOf('e'))
    equal([await t.find('jobs', ['d']), await t.find('jobs', ['e'])], [job, jobOf('e')], EXACT)
    const long = {
      text: numbers(20_000)
        .map((at) => `${at} 💌 "quoted" \\`)
        .join('\n'),
    }
    await t.insert('plugin_records', stored('1', { body: long }), stored('2', { body: JSON_VALUES }))
    equal((await t.find('plugin_records', ['k', 't', '1']))?.body, long, `${EXACT}, of ${long.text.length} characters`)
    await t.change(changing('update', 'plugin_records', stored('1', { body: JSON_VALUES })))
    equal((await t.find('plugin_records', ['k', 't', '1']))?.body, JSON_VALUES, EXACT)
  },
  'keys that differ in case, spaces or Unicode form are of different records': async (t) => {
    const names = [...NAMES, ...longTexts(200)]
    await t.insert('states', ...names.map((id, at) => stateOf(id, { outcomes: `${at}` })))
    await t.insert('members', ...names.map((id, at) => member('d', id, { number: at })))
    for (const [at, name] of names.entries()) {
      const shown = JSON.stringify(name.slice(-20))
      equal((await t.find('states', [name]))?.outcomes, `${at}`, `${APART}: ${shown}`)
      equal((await t.find('members', ['d', name]))?.number, at, `${APART}: ${shown}`)
    }
    equal(
      (
        await readAll(
          t.other,
          'states',
          names.map((name) => [name]),
        )
      ).length,
      names.length,
      APART,
    )
    await t.change(changing('remove', 'states', { dispatch_id: 'A', version: 1 }))
    await t.change(changing('update', 'states', stateOf('á', { outcomes: 'new' })))
    equal((await t.find('states', ['a']))?.outcomes, '0', APART)
    equal((await t.find('states', ['a\u0301']))?.outcomes, `${names.indexOf('a\u0301')}`, APART)
  },
  'keys whose values join to the same text are of different records': async (t) => {
    const pairs = [':', '/', '|', '.', '-', '_', ' ', ',', '#', '"', '\\', '\u2028', '1:'].flatMap((mark) => [
      [`a${mark}b`, `c${mark}`],
      ['a', `b${mark}c${mark}`],
      [`a${mark}`, `b${mark}c`],
      [`a${mark}b${mark}c`, ''],
    ]) as [string, string][]
    const unique = [...new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values()]
    await t.insert('members', ...unique.map(([one, other], at) => member(one, other, { number: at })))
    for (const [at, pair] of unique.entries())
      equal((await t.find('members', pair))?.number, at, `${APART}: ${JSON.stringify(pair)}`)
  },
  'indexed texts that differ in case, spaces or Unicode form are different': async (t) => {
    const names = [...NAMES, ...longTexts(300)]
    await t.insert('plugin_records', ...names.map((a, at) => stored(`${at}`, { a })))
    for (const [at, name] of names.entries()) {
      const shown = `${APART}: ${JSON.stringify(name.slice(-20))}`
      const found = await t.findAll('plugin_records', ['k', 't', name], 'by_a')
      equal(
        found.map(({ key }) => key),
        [`${at}`],
        shown,
      )
      const scan = { kind: 'plugin_records', index: 'by_a', with: [['k', 't', name]] } as const
      equal(await t.scan('key', scan), [`${at}`], shown)
    }
  },
  'keys of the maximum length are kept whole': async (t) => {
    const all = longTexts(520).map((name) => counter(name, { tenant: longTexts(200)[0] as string }))
    await t.insert('counters', ...all)
    for (const one of all) equal(await t.find('counters', [one.tenant, one.name]), one, EXACT)
    const records = longTexts(232).map((key, at) =>
      stored(key, { a: longTexts(300)[at] as string, tenant: longTexts(200)[at] as string }),
    )
    await t.insert('plugin_records', ...records)
    for (const one of records) {
      equal(await t.find('plugin_records', ['k', one.tenant, one.key]), one, EXACT)
      equal(await t.findAll('plugin_records', ['k', one.tenant, one.a ?? ''], 'by_a'), [one], EXACT)
    }
  },
})
