import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobOf, runOf, stored, sumOf } from '../../../../src/contract-tests/records/records-harness.ts'
import { declarationOf, type Kind } from '../../../../src/storage/engine/kinds.ts'
import type { Filter, Prefix, Records, Scan, Value, Wanted } from '../../../../src/storage/engine/records.ts'
import { openDatabase } from '../../../../src/storage/sql/connection/database.ts'
import { DIALECTS } from '../../../../src/storage/sql/dialects/dialects.ts'
import { sqlRecords } from '../../../../src/storage/sql/sql-records.ts'
import { fc, runs } from '../../../support/properties.ts'
import { UNHURRIED_MS } from '../../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../../databases.ts'
import { emptyTables } from '../../store-each.ts'

/** Few values, so that many positions are equal. */
const TEXTS = ['A', 'a', 'b', 'é', '\u07ff', '💌']
const NUMBERS = [0, 1, 2]

type Row = Readonly<Record<string, unknown>>

function rowsOf(kind: Kind): readonly Row[] {
  const all: Row[] = []
  for (const [at, text] of TEXTS.entries())
    for (const number of NUMBERS) {
      const [tenant, nth] = [TEXTS[at % 2] as string, NUMBERS[(at + number) % 3] as number]
      if (kind === 'jobs') all.push({ ...jobOf(`${text}${number}`), tenant, channel: 'a', priority: 1, wake_at: nth })
      else if (kind === 'run_sums') all.push({ ...sumOf(text), tenant, session_id: TEXTS[number] })
      else if (kind === 'plugin_records')
        all.push({ ...stored(`${text}${number}`), kind: 'A', tenant, a: text, b: TEXTS[nth], expires_at: nth })
      else
        all.push({
          ...runOf(text, { created_at: nth, tie_breaker: nth, user_id: number > 0 ? 'a' : null, over_since: number }),
          ...{ tenant, session_id: TEXTS[number], tags: text, status: TEXTS[nth] },
        })
    }
  return all
}

const KINDS_USED = ['jobs', 'run_sums', 'plugin_records', 'runs'] as const

/** Values of columns as records have them. */
function valuesFor(column: string): readonly Value[] {
  const isText = !/_at$|_since$|^tie_breaker$|^priority$|^version$/.test(column)
  if (column === 'kind') return ['A']
  if (column === 'channel') return ['a']
  if (column === 'priority') return [1]
  return isText ? TEXTS : NUMBERS
}

const filters: Readonly<Partial<Record<Kind, readonly Filter[]>>> = {
  jobs: [
    { column: 'wake_at', below: 2 },
    { column: 'tenant', in: ['A', 'b'] },
  ],
  runs: [
    { column: 'tags', contains: 'é' },
    { column: 'tags', lacks: 'a' },
    { column: 'status', in: ['A', 'a'] },
    { of: 'run_sums' },
    { of: 'run_sums', key: { session_id: 'b' }, column: 'version', below: 2 },
  ],
  run_sums: [{ of: 'runs', column: 'created_at', in: [1, 2] }],
  plugin_records: [{ of: 'plugin_records', key: { key: 'a1' }, column: 'expires_at', below: 2 }],
}

/** A position as short as another one, if that has all columns of the index: without asked columns it may lack the key. */
function shortened(at: Prefix, given: Prefix | undefined, { kind, index, with: [prefix = []], columns }: Scan): Prefix {
  const { key, indexes = {} } = declarationOf(kind)
  const indexed = index === undefined ? key : (indexes[index] ?? [])
  const isLong = given && given.length >= Math.max(1, indexed.length - prefix.length)
  return columns && isLong ? at.slice(0, given.length) : at
}

/** Any scans of any index, also in parts. */
const scans: fc.Arbitrary<Scan> = fc.constantFrom<Kind>(...KINDS_USED).chain((kind) => {
  const { key, indexes = {} } = declarationOf(kind)
  return fc.constantFrom<string | undefined>(undefined, ...Object.keys(indexes)).chain((index) => {
    const columns = index === undefined ? key : (indexes[index] ?? [])
    const tuple = (from: number, to: number, all = columns): fc.Arbitrary<Prefix> =>
      fc.tuple(...all.slice(from, to).map((column) => fc.constantFrom(...valuesFor(column))))
    return fc.nat(columns.length).chain((length) => {
      const order = [...new Set([...columns.slice(length), ...key])]
      const bound = fc.nat(columns.length - length).chain((more) => tuple(length, length + more))
      const position = fc.nat(order.length).chain((more) => tuple(0, more, order))
      const whole = {
        with: fc.array(tuple(0, length), { minLength: 1, maxLength: 3 }),
        limit: fc.integer({ min: 1, max: 7 }),
      }
      const rest = {
        ...{
          from: bound,
          until: bound,
          after: position,
          isReverse: fc.boolean(),
          columns: fc.constant([]),
        },
        ...{ where: fc.subarray([...(filters[kind] ?? [])]), most: fc.integer({ min: 1, max: 7 }) },
      }
      return fc
        .tuple(fc.record(whole), fc.record(rest, { requiredKeys: [] }))
        .map(([given, others]): Scan => ({ kind, ...(index && { index }), ...given, ...others }))
    })
  })
})

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`scans of sqlRecords in ${kind.name}`, () => {
    let database: TestDatabase
    let records: Records

    beforeAll(async () => {
      database = await kind.open()
      const db = database.connect()
      await emptyTables(database, db)
      const options = { db, dialect: DIALECTS[kind.name], prefix: 'sallyport_', timeoutMs: UNHURRIED_MS }
      records = sqlRecords(openDatabase(options))
      const changes = KINDS_USED.map((one) => ({ do: 'insert', kind: one, records: rowsOf(one) }) as const)
      expect(await records.commit(changes)).toBe(true)
    })
    afterAll(() => database.close())

    it('A scan finds the records of a search through all records, in its order', async () => {
      await fc.assert(
        fc.asyncProperty(scans, async (scan) => {
          const [expected, scanned] = [search(scan), await records.scan(scan)]
          const found = scanned.found.map(({ at }) => at)
          // Records of one expiry are in any order there.
          const isAnyOrder = scan.index === 'expiring' && scan.after === undefined
          if (isAnyOrder) expect(found.map(([first]) => first)).toEqual(expected.found.map(([first]) => first))
          else expect(found).toEqual(expected.found.map((at, nth) => shortened(at, found[nth], scan)))
          if (isAnyOrder) return
          if (expected.last && scanned.last) expect(scanned.last).toEqual(shortened(expected.last, scanned.last, scan))
          // A scan with filters may look further, and one may end at the last record without knowing it.
          else if (expected.last) expect(search({ ...scan, limit: 99, after: expected.last }).found).toEqual([])
          else if (scanned.last) expect((await records.scan({ ...scan, after: scanned.last })).found).toEqual([])
        }),
        { numRuns: runs(2_000) },
      )
    })

    it('A read finds the records of a search through all records', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(scans, { minLength: 1, maxLength: 3 }), async (given) => {
          const wanted: Wanted[] = given.map(({ kind: of, index, with: prefixes }) => ({
            ...{ kind: of, ...(index && { index }), with: prefixes },
          }))
          const found = await records.read(wanted)
          for (const one of KINDS_USED) {
            const expected = wanted.filter((each) => each.kind === one).flatMap(rowsWanted)
            expect(keysIn(one, found[one])).toEqual(keysIn(one, [...new Set(expected)]))
          }
        }),
        { numRuns: runs(500) },
      )
    })
  })

const ROWS = Object.fromEntries(KINDS_USED.map((kind) => [kind, rowsOf(kind)]))

function rowsWanted({ kind, index, with: prefixes }: Pick<Wanted, 'kind' | 'index' | 'with'>): readonly Row[] {
  const columns = columnsIn(kind, index)
  return (ROWS[kind] ?? []).filter(
    (row) =>
      columns.every((name) => row[name] !== null && row[name] !== undefined) &&
      prefixes.some((prefix) => prefix.every((value, at) => row[columns[at] as string] === value)),
  )
}

function columnsIn(kind: Kind, index: string | undefined): readonly string[] {
  const { key, indexes } = declarationOf(kind)
  return index === undefined ? key : (indexes?.[index] ?? [])
}

/** A scan in the simplest way. */
function search(scan: Scan): { readonly found: readonly Prefix[]; readonly last?: Prefix } {
  const { kind, index, with: prefixes, from = [], until, after, isReverse = false, where = [] } = scan
  const { limit, most = Number.POSITIVE_INFINITY } = scan
  const columns = columnsIn(kind, index).slice(prefixes[0]?.length ?? 0)
  const order = [...new Set([...columns, ...declarationOf(kind).key])]
  const placeOf = (row: Row): Prefix => order.map((name) => row[name] as Value)
  const sorted = rowsWanted(scan)
    .filter((row) => compared(placeOf(row), from) >= 0 && (!until || compared(placeOf(row), until) < 0))
    .filter((row) => !after || (isReverse ? compared(placeOf(row), after) < 0 : compared(placeOf(row), after) > 0))
    .sort((one, other) => (isReverse ? -1 : 1) * compared(placeOf(one), placeOf(other)))
  const found: Prefix[] = []
  let seen = 0
  for (const row of sorted) {
    if (found.length >= limit || seen >= most) break
    seen++
    if (where.every((filter) => passes(row, filter))) found.push(placeOf(row))
  }
  const last = sorted[seen - 1]
  return { found, ...(last && seen < sorted.length && { last: placeOf(last) }) }
}

function passes(scanned: Row, filter: Filter): boolean {
  const row = filter.of === undefined ? scanned : otherRow(filter.of, { ...scanned, ...filter.key })
  if (!row || filter.column === undefined) return row !== undefined
  const value = row[filter.column]
  if (value === null || value === undefined) return false
  if ('in' in filter) return filter.in.some((one) => one === value)
  if ('below' in filter) return Number(value) < filter.below
  return String(value).includes('contains' in filter ? filter.contains : filter.lacks) === 'contains' in filter
}

function otherRow(kind: Kind, named: Row): Row | undefined {
  const { key } = declarationOf(kind)
  return ROWS[kind]?.find((row) => key.every((name) => row[name] === named[name]))
}

/** The texts of the rows sort alike here and in databases. */
function compared(values: Prefix, against: Prefix): number {
  const at = against.findIndex((value, place) => value !== values[place])
  return at < 0 ? 0 : (values[at] as Value) < (against[at] as Value) ? -1 : 1
}

function keysIn(kind: Kind, records: readonly object[] = []): readonly string[] {
  const { key } = declarationOf(kind)
  return records.map((record) => JSON.stringify(key.map((name) => (record as Row)[name]))).sort()
}
