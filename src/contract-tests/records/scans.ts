import type { Prefix } from '../../storage/engine/records.ts'
import { equal, ok } from '../assertions.ts'
import {
  changing,
  jobOf,
  member,
  numbers,
  type OpenScan,
  type RecordsCase,
  type RecordsHarness,
  recordsCases,
  runOf,
  scanParts,
  stored,
  tagOf,
} from './records-harness.ts'

const ORDER = 'a scan is in the order of the columns after the prefix, and then of the key'
const RANGE = 'a scan has all records in its range, and no others'
const NAMED = 'a scan by records of another kind finds the record that each of them names, and no others'
const ONCE = 'a scan that is continued from `last` has each record once, in order'

/** Runs by creation time, tie breaker and id: `1.2 b` is of the time 1 and the tie breaker 2. Their order is that of the index. */
const SORTED = ['0.1 a', '1.1 a', '1.1 b', '1.2 a', '1.2 b', '2.1 a', '2.10 a', '9.0 a', '10.0 a', '10.9 a', '10.10 a']

/** Runs in an order that is neither that of their keys nor that of the index. */
async function insertRuns(t: RecordsHarness): Promise<void> {
  const shuffled = SORTED.map((_, at) => SORTED[(at * 7 + 3) % SORTED.length] as string)
  await t.insert('runs', ...shuffled.map((name) => runOf(name, timesOf(name))))
}

function timesOf(name: string): { readonly created_at: number; readonly tie_breaker: number } {
  const [, created = '', tie = ''] = /^(\d+)\.(\d+) /.exec(name) ?? []
  return { created_at: Number(created), tie_breaker: Number(tie) }
}

function timeOf(name: unknown): string {
  return `${name}`.split(' ')[0] ?? ''
}

const BY_TIME = { kind: 'runs', index: 'by_time', with: [['t']] } as const

/** Records that sort by their keys alike in all databases. */
const KEYS: readonly string[] = numbers(12).map((at) => `key ${`${at * 7}`.padStart(16, '0')}`)

/** The records of {@link SORTED} that a scan with each bound finds. */
const RANGES: readonly (readonly [OpenScan<'runs'>, string[]])[] = [
  [{ ...BY_TIME, from: [1] }, SORTED.slice(1)],
  [{ ...BY_TIME, from: [1, 2] }, SORTED.slice(3)],
  [{ ...BY_TIME, from: [3] }, SORTED.slice(7)],
  [{ ...BY_TIME, from: [11] }, []],
  [{ ...BY_TIME, until: [1] }, SORTED.slice(0, 1)],
  [{ ...BY_TIME, until: [1, 2] }, SORTED.slice(0, 3)],
  [{ ...BY_TIME, until: [10, 10] }, SORTED.slice(0, 10)],
  [{ ...BY_TIME, until: [0] }, []],
  [{ ...BY_TIME, from: [1, 2], until: [10] }, SORTED.slice(3, 8)],
  [{ ...BY_TIME, from: [2], until: [2] }, []],
  [{ ...BY_TIME, from: [9], until: [2] }, []],
]

const AFTER: readonly (readonly [Prefix, number, number])[] = [
  [[1], 1, 5],
  [[1, 1], 1, 3],
  [[1, 2], 3, 5],
  [[2, 5], 6, 6],
  [[3], 7, 7],
  [[10, 10], 10, 11],
  [[0, 0], 0, 0],
]

export const scanCases: readonly RecordsCase[] = recordsCases([], {
  'a scan has the order of its index, both ways': async (t) => {
    await insertRuns(t)
    await t.insert('runs', runOf('other tenant', { tenant: 'u', created_at: 1 }))
    const times = async (scan: OpenScan<'runs'>): Promise<unknown> => {
      const { found } = await t.other.scan({ limit: 100, ...scan })
      return found.map(({ record }) => [record.created_at, record.tie_breaker])
    }
    const sorted = SORTED.map((name) => Object.values(timesOf(name)))
    equal(await times(BY_TIME), sorted, `${ORDER}: numbers sort by size`)
    equal(await times({ ...BY_TIME, isReverse: true }), sorted.toReversed(), `${ORDER}, from the last one in reverse`)
    const [up, down] = [await t.scan('run_id', BY_TIME), await t.scan('run_id', { ...BY_TIME, isReverse: true })]
    equal(up.toSorted(), SORTED.toSorted(), RANGE)
    equal(down, up.toReversed(), 'a scan in reverse has exactly the reverse order')
    equal(await t.scan('run_id', { ...BY_TIME, with: [['t', 10]] }), ['10.0 a', '10.9 a', '10.10 a'], RANGE)
    equal(await t.scan('run_id', { ...BY_TIME, with: [['gone']] }), [], RANGE)
    equal((await t.scan('run_id', { ...BY_TIME, with: [[]] })).length, SORTED.length + 1, RANGE)
  },
  'large numbers sort by size': async (t) => {
    const times = [0, 9, 10, 99, 100, 2 ** 31, 2 ** 32, 1e15, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER]
    await t.insert('runs', ...times.toReversed().map((over_since) => runOf(`${over_since}`, { over_since })))
    const scan = { kind: 'runs', index: 'over', with: [[]] } as const
    equal(await t.scan('over_since', scan), times, `${ORDER}: numbers sort by size`)
    for (const [at, time] of times.entries())
      equal(await t.scan('over_since', { ...scan, from: [time] }), times.slice(at), RANGE)
  },
  'texts of one length that begin alike sort by the 16 digits at their end': async (t) => {
    const numbered = numbers(12).map((at) => `${10 ** at}`.padStart(16, '0'))
    const texts = (begin: string): string[] => numbered.map((digits) => `${begin}${digits}`)
    const begins = ['', 'a ', 'A ', 'é💌/']
    for (const [nth, begin] of begins.entries()) {
      const all = texts(begin)
      await t.insert('plugin_records', ...all.toReversed().map((a) => stored(a, { tenant: `${nth}`, a })))
      const byKey = { kind: 'plugin_records', with: [['k', `${nth}`]] } as const
      for (const scan of [byKey, { ...byKey, index: 'by_a' }]) {
        const digits = `${ORDER}: texts sort by the digits at their end`
        equal(await t.scan('key', scan), all, digits)
        equal(await t.scan('key', { ...scan, isReverse: true }), all.toReversed(), digits)
        equal(await t.scan('key', { ...scan, from: all.slice(3, 4), until: all.slice(7, 8) }), all.slice(3, 7), RANGE)
        equal(await t.scan('key', { ...scan, after: [`${begin}0000000000005000`] }), all.slice(4), RANGE)
      }
    }
  },
  'a scan merges its prefixes in the order of the columns after them': async (t) => {
    const jobs = numbers(30).map((at) =>
      jobOf(`${at}`, { channel: 'abc'[at % 3], priority: at % 2, wake_at: (at * 17) % 30 }),
    )
    await t.insert('jobs', ...jobs)
    const due = { kind: 'jobs', index: 'due' } as const
    const prefixes = [
      ['a', 0],
      ['c', 1],
      ['none', 0],
      ['b', 0],
    ] as const
    const wanted = jobs.filter((job) =>
      prefixes.some(([channel, priority]) => job.channel === channel && job.priority === priority),
    )
    const times = wanted.map(({ wake_at }) => wake_at).sort((one, other) => one - other)
    const merged = 'the prefixes of a scan are merged in the order of the columns after them'
    equal(await t.scan('wake_at', { ...due, with: prefixes }), times, merged)
    equal(await t.scan('wake_at', { ...due, with: prefixes, isReverse: true }), times.toReversed(), merged)
    equal(await t.scan('wake_at', { ...due, with: prefixes, limit: 4 }), times.slice(0, 4), merged)
    const range = { from: [5], until: [20] }
    equal(
      await t.scan('wake_at', { ...due, with: prefixes, ...range }),
      times.filter((at) => at >= 5 && at < 20),
      merged,
    )
    for (const isReverse of [false, true]) {
      const parts = await scanParts(t.other, { ...due, with: prefixes, isReverse, limit: 4 })
      const found = parts.flatMap((part) => part.found.map(({ record }) => record.wake_at))
      equal(found, isReverse ? times.toReversed() : times, ONCE)
    }
    equal(await t.scan('wake_at', { ...due, with: [] }), [], 'a scan without prefixes has no records')
  },
  'a scan begins at `from` and ends before `until`, both ways': async (t) => {
    await insertRuns(t)
    for (const [scan, expected] of RANGES) {
      const shown = `${RANGE}: from ${JSON.stringify(scan.from)} until ${JSON.stringify(scan.until)}`
      equal((await t.scan('run_id', scan)).toSorted(), expected.toSorted(), shown)
      equal(
        (await t.scan('run_id', { ...scan, isReverse: true })).toSorted(),
        expected.toSorted(),
        `${shown}, in reverse`,
      )
    }
  },
  'a scan begins after a position, in its direction': async (t) => {
    await insertRuns(t)
    for (const [after, before, next] of AFTER) {
      const shown = `a scan leaves out what is not after ${JSON.stringify(after)}`
      const [up, down] = [SORTED.slice(next), SORTED.slice(0, before)]
      equal((await t.scan('run_id', { ...BY_TIME, after })).toSorted(), up.toSorted(), shown)
      equal(
        (await t.scan('run_id', { ...BY_TIME, after, isReverse: true })).toSorted(),
        down.toSorted(),
        `${shown}, in reverse`,
      )
      const within = { ...BY_TIME, after, from: [1], until: [10] }
      const inRange = (name: string): boolean => Number.parseFloat(name) >= 1 && Number.parseFloat(name) < 10
      equal((await t.scan('run_id', within)).toSorted(), up.filter(inRange).toSorted(), `${shown}, nor in the range`)
    }
  },
  'a scan continues after the position of any record': async (t) => {
    await insertRuns(t)
    for (const isReverse of [false, true]) {
      const { found } = await t.other.scan({ ...BY_TIME, isReverse, limit: 100 })
      const ids = found.map(({ record }) => record.run_id)
      for (const [nth, { at, record }] of found.entries()) {
        equal(
          at.slice(0, 2),
          [record.created_at, record.tie_breaker],
          'a position begins with the columns after the prefix',
        )
        equal(await t.scan('run_id', { ...BY_TIME, isReverse, after: at }), ids.slice(nth + 1), ONCE)
      }
    }
  },
  'a scan in parts has each record once, for every limit': async (t) => {
    await insertRuns(t)
    for (const isReverse of [false, true]) {
      const whole = await t.scan('run_id', { ...BY_TIME, isReverse })
      for (const part of [
        { limit: 1 },
        { limit: 3 },
        { limit: 11 },
        { limit: 12 },
        { limit: 9, most: 1 },
        { limit: 2, most: 4 },
      ]) {
        const parts = await scanParts(t.other, { ...BY_TIME, isReverse, ...part })
        const ids = parts.flatMap(({ found }) => found.map(({ record }) => record.run_id))
        equal(ids, whole, `${ONCE}: ${JSON.stringify(part)}`)
        const brief = await scanParts(t.other, { ...BY_TIME, isReverse, ...part, columns: [] })
        const times = brief.flatMap(({ found }) =>
          found.map(({ record }) => `${record.created_at}.${record.tie_breaker}`),
        )
        equal(times, whole.map(timeOf), `${ONCE}, without the columns of the key: ${JSON.stringify(part)}`)
      }
    }
    const { last } = await t.other.scan({ ...BY_TIME, limit: 100 })
    equal(last, undefined, 'a scan that has looked at all records has no `last`')
  },
  'a scan by the key in parts has each record once': async (t) => {
    await t.insert('plugin_records', ...KEYS.toReversed().map((key) => stored(key)))
    await t.insert('members', ...KEYS.map((id) => member('d', id)), member('e', 'other'))
    for (const limit of [1, 5, 12]) {
      const parts = await scanParts(t.other, { kind: 'plugin_records', with: [['k', 't']], limit })
      equal(
        parts.flatMap(({ found }) => found.map(({ record }) => record.key)),
        KEYS,
        ONCE,
      )
      const ofDelivery = await scanParts(t.other, { kind: 'members', with: [['d']], limit })
      equal(
        ofDelivery.flatMap(({ found }) => found.map(({ record }) => record.dispatch_id)),
        KEYS,
        ONCE,
      )
    }
  },
  'a scan stops after `most` records, whether they match or not': async (t) => {
    await insertRuns(t)
    const rare = { ...BY_TIME, where: [{ column: 'run_id', in: ['2.1 a', '10.10 a'] }] }
    const first = await t.other.scan({ ...rare, limit: 9, most: 3 })
    equal(first.found, [], 'a scan looks at no more records than `most`')
    ok(first.last, 'a scan that has stopped at `most` has the position at which it stopped')
    for (const part of [{ limit: 9, most: 1 }, { limit: 9, most: 4 }, { limit: 1 }, { limit: 1, most: 4 }]) {
      const parts = await scanParts(t.other, { ...rare, ...part })
      const ids = parts.flatMap(({ found }) => found.map(({ record }) => record.run_id))
      equal(ids, ['2.1 a', '10.10 a'], `${ONCE}: ${JSON.stringify(part)}`)
    }
  },
  'a scan by records of another kind finds those that they name': async (t) => {
    await insertRuns(t)
    const tagged = SORTED.filter((_, at) => at % 3 !== 1)
    const tags = [...tagged, '5.0 gone'].map((name) => tagOf(name, 'x', timesOf(name)))
    await t.insert('run_tags', ...tags.toReversed(), tagOf('1.2 b', 'y', timesOf('1.2 b')))
    const tag = { kind: 'runs', by: 'run_tags', index: 'by_tag', with: [['t', 'x']] } as const
    const own = { column: 'run_id', in: tagged.slice(2, 4) }
    equal(await t.scan('run_id', { ...tag, with: [['t', 'y']] }), ['1.2 b'], NAMED)
    for (const isReverse of [false, true]) {
      const ids = isReverse ? tagged.toReversed() : tagged
      const { found } = await t.other.scan({ ...tag, isReverse, limit: 100 })
      equal(
        found.map(({ record }) => record.revision).toSorted(),
        tagged.map(() => 1),
        NAMED,
      )
      equal(found.map(({ record }) => record.run_id).toSorted(), tagged.toSorted(), NAMED)
      for (const part of [{ limit: 1 }, { limit: 3 }, { limit: 9, most: 2 }]) {
        const parts = await scanParts(t.other, { ...tag, isReverse, ...part })
        const times = parts.flatMap((one) => one.found.map(({ record }) => [record.created_at, record.tie_breaker]))
        equal(
          times,
          ids.map((name) => Object.values(timesOf(name))),
          `${ONCE}: ${JSON.stringify(part)}`,
        )
        const matching = await scanParts(t.other, { ...tag, isReverse, ...part, where: [own] })
        const all = matching.flatMap((one) => one.found.map(({ record }) => record.run_id))
        equal(all.toSorted(), own.in.toSorted(), `a filter is on the record that is found: ${JSON.stringify(part)}`)
      }
    }
    equal(await t.scan('run_id', { ...tag, from: [2], until: [10] }), ['2.1 a', '2.10 a'], RANGE)
    const both = [
      ['t', 'y'],
      ['t', 'x'],
      ['t', 'z'],
    ]
    const merged = await t.scan('run_id', { ...tag, with: both })
    equal(
      merged,
      SORTED.filter((name) => tagged.includes(name) || name === '1.2 b'),
      NAMED,
    )
  },
  'records that are committed between two parts of a scan do not change its other records': async (t) => {
    await insertRuns(t)
    const { found, last } = await t.other.scan({ ...BY_TIME, limit: 5 })
    await t.change(
      changing('remove', 'runs', runOf('9.0 a'), runOf('1.1 a')),
      changing('insert', 'runs', ...['0.7 new', '0.8 new', '11.0 new'].map((name) => runOf(name, timesOf(name)))),
    )
    const rest = await t.scan('run_id', { ...BY_TIME, ...(last && { after: last }) })
    const before = found.map(({ record }) => record.run_id).toSorted()
    equal([before, rest], [SORTED.slice(0, 5), ['2.1 a', '2.10 a', '10.0 a', '10.9 a', '10.10 a', '11.0 new']], ONCE)
  },
})
