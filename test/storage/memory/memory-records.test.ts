import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../src/contract-tests/fake-clock.ts'
import { recordsContract } from '../../../src/contract-tests/records-contract.ts'
import { declarationOf, type Kind, type RecordOf } from '../../../src/storage/engine/kinds.ts'
import type { Change, Filter, Prefix, Records, Scan, Value, Wanted } from '../../../src/storage/engine/records.ts'
import { memoryRecords } from '../../../src/storage/memory/memory-records.ts'
import { fc, runs } from '../../support/properties.ts'

type Row = Readonly<Record<string, unknown>>

const NOW = 1_800_000_000_000
const newRecords = (): Records => memoryRecords({ now: () => NOW })

function change(what: Change['do'], kind: Kind, ...records: readonly Row[]): Change {
  return { do: what, kind, records }
}

function member(delivery_id: string, dispatch_id: string, number = 1, version = 1): RecordOf<'members'> {
  return { delivery_id, dispatch_id, number, event_data: {}, version }
}

function runOf(run_id: string, columns: Partial<RecordOf<'runs'>> = {}): RecordOf<'runs'> {
  return {
    ...{ tenant: 't', session_id: 's', run_id, tie_breaker: 1, parent_run_id: null, top: null, status: 'running' },
    ...{ provider: null, model: null, user_id: null, agent_user_id: null, tags: null, state: null, derived: null },
    ...{ created_at: 1, updated_at: 1, last_seen_at: 1, revision: 1, version: 1 },
    ...{ open_since: null, pending_since: null, over_since: null },
    ...columns,
  }
}

function sumOf(run_id: string): Row {
  return { tenant: 't', session_id: 's', run_id, totals: {}, version: 1 }
}

describe('recordsContract on memoryRecords', () => {
  recordsContract({
    test: it,
    skip: it.skip,
    create() {
      const { now, advance } = fakeClock()
      return { records: memoryRecords({ now }), now, advance }
    },
  })
})

describe('memoryRecords', () => {
  it('The time of memory records is the time of their clock, exactly and at once', () => {
    expect(newRecords().now()).toEqual({ earliest: NOW, latest: NOW })
  })

  it('Memory records return the stored JSON itself, without a copy', async () => {
    const records = newRecords()
    const event_data = { a: 1 }
    await records.commit([change('insert', 'members', { ...member('d', 'a'), event_data })])
    const { members = [] } = await records.read([{ kind: 'members', with: [['d', 'a']] }])
    expect(members[0]?.event_data).toBe(event_data)
  })

  it('An update of a memory record leaves records that were read before as they were', async () => {
    const records = newRecords()
    const [old, given] = [
      { ...sumOf('a'), version: 1 },
      { ...sumOf('a'), totals: { cost: 2 } },
    ]
    await records.commit([change('insert', 'run_sums', old)])
    const before = await records.read([{ kind: 'run_sums', with: [['t']] }])
    await records.commit([change('update', 'run_sums', given)])
    expect(before.run_sums).toEqual([old])
    const after = await records.read([{ kind: 'run_sums', with: [['t']] }])
    expect(after.run_sums).toEqual([{ ...given, version: 2 }])
  })

  it('Memory records keep nothing of a commit that inserts one key twice', async () => {
    const records = newRecords()
    const commit = [
      change('insert', 'members', member('d', 'a'), member('d', 'b')),
      change('insert', 'members', member('d', 'a')),
    ]
    expect(await records.commit(commit)).toBe(false)
    expect((await records.scan({ kind: 'members', with: [[]], limit: 9 })).found).toEqual([])
  })

  it('Memory records restore removed records of a commit that then conflicts', async () => {
    const records = newRecords()
    await records.commit([change('insert', 'members', member('d', 'a'), member('d', 'b'))])
    const commit = [change('remove', 'members', member('d', 'a')), change('insert', 'members', member('d', 'b'))]
    expect(await records.commit(commit)).toBe(false)
    expect((await records.read([{ kind: 'members', with: [['d', 'a'], ['d']] }])).members).toHaveLength(2)
  })

  it('Memory records have an error for an index that is not declared', async () => {
    const scan = newRecords().scan({ kind: 'members', index: 'none', with: [[]], limit: 1 })
    await expect(scan).rejects.toThrow('the records have no index none')
  })

  it('A read of memory records follows a column up to its depth, and reads other kinds by all followed keys', async () => {
    const records = newRecords()
    const chain = ['a', 'b', 'c', 'd'].map((id, at) =>
      runOf(id, { parent_run_id: ['b', 'c', 'd', 'gone'][at] ?? null }),
    )
    const sums = ['a', 'b', 'c', 'd', 'gone'].map(sumOf)
    await records.commit([change('insert', 'runs', ...chain), change('insert', 'run_sums', ...sums)])
    const follow = { column: 'parent_run_id', unless: 'top', also: ['run_sums'] } as const
    const read = async (id: string, depth: number): Promise<unknown> => {
      const found = await records.read([{ kind: 'runs', with: [[id, 's', 't']], follow: { ...follow, depth } }])
      return [found.runs, found.run_sums].map((list = []) => list.map(({ run_id }) => run_id))
    }
    expect(await read('a', 0)).toEqual([['a'], []])
    expect(await read('a', 2)).toEqual([
      ['a', 'b', 'c'],
      ['b', 'c'],
    ])
    expect(await read('c', 9)).toEqual([
      ['c', 'd'],
      ['d', 'gone'],
    ])
  })

  it('A read of memory records does not follow from a record with the flag, and ends in a circle', async () => {
    const records = newRecords()
    const circle = [runOf('a', { parent_run_id: 'b' }), runOf('b', { parent_run_id: 'a' })]
    const top = [runOf('c', { parent_run_id: 'a', top: 1 })]
    await records.commit([change('insert', 'runs', ...circle, ...top)])
    const follow = { column: 'parent_run_id', unless: 'top', depth: 9, also: [] } as const
    const read = (id: string): Promise<unknown> => records.read([{ kind: 'runs', with: [[id, 's', 't']], follow }])
    expect(await read('a')).toEqual({ runs: circle })
    expect(await read('c')).toEqual({ runs: top })
  })
})

interface Found {
  readonly found: readonly { readonly record: Row; readonly at: Prefix }[]
  readonly last?: Prefix
}

/** The result of a scan without what distinguishes records of equal columns. */
function shown({ found, last }: Found): unknown {
  return { found: found.map(({ record, at }) => ({ record, at: at.slice(0, -1) })), last: last?.slice(0, -1) }
}

/** The port in the simplest way: lists that are searched from end to end. */
class NaiveRecords {
  readonly #rows: { readonly kind: Kind; readonly row: Row }[] = []

  get size(): number {
    return this.#rows.length
  }

  commit(changes: readonly Change[]): boolean {
    const all = changes.flatMap(({ do: what, kind, records }) => records.map((row: Row) => ({ what, kind, row })))
    const removed = all.filter(({ what }) => what === 'remove')
    const isRight = all.every(({ what, kind, row }) => {
      const stored = this.#find(kind, row)
      if (what !== 'insert') return stored?.row.version === row.version
      return !stored || removed.some((one) => one.kind === kind && isSame(keyOf(kind, one.row), keyOf(kind, row)))
    })
    if (!isRight) return false
    for (const { kind, row } of removed) this.#rows.splice(this.#rows.indexOf(this.#find(kind, row) as never), 1)
    for (const { what, kind, row } of all) {
      if (what === 'insert') this.#rows.push({ kind, row })
      if (what === 'update') this.#replace(kind, row)
    }
    return true
  }

  read({ kind, index, with: prefixes }: Wanted): readonly Row[] {
    return this.#indexed(kind, index).filter((row) =>
      prefixes.some((prefix) => begins(row, columnsOf(kind, index), prefix)),
    )
  }

  scan({
    kind,
    index,
    with: prefixes,
    from = [],
    until,
    after,
    isReverse = false,
    where = [],
    limit,
    most = 99,
  }: Scan): Found {
    const length = prefixes[0]?.length ?? 0
    const order = columnsOf(kind, index).slice(length)
    // Of equal columns, the order of insertion decides.
    const placeOf = (row: Row): Prefix => [...valuesOf(row, order), this.#rows.findIndex((one) => one.row === row)]
    const compare = (row: Row, values: Prefix): number => compared(placeOf(row), values)
    const sorted = this.read({ kind, ...(index && { index }), with: prefixes })
      .filter((row) => compare(row, from) >= 0 && (!until || compare(row, until) < 0))
      .filter((row) => !after || (isReverse ? compare(row, after) < 0 : compare(row, after) > 0))
      .sort((one, other) => (isReverse ? -1 : 1) * compare(one, placeOf(other)))
    const seen: Row[] = []
    const found: Row[] = []
    for (const row of sorted) {
      if (found.length >= limit || seen.length >= most) break
      seen.push(row)
      if (where.every((filter) => this.#passes(row, filter))) found.push(row)
    }
    return {
      found: found.map((record) => ({ record, at: placeOf(record) })),
      ...(seen.length < sorted.length && { last: placeOf(seen.at(-1) ?? {}) }),
    }
  }

  #passes(scanned: Row, filter: Filter): boolean {
    const row = filter.of ? this.#find(filter.of, { ...scanned, ...filter.key })?.row : scanned
    if (!row || filter.column === undefined) return row !== undefined
    const value = row[filter.column]
    if (value === null || value === undefined) return false
    if ('in' in filter) return filter.in.includes(value as Value)
    if ('below' in filter) return Number(value) < filter.below
    const isPart = String(value).includes('contains' in filter ? filter.contains : filter.lacks)
    return isPart === 'contains' in filter
  }

  #find(kind: Kind, row: Row): { readonly kind: Kind; readonly row: Row } | undefined {
    return this.#rows.find((one) => one.kind === kind && isSame(keyOf(kind, one.row), keyOf(kind, row)))
  }

  #replace(kind: Kind, given: Row): void {
    const stored = this.#find(kind, given) as { row: Row }
    const words = Object.entries(declarationOf(kind).columns)
    const columns = words.map(([column, word]) => {
      const isOld = / fixed/.test(word) || word.startsWith('id') || (/ kept/.test(word) && given[column] === null)
      return [column, isOld ? stored.row[column] : given[column]]
    })
    stored.row = { ...Object.fromEntries(columns), version: Number(stored.row.version) + 1 }
  }

  #indexed(kind: Kind, index: string | undefined): readonly Row[] {
    const rows = this.#rows.filter((one) => one.kind === kind).map(({ row }) => row)
    return rows.filter((row) => columnsOf(kind, index).every((column) => row[column] !== null))
  }
}

function columnsOf(kind: Kind, index: string | undefined): readonly string[] {
  const { key, indexes } = declarationOf(kind)
  return index === undefined ? key : (indexes?.[index] ?? [])
}

function keyOf(kind: Kind, row: Row): Prefix {
  return valuesOf(row, declarationOf(kind).key)
}

function valuesOf(row: Row, columns: readonly string[]): Prefix {
  return columns.map((column) => row[column] as Value)
}

function begins(row: Row, columns: readonly string[], prefix: Prefix): boolean {
  return isSame(valuesOf(row, columns.slice(0, prefix.length)), prefix)
}

function isSame(one: Prefix, other: Prefix): boolean {
  return one.every((value, at) => value === other[at])
}

function compared(values: Prefix, against: Prefix): number {
  const at = against.findIndex((value, place) => value !== values[place])
  return at < 0 ? 0 : (values[at] as Value) < (against[at] as Value) ? -1 : 1
}

/** Few values, so that keys and positions meet. Some join to equal texts. */
const ids = fc.constantFrom('a', 'A', 'a:s', '')
const sessions = fc.constantFrom('s', 's:s')
const numbers = fc.constantFrom(0, 1, 2, 10)
const versions = fc.constantFrom(1, 1, 1, 1, 2)

const someRuns = fc
  .record({
    ...{ run_id: ids, session_id: sessions, tenant: fc.constantFrom('t', 'u'), version: versions },
    ...{
      created_at: numbers,
      tie_breaker: numbers,
      parent_run_id: fc.option(ids),
      tags: fc.option(fc.constantFrom('a', 'ab')),
    },
    ...{
      user_id: fc.option(ids),
      open_since: fc.option(numbers),
      over_since: fc.option(numbers),
      state: fc.option(fc.constant({})),
    },
  })
  .map(({ run_id, ...columns }): Row => runOf(run_id, columns as Partial<RecordOf<'runs'>>))
const someSums = fc
  .record({ tenant: fc.constantFrom('t', 'u'), session_id: sessions, run_id: ids, version: versions })
  .map((columns): Row => ({ ...columns, totals: {} }))
const someSpends = fc
  .record({ tenant: fc.constantFrom('t', 'u'), user_id: ids, day: numbers, part: numbers, version: versions })
  .map((columns): Row => ({ ...columns, spend: {} }))

const changed = fc.oneof(
  ...(
    [
      ['runs', someRuns],
      ['run_sums', someSums],
      ['spends', someSpends],
    ] as const
  ).map(([kind, rows]) =>
    fc.record({
      do: fc.constantFrom('insert', 'insert', 'insert', 'update', 'remove', 'compare'),
      kind: fc.constant(kind),
      records: fc.uniqueArray(rows, { maxLength: 3, selector: (row) => JSON.stringify(keyOf(kind, row)) }),
    }),
  ),
)
/** One commit does not name one record twice, except to remove and insert it. */
const commits = fc.array(changed, { maxLength: 4 }).map((changes) => {
  const named = new Map<string, readonly string[]>()
  return changes.filter(({ do: what, kind, records }) => {
    const keys = records.map((row) => JSON.stringify([kind, ...keyOf(kind, row)]))
    const isPair = (other: string): boolean => [other, what].sort().join() === 'insert,remove'
    if (!keys.every((key) => named.get(key)?.every(isPair) ?? true)) return false
    for (const key of keys) named.set(key, [...(named.get(key) ?? []), what])
    return true
  })
})

const PARTS = [
  ['runs', undefined, 'iss', ''],
  ['runs', 'by_time', 'tnn', ''],
  ['runs', 'by_session', 'tsnn', ''],
  ['runs', 'by_user', 'tinn', ''],
  ['runs', 'open', 'nn', ''],
  ['runs', 'over', 'n', ''],
  ['run_sums', undefined, 'tsi', ''],
  ['spends', undefined, 'tinn', ''],
] as const
const VALUES = { i: ids, n: numbers, s: sessions, t: fc.constantFrom('t', 'u') }
const filters: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({ column: fc.constant('version'), below: fc.constantFrom(2, 3) }),
  fc.record({ column: fc.constant('tenant'), in: fc.array(fc.constantFrom('t', 'u'), { maxLength: 2 }) }),
  fc.constantFrom<Filter>(
    ...[
      { column: 'tags', contains: 'b' },
      { column: 'tags', lacks: 'b' },
      { column: 'user_id', in: ['a', ''] },
    ],
    ...[{ of: 'run_sums' as const }, { of: 'run_sums' as const, key: { run_id: 'a' }, column: 'version', in: [1] }],
    { of: 'spends', key: { day: 1, part: 0 }, column: 'part', below: 1 },
  ),
)

function scansOf([kind, index, types]: (typeof PARTS)[number]): fc.Arbitrary<Scan> {
  const values = [...types].map((type) => VALUES[type as keyof typeof VALUES] as fc.Arbitrary<Value>)
  const tuple = (from: number, to: number): fc.Arbitrary<Prefix> => fc.tuple(...values.slice(from, to))
  return fc.nat(values.length).chain((length) => {
    const position = fc.nat(values.length - length).chain((more) => tuple(length, length + more))
    const count = fc.integer({ min: 1, max: 6 })
    const whole = { with: fc.array(tuple(0, length), { minLength: 1, maxLength: 3 }), limit: count }
    const range = { from: position, until: position, after: position, isReverse: fc.boolean() }
    const rest = { ...range, where: fc.array(filters, { maxLength: 2 }), most: count }
    return fc
      .tuple(fc.record(whole), fc.record(rest, { requiredKeys: [] }))
      .map(([given, others]): Scan => ({ kind, ...(index && { index }), ...given, ...others }))
  })
}

/** Compares a scan and its next part, and a read of the same records. */
async function compare(records: Records, naive: NaiveRecords, scan: Scan): Promise<void> {
  const [scanned, ought] = [await records.scan(scan), naive.scan(scan)]
  expect(shown(scanned)).toEqual(shown(ought))
  const next = ({ last: after = [] }: Found): Scan => ({ ...scan, after })
  expect(shown(await records.scan(next(scanned)))).toEqual(shown(naive.scan(next(ought))))
  const { kind, index, with: prefixes } = scan
  const wanted: Wanted = { kind, ...(index && { index }), with: prefixes }
  const read: readonly Row[] = (await records.read([wanted]))[kind] ?? []
  const all = naive.read(wanted)
  expect([read.length, new Set(read)]).toEqual([all.length, new Set(all)])
}

describe('memoryRecords beside lists that are searched from end to end', () => {
  it('Memory records give the results of such lists for any commits, scans and reads', async () => {
    const step = fc.oneof({ arbitrary: commits, weight: 3 }, { arbitrary: fc.oneof(...PARTS.map(scansOf)), weight: 2 })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
        const [records, naive] = [newRecords(), new NaiveRecords()]
        for (const one of steps) {
          if (!Array.isArray(one)) await compare(records, naive, one as Scan)
          else expect(await records.commit(one as Change[])).toBe(naive.commit(one as Change[]))
          const [kind, index] = PARTS[naive.size % PARTS.length] ?? PARTS[0]
          await compare(records, naive, { kind, ...(index && { index }), with: [[]], limit: 99 })
        }
      }),
      { numRuns: runs(400) },
    )
  })
})
