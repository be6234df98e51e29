import { type ColumnWords, columnOf, isJson, isNumber } from '../../storage/engine/columns.ts'
import { declarationOf, type Kind } from '../../storage/engine/kinds.ts'
import type { Change, Filter, Prefix, Scan, Value } from '../../storage/engine/records.ts'
import { equal, ok } from '../assertions.ts'
import {
  type Columns,
  changing,
  jobOf,
  member,
  numbers,
  type RecordsHarness,
  recordsCases,
  runOf,
  scanParts,
  stored,
  sumOf,
} from './records-harness.ts'

const ALIKE = 'records give what a list of records gives, whatever is committed'

/** Records with valid JSON, of kinds with keys of several columns, absent values and indexes. */
const DRAWN: Partial<Record<Kind, Columns>> = {
  runs: runOf('r'),
  run_sums: sumOf('r'),
  jobs: jobOf('d'),
  members: member('d', 'e'),
  plugin_records: stored('k'),
}
const KINDS = Object.keys(DRAWN) as readonly Kind[]

/** Texts that sort alike in all databases: they have one length and end with 16 digits. */
const TEXTS: readonly string[] = numbers(5).map((at) => `text ${`${at * 7}`.padStart(16, '0')}`)
const PART = '7'
const SEEDS = [1, 2, 3]
const STEPS = 80

/** A whole number below another one. */
type Pick = (below: number) => number

/** Numbers of a seed: mulberry32. */
function picker(seed: number): Pick {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** Records in a list. */
class Model {
  #rows: readonly { readonly kind: Kind; readonly row: Columns }[] = []

  all(kind: Kind): readonly Columns[] {
    return this.#rows.filter((one) => one.kind === kind).map(({ row }) => row)
  }

  find(kind: Kind, named: Columns): Columns | undefined {
    return this.all(kind).find((row) => declarationOf(kind).key.every((column) => row[column] === named[column]))
  }

  commit(changes: readonly Change[]): boolean {
    const before = this.#rows
    const isDone = (['compare', 'update', 'remove', 'insert'] as const).every((phase) =>
      changes.every(
        ({ do: what, kind, records }) => what !== phase || records.every((row) => this.#make(what, kind, row)),
      ),
    )
    if (!isDone) this.#rows = before
    return isDone
  }

  #make(what: Change['do'], kind: Kind, given: Columns): boolean {
    const old = this.find(kind, given)
    if (what === 'insert' ? old : old?.version !== given.version) return false
    if (what === 'compare') return true
    const others = this.#rows.filter(({ row }) => row !== old)
    const row = what === 'update' ? updated(kind, old ?? {}, given) : given
    this.#rows = what === 'remove' ? others : [...others, { kind, row }]
    return true
  }

  /** The records of a scan, in any order. */
  matching({ kind, by = kind, index, with: prefixes, from = [], until, where = [] }: Scan): readonly Columns[] {
    const columns = columnsIn(by, index)
    const order = columns.slice(prefixes[0]?.length ?? 0)
    const inRange = this.all(by).filter(
      (row) =>
        columns.every((column) => row[column] !== null) &&
        prefixes.some((prefix) => prefix.every((value, at) => row[columns[at] ?? ''] === value)) &&
        compare(row, order, from) >= 0 &&
        (until === undefined || compare(row, order, until) < 0),
    )
    return inRange.flatMap((entry) => {
      const row = by === kind ? entry : this.find(kind, entry)
      return row && where.every((filter) => passes(row, filter)) ? [row] : []
    })
  }
}

function updated(kind: Kind, old: Columns, given: Columns): Columns {
  const changed = Object.entries(declarationOf(kind).columns).filter(([name, words]) => {
    const { fixed, kept } = columnOf(words)
    return !(fixed || (kept && given[name] === null))
  })
  return {
    ...old,
    ...Object.fromEntries(changed.map(([name]) => [name, given[name]])),
    version: Number(old.version) + 1,
  }
}

/** The columns of the key or of an index. */
function columnsIn(kind: Kind, index: string | undefined): readonly string[] {
  const { key, indexes = {} } = declarationOf(kind)
  return index === undefined ? key : (indexes[index] ?? [])
}

/** Compares as many columns as there are values. */
function compare(row: Columns, columns: readonly string[], values: readonly unknown[]): number {
  for (const [at, against] of values.entries()) {
    const value = row[columns[at] ?? ''] as Value
    if (value !== against) return value < (against as Value) ? -1 : 1
  }
  return 0
}

function passes(row: Columns, filter: Filter): boolean {
  const value = row[filter.column ?? '']
  if (value === null) return false
  if ('in' in filter) return filter.in.includes(value as Value)
  if ('contains' in filter) return String(value).includes(filter.contains)
  if ('lacks' in filter) return !String(value).includes(filter.lacks)
  return 'below' in filter && Number(value) < filter.below
}

function drawRecord(kind: Kind, version: number, pick: Pick): Columns {
  const { key, columns } = declarationOf(kind)
  const drawn = Object.entries(columns).flatMap(([name, words]): [string, unknown][] => {
    const column = columnOf(words)
    if (isJson(column) || name === 'version') return []
    if (column.optional && pick(3) === 0) return [[name, null]]
    if (column.kind === 'flag') return [[name, 1]]
    return [[name, isNumber(column) ? pick(4) : TEXTS[pick(key.includes(name) ? 3 : TEXTS.length)]]]
  })
  return { ...DRAWN[kind], ...Object.fromEntries(drawn), version }
}

function drawChanges(model: Model, version: number, pick: Pick): readonly Change[] {
  const kind = KINDS[pick(KINDS.length)] as Kind
  const drawn = drawRecord(kind, version, pick)
  const all = model.all(kind)
  const old = (pick(5) > 0 && all[pick(all.length)]) || model.find(kind, drawn)
  if (!old || pick(3) === 0) return [changing('insert', kind, drawn)]
  const key = Object.fromEntries(declarationOf(kind).key.map((column) => [column, old[column]]))
  const named = { ...key, version: Number(old.version) + (pick(6) === 0 ? 1 : 0) }
  const kept = kind === 'runs' && pick(2) === 0 ? { state: null, derived: null } : {}
  const choices: readonly (readonly Change[])[] = [
    [changing('update', kind, { ...drawn, ...kept, ...named })],
    [changing('compare', kind, named), changing('insert', 'members', drawRecord('members', version + 1, pick))],
    [changing('remove', kind, named)],
    [changing('insert', kind, { ...drawn, ...key }), changing('remove', kind, named)],
  ]
  return choices[pick(choices.length)] ?? []
}

function drawScan(model: Model, pick: Pick): Scan {
  const kind = KINDS[pick(KINDS.length)] as Kind
  const { columns: words, indexes = {} } = declarationOf(kind)
  const names = Object.keys(indexes)
  const index = names[pick(names.length + 1)]
  const columns = columnsIn(kind, index)
  const all = model.all(kind)
  const draw = (): Columns => (pick(4) > 0 && all[pick(all.length)]) || drawRecord(kind, 1, pick)
  const isNumeric = (column: string): boolean => isNumber(columnOf(words[column] as ColumnWords))
  const drawValue = (column: string): Value => (draw()[column] ?? (isNumeric(column) ? 1 : TEXTS[0])) as Value
  const length = pick(columns.length + 1)
  const order = columns.slice(length)
  const bound = (): Prefix => order.slice(0, 1 + pick(order.length)).map(drawValue)
  const filters: readonly Filter[] = [
    { column: 'tenant', in: TEXTS.filter(() => pick(2) === 0) },
    { column: 'tenant', contains: PART },
    { column: 'tenant', lacks: PART },
    { column: 'version', below: 200 },
  ]
  const filter = filters[kind === 'members' ? 3 : pick(filters.length)]
  return {
    ...(kind === 'run_sums' && pick(2) === 0 ? { kind: 'runs', by: kind } : { kind }),
    ...(index !== undefined && { index }),
    with: numbers(1 + pick(3)).map(() => columns.slice(0, length).map(drawValue)),
    ...(order.length > 0 && pick(3) === 0 && { from: bound() }),
    ...(order.length > 0 && pick(3) === 0 && { until: bound() }),
    isReverse: pick(2) === 0,
    ...(filter && pick(2) === 0 && { where: [filter] }),
    limit: 1 + pick(5),
    ...(pick(3) === 0 && { most: 1 + pick(5) }),
  }
}

/** A record as a text, whatever the order of its columns. */
function shown(row: object): string {
  return JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)))
}

async function expectScan(t: RecordsHarness, scan: Scan, expected: readonly Columns[]): Promise<void> {
  const given = `scan ${JSON.stringify(scan)}`
  const found = (await scanParts(t.other, scan)).flatMap((part) => part.found.map(({ record }) => record as Columns))
  equal(found.map(shown).sort(), expected.map(shown).sort(), `${ALIKE}; ${given}`)
  const order = columnsIn(scan.by ?? scan.kind, scan.index).slice(scan.with[0]?.length ?? 0)
  const sign = scan.isReverse ? -1 : 1
  for (const [at, record] of found.slice(1).entries()) {
    const before = order.map((column) => found[at]?.[column])
    ok(sign * compare(record, order, before) >= 0, `a scan is in the order of its index; ${given}`)
  }
}

export const modelCases: ReturnType<typeof recordsCases> = recordsCases([], {
  async 'any sequence of commits leaves what it leaves of a list of records'(t) {
    for (const seed of SEEDS) {
      const pick = picker(seed)
      const model = new Model()
      for (let step = 0; step < STEPS; step++) {
        const changes = drawChanges(model, step * 2 + 1, pick)
        const records = t.handles[pick(t.handles.length)] ?? t.records
        equal(await records.commit(changes), model.commit(changes), `${ALIKE}; commit ${JSON.stringify(changes)}`)
        const scan = drawScan(model, pick)
        await expectScan(t, scan, model.matching(scan))
      }
      for (const kind of KINDS) {
        const rows = model.all(kind)
        const found = (await t.other.read([{ kind, with: [[]] }]))[kind] ?? []
        equal(found.map(shown).sort(), rows.map(shown).sort(), `${ALIKE}; read ${kind}`)
        await t.change(changing('remove', kind, ...rows))
      }
    }
  },
})
