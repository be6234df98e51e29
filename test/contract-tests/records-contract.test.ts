import { AssertionError } from 'node:assert'
import { setImmediate as roundTrip } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { recordsContract } from '../../src/contract-tests/records-contract.ts'
import { declarationOf, type Kind, type RecordOf } from '../../src/storage/engine/kinds.ts'
import type { Change, Filter, Found, Records, Scan, Scanned, Value, Wanted } from '../../src/storage/engine/records.ts'
import { memoryRecords } from '../../src/storage/memory/memory-records.ts'

type Row = Readonly<Record<string, unknown>>
type AnyScanned = Scanned<Kind>

/** A plausible bug, planted in correct records. */
interface Bug {
  /** What the records do. */
  readonly it: string
  plant(records: Records): Partial<Records>
  /** The case that must catch it. */
  readonly caughtBy: string
  /** What its message names. */
  readonly names: RegExp
}

/** Changes the rows that are read and scanned; without a result they are left out. */
function showing(show: (row: Row, kind: Kind) => Row | undefined): Bug['plant'] {
  return (records) => ({
    async read(wanted) {
      const found = Object.entries(await records.read(wanted)) as [Kind, readonly Row[]][]
      const shown = found.map(([kind, rows]) => [kind, rows.map((row) => show(row, kind)).filter((row) => row)])
      return Object.fromEntries(shown) as Found
    },
    async scan(scan) {
      const { found, ...rest } = await records.scan(scan)
      const shown = found.map(({ record, at }) => ({ record: show(record, scan.kind), at }))
      return { ...rest, found: shown.filter(({ record }) => record) as never }
    },
  })
}

/** Changes the values of rows. */
function valuing(change: (value: unknown) => unknown): Bug['plant'] {
  return showing((row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [column, change(value)])))
}

/** Changes the rows that are committed. */
function committing(change: (row: Row, what: Change['do'], kind: Kind) => Row | undefined): Bug['plant'] {
  return ({ commit }) => ({
    commit: (changes) =>
      commit(
        changes.map((one) => ({
          ...one,
          records: one.records.map((row) => change(row, one.do, one.kind)).filter((row) => row !== undefined),
        })),
      ),
  })
}

/** Changes scans before they run. */
function scanning(change: (scan: Scan) => Scan): Bug['plant'] {
  return ({ scan }) => ({ scan: (one) => scan(change(one as Scan) as typeof one) })
}

/** Changes the filters of scans. */
function filtering(change: (filter: Filter) => readonly Filter[]): Bug['plant'] {
  return scanning(({ where = [], ...scan }) => ({ ...scan, where: where.flatMap(change) }))
}

/** Changes the results of scans. */
function finding(
  change: (scanned: AnyScanned, scan: Scan, records: Records) => AnyScanned | Promise<AnyScanned>,
): Bug['plant'] {
  return (records) => ({
    scan: async (scan) => (await change((await records.scan(scan)) as AnyScanned, scan as Scan, records)) as never,
  })
}

function without<T extends object, Name extends keyof T>(whole: T, ...names: readonly Name[]): Omit<T, Name> {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name as Name))) as Omit<T, Name>
}

function keyOf(kind: Kind, row: Row): readonly Value[] {
  return declarationOf(kind).key.map((column) => row[column] as Value)
}

async function stored(records: Records, kind: Kind, row: Row): Promise<Row | undefined> {
  const found = await records.read([{ kind, with: [keyOf(kind, row)] }])
  return found[kind]?.[0]
}

/** The changes with the versions that their records have now. */
async function withPresentVersions(records: Records, changes: readonly Change[]): Promise<readonly Change[]> {
  const all = changes.map(async (one) => {
    const rows = one.records.map(async (row) => ({ ...row, version: (await stored(records, one.kind, row))?.version }))
    return one.do === 'insert' ? one : { ...one, records: (await Promise.all(rows)) as never }
  })
  return Promise.all(all)
}

/** Replaces every update by a removal and an insertion. */
function updating(update: (old: Row, given: Row, kind: Kind) => Row): Bug['plant'] {
  return (records) => ({
    async commit(changes) {
      const all: Change[] = []
      for (const one of changes) {
        if (one.do !== 'update') all.push(one)
        else
          for (const given of one.records) {
            const old = (await stored(records, one.kind, given)) ?? given
            all.push({ do: 'remove', kind: one.kind, records: [given] })
            all.push({ do: 'insert', kind: one.kind, records: [update(old, given, one.kind)] })
          }
      }
      return records.commit(all)
    },
  })
}

function fixedOf(kind: Kind, row: Row): Row {
  const fixed = Object.entries(declarationOf(kind).columns).filter(([, words]) => / fixed|^id/.test(words))
  return Object.fromEntries(fixed.map(([column]) => [column, row[column]]))
}

const FOUND = 'a committed record is found by read and scan at once, through every handle'
const ONE_CONFLICT = 'a commit with one conflict resolves to false and changes nothing'
const ONE_VERSION = 'of concurrent commits that change one version exactly one succeeds'
const UPDATE = 'an update replaces columns, adds 1 to the version and leaves columns that are fixed'
const TEXTS = 'texts are returned exactly'
const KEYS = 'keys that differ in case, spaces or Unicode form are of different records'
const IN_PARTS = 'a scan in parts has each record once, for every limit'
const LOST = /a commit that resolves to true has made all its changes/
const COMPARED = /a commit resolves to false if a record has another version, or an inserted one exists/
const UNTOUCHED = /a commit that resolves to false has changed nothing/
const EXACT = /values are returned as they were committed/

const COMMIT_BUGS: readonly Bug[] = [
  { it: 'writes nothing', plant: () => ({ commit: async () => true }), caughtBy: FOUND, names: LOST },
  {
    it: 'loses a record in twenty',
    plant(records) {
      let count = 0
      return committing((row) => (++count % 20 === 0 ? undefined : row))(records)
    },
    caughtBy: 'a commit of several hundred records makes all changes',
    names: LOST,
  },
  {
    it: 'loses the thirtieth commit',
    plant({ commit }) {
      let count = 0
      return { commit: async (changes) => (++count % 30 === 0 ? true : commit(changes)) }
    },
    caughtBy: 'any sequence of commits leaves what it leaves of a list of records',
    names: /records give what a list of records gives/,
  },
  {
    it: 'writes each change on its own',
    plant: ({ commit }) => ({
      async commit(changes) {
        for (const change of changes) if (!(await commit([change]))) return false
        return true
      },
    }),
    caughtBy: ONE_CONFLICT,
    names: UNTOUCHED,
  },
  {
    it: 'compares no versions',
    plant: (records) => ({ commit: async (changes) => records.commit(await withPresentVersions(records, changes)) }),
    caughtBy: ONE_CONFLICT,
    names: COMPARED,
  },
  {
    it: 'ignores comparisons',
    plant: ({ commit }) => ({ commit: (changes) => commit(changes.filter((change) => change.do !== 'compare')) }),
    caughtBy: ONE_CONFLICT,
    names: COMPARED,
  },
  {
    it: 'ignores updates of records that do not exist',
    plant: (records) => ({
      async commit(changes) {
        const present = changes.map(async (one) => {
          const rows = await Promise.all(one.records.map((row) => stored(records, one.kind, row)))
          return { ...one, records: one.records.filter((_, at) => one.do === 'insert' || rows[at]) }
        })
        return records.commit(await Promise.all(present))
      },
    }),
    caughtBy: ONE_CONFLICT,
    names: /This one updates a record that does not exist/,
  },
  {
    it: 'replaces a record that is inserted again',
    plant: (records) => ({
      async commit(changes) {
        const inserted = changes.filter((one) => one.do === 'insert')
        const old = inserted.map(async (one): Promise<Change> => {
          const rows = await Promise.all(one.records.map((row) => stored(records, one.kind, row)))
          return { do: 'remove', kind: one.kind, records: rows.filter((row) => row !== undefined) }
        })
        const removed = changes.filter((one) => one.do === 'remove')
        return records.commit([...(removed.length > 0 ? [] : await Promise.all(old)), ...changes])
      },
    }),
    caughtBy: ONE_CONFLICT,
    names: /This one inserts a record that exists/,
  },
  {
    it: 'compares versions some time before it writes',
    plant: (records) => ({
      async commit(changes) {
        const checks = changes.filter((one) => one.do !== 'insert')
        if (!(await records.commit(checks.map((one) => ({ ...one, do: 'compare' as const }))))) return false
        for (let tries = 0; tries < 99; tries++)
          if (await records.commit(await withPresentVersions(records, changes))) return true
        return false
      },
    }),
    caughtBy: ONE_VERSION,
    names: /exactly one of concurrent commits resolves to true/,
  },
  {
    it: 'compares records that it does not change some time before it writes',
    plant: ({ commit }) => ({
      async commit(changes) {
        const isCompared = (one: Change): boolean => one.do === 'compare'
        if (!(await commit(changes.filter(isCompared)))) return false
        return commit(changes.filter((one) => !isCompared(one)))
      },
    }),
    caughtBy: 'of two concurrent commits that each compare what the other changes, one fails',
    names: /a commit that compares a record conflicts with one that changes it/,
  },
  {
    it: 'counts a comparison as a change',
    plant: (records) => ({
      async commit(changes) {
        const touched = changes.map(async (one): Promise<Change> => {
          if (one.do !== 'compare') return one
          const rows = one.records.map(async (row) => ({ ...(await stored(records, one.kind, row)), ...row }))
          return { do: 'update', kind: one.kind, records: await Promise.all(rows) }
        })
        return records.commit(await Promise.all(touched))
      },
    }),
    caughtBy: 'a commit that only compares changes nothing',
    names: /a record that is only compared stays as it is/,
  },
  {
    it: 'makes commits of the same kind conflict',
    plant({ commit }) {
      const busy = new Set<Kind>()
      return {
        async commit(changes) {
          const kinds = changes.map(({ kind }) => kind)
          if (kinds.some((kind) => busy.has(kind))) return false
          for (const kind of kinds) busy.add(kind)
          return commit(changes).finally(() => {
            for (const kind of kinds) busy.delete(kind)
          })
        },
      }
    },
    caughtBy: 'concurrent commits of different records all succeed',
    names: /commits of different records do not conflict/,
  },
  {
    it: 'inserts before it removes',
    plant: ({ commit }) => ({
      async commit(changes) {
        const [inserted, others] = [
          changes.filter((one) => one.do === 'insert'),
          changes.filter((one) => one.do !== 'insert'),
        ]
        return (await commit(inserted)) && commit(others)
      },
    }),
    caughtBy: 'a commit may remove a record and insert it anew',
    names: /a commit without a conflict resolves to true/,
  },
  {
    it: 'does not count versions',
    plant: updating((old, given, kind) => ({ ...given, ...fixedOf(kind, old) })),
    caughtBy: UPDATE,
    names: /adds 1 to the version/,
  },
  {
    it: 'changes fixed columns',
    plant: updating((old, given) => ({ ...given, version: Number(old.version) + 1 })),
    caughtBy: UPDATE,
    names: /an update replaces the columns that are not fixed/,
  },
  {
    it: 'keeps every column for which an update has null',
    plant: updating((old, given) => {
      const present = Object.entries(given).filter(([, value]) => value !== null)
      return { ...old, ...Object.fromEntries(present), ...fixedOf('runs', old), version: Number(old.version) + 1 }
    }),
    caughtBy: UPDATE,
    names: /also by null/,
  },
  {
    it: 'replaces kept columns by null',
    plant: updating((old, given, kind) => ({ ...given, ...fixedOf(kind, old), version: Number(old.version) + 1 })),
    caughtBy: 'an update with null for a kept column leaves its value',
    names: /a kept column stays if the update has null for it/,
  },
  {
    it: 'does not remove a record from the index of a column that becomes absent',
    plant(records) {
      const indexed = new Map<unknown, Row>()
      return {
        async commit(changes) {
          for (const { records: rows } of changes)
            for (const row of rows as readonly Row[]) if (row.user_id) indexed.set(row.run_id, row)
          return records.commit(changes)
        },
        async read(wanted) {
          const found = await records.read(wanted)
          return wanted[0]?.index === 'by_user' ? ({ runs: [...indexed.values()] } as unknown as Found) : found
        },
      }
    },
    caughtBy: 'a record with an absent column is not in an index of it',
    names: /an index lacks the records that lack one of its columns/,
  },
]

const READ_BUGS: readonly Bug[] = [
  {
    it: 'reads a record once per prefix',
    plant: ({ read }) => ({
      async read(wanted) {
        const all = wanted.flatMap((one) => one.with.map((begin) => ({ ...one, with: [begin] })))
        const found = new Map<Kind, unknown[]>()
        for (const part of await Promise.all(all.map((one) => read([one]))))
          for (const [kind, rows] of Object.entries(part) as [Kind, readonly RecordOf<Kind>[]][])
            found.set(kind, [...(found.get(kind) ?? []), ...rows])
        return Object.fromEntries(found) as Found
      },
    }),
    caughtBy: 'a read has each record once',
    names: /a read has each record once/,
  },
  {
    it: 'reads one kind after the other',
    plant: ({ read }) => ({
      async read(wanted) {
        let found: Found = {}
        for (const one of wanted) found = { ...found, ...(await read([one])) }
        return found
      },
    }),
    caughtBy: 'a read is of one moment',
    names: /all records of a read are as they were at one moment/,
  },
  {
    it: 'remembers records that it has read',
    plant: ({ read }) => {
      const known = new Map<string, Promise<Found>>()
      return {
        read(wanted) {
          const key = JSON.stringify(wanted)
          const found = known.get(key) ?? read(wanted)
          known.set(key, found)
          return found
        },
      }
    },
    caughtBy: 'a commit through another handle conflicts with a version that this handle has read',
    names: /a read finds the last committed version/,
  },
  {
    it: 'shows the version before the last',
    plant: showing((row) => ({ ...row, version: Math.max(1, Number(row.version) - 1) })),
    caughtBy: FOUND,
    names: LOST,
  },
  {
    it: 'reads a hundred keys at once',
    plant: ({ read }) => ({ read: (wanted) => read(wanted.map((one) => ({ ...one, with: one.with.slice(0, 100) }))) }),
    caughtBy: 'a read finds all records of many keys and kinds',
    names: /a read finds every key that has a record/,
  },
  {
    it: 'compares the start of texts with a prefix',
    plant: ({ read }) => ({
      async read(wanted) {
        const found = await read(wanted.map(({ kind }) => ({ kind, with: [[]] })))
        const { members = [] } = found
        const [begin = ''] = wanted[0]?.with[0] ?? []
        return { ...found, members: members.filter(({ delivery_id }) => delivery_id.startsWith(String(begin))) }
      },
    }),
    caughtBy: 'a read by the first columns finds the records with exactly these values',
    names: /a prefix is of whole values/,
  },
  {
    it: 'follows from records with the flag',
    plant: ({ read }) => ({
      read: (wanted) =>
        read(wanted.map((one): Wanted => (one.follow ? { ...one, follow: { ...one.follow, unless: 'none' } } : one))),
    }),
    caughtBy: 'a read with `follow` finds the wanted records, and no more than those that follow from them',
    names: /a read follows the column up to its depth/,
  },
  {
    it: 'follows without an end',
    plant: ({ read }) => ({
      read: (wanted) =>
        read(wanted.map((one): Wanted => (one.follow ? { ...one, follow: { ...one.follow, depth: 99 } } : one))),
    }),
    caughtBy: 'a read with `follow` finds the wanted records, and no more than those that follow from them',
    names: /a read follows the column up to its depth/,
  },
]

const VALUE_BUGS: readonly Bug[] = [
  {
    it: 'ignores the case of keys',
    plant: committing((row) => ({
      ...row,
      ...('dispatch_id' in row && { dispatch_id: String(row.dispatch_id).toLowerCase() }),
    })),
    caughtBy: KEYS,
    names: /keys that differ in case, spaces or Unicode form are of different records/,
  },
  {
    it: 'finds a record by a key without spaces at its end',
    plant: ({ read }) => ({
      read: (wanted) =>
        read(
          wanted.map((one) => ({
            ...one,
            with: one.with.map((begin) => begin.map((value) => (value === 'a ' ? 'a' : value))),
          })),
        ),
    }),
    caughtBy: KEYS,
    names: /different texts are different values: "a "/,
  },
  {
    it: 'compares texts of an index in their composed form',
    plant: ({ read }) => ({
      async read(wanted) {
        const composed = (value: Value): Value => String(value).normalize('NFC')
        return read(
          wanted.map((one) =>
            one.index ? { ...one, with: one.with.flatMap((begin) => [begin, begin.map(composed)]) } : one,
          ),
        )
      },
    }),
    caughtBy: 'indexed texts that differ in case, spaces or Unicode form are different',
    names: /different texts are different values/,
  },
  {
    it: 'joins the values of a key with a colon',
    plant: (records) => ({
      async read(wanted) {
        const { members = [] } = await records.read([{ kind: 'members', with: [[]] }])
        const joined = wanted[0]?.with[0]?.join(':')
        return { members: members.filter((one) => keyOf('members', one).join(':') === joined).slice(0, 1) }
      },
    }),
    caughtBy: 'keys whose values join to the same text are of different records',
    names: /different texts are different values/,
  },
  {
    it: 'cuts long keys',
    plant: committing((row, _, kind) => (kind === 'counters' ? { ...row, name: String(row.name).slice(0, 519) } : row)),
    caughtBy: 'keys of the maximum length are kept whole',
    names: /keys of the maximum length are kept whole/,
  },
  {
    it: 'trims texts',
    plant: valuing((value) => (typeof value === 'string' ? value.trim() : value)),
    caughtBy: TEXTS,
    names: EXACT,
  },
  {
    it: 'cuts texts at 65,535 characters',
    plant: valuing((value) => (typeof value === 'string' ? value.slice(0, 65_535) : value)),
    caughtBy: TEXTS,
    names: EXACT,
  },
  {
    it: 'reads an empty text as absent',
    plant: valuing((value) => (value === '' ? null : value)),
    caughtBy: 'absent values are returned as null',
    names: EXACT,
  },
  {
    it: 'leaves absent values out',
    plant: showing((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))),
    caughtBy: 'absent values are returned as null',
    names: EXACT,
  },
  {
    it: 'reads numbers as texts',
    plant: valuing((value) => (typeof value === 'number' ? `${value}` : value)),
    caughtBy: 'integers are returned exactly, up to 2^53 - 1',
    names: EXACT,
  },
  {
    it: 'rounds numbers',
    plant: valuing((value) => (typeof value === 'number' ? Number(value.toPrecision(15)) : value)),
    caughtBy: 'integers are returned exactly, up to 2^53 - 1',
    names: EXACT,
  },
  {
    it: 'loses the member __proto__ of JSON',
    plant: valuing((value) =>
      typeof value === 'object' && value
        ? JSON.parse(JSON.stringify(value, (key, one) => (key === '__proto__' ? undefined : one)))
        : value,
    ),
    caughtBy: 'JSON is returned exactly',
    names: EXACT,
  },
  {
    it: 'reads an empty list as an object',
    plant: valuing((value) => (Array.isArray(value) && value.length === 0 ? {} : value)),
    caughtBy: 'JSON is returned exactly',
    names: EXACT,
  },
]

const ORDER = 'a scan has the order of its index, both ways'
const SORTED = /a scan is in the order of the columns after the prefix, and then of the key/
const RANGE = /a scan has all records in its range, and no others/
const CONTINUED = /a scan that is continued from `last` has each record once, in order/
const BY_ANOTHER = 'a scan by records of another kind finds those that they name'
const NAMED = /a scan by records of another kind finds the record that each of them names/
const BOUNDS = 'a scan begins at `from` and ends before `until`, both ways'
const MATCHES = /a scan finds exactly the records that match all its filters/

const SCAN_BUGS: readonly Bug[] = [
  {
    it: 'sorts numbers as texts',
    plant: finding(({ found, ...rest }) => ({
      ...rest,
      found: found.toSorted((one, other) => (`${one.at[0]}` < `${other.at[0]}` ? -1 : 1)),
    })),
    caughtBy: ORDER,
    names: SORTED,
  },
  {
    it: 'swaps two records',
    plant: finding(({ found, ...rest }) => ({
      ...rest,
      found: [...found.slice(1, 2), ...found.slice(0, 1), ...found.slice(2)],
    })),
    caughtBy: ORDER,
    names: SORTED,
  },
  {
    it: 'ignores the direction',
    plant: scanning((scan) => without(scan, 'isReverse')),
    caughtBy: ORDER,
    names: SORTED,
  },
  {
    it: 'sorts in reverse by the first column alone',
    plant: (records) => ({
      async scan(scan) {
        if (!scan.isReverse) return records.scan(scan)
        const { found } = await records.scan({ ...scan, isReverse: false })
        return { found: found.toSorted((one, other) => Number(other.at[0]) - Number(one.at[0])) }
      },
    }),
    caughtBy: ORDER,
    names: /from the last one in reverse/,
  },
  {
    it: 'sorts digits by their size, and not by their position',
    plant: finding(({ found, ...rest }) => ({
      ...rest,
      found: found
        .toSorted((one, other) =>
          [...String(one.at[0])].toSorted().join('') < [...String(other.at[0])].toSorted().join('') ? -1 : 1,
        )
        .toReversed(),
    })),
    caughtBy: 'texts of one length that begin alike sort by the 16 digits at their end',
    names: /texts sort by the digits at their end/,
  },
  {
    it: 'sorts large numbers by 32 bits',
    plant: finding(({ found, ...rest }) => ({
      ...rest,
      found: found.toSorted((one, other) => (Number(one.at[0]) | 0) - (Number(other.at[0]) | 0)),
    })),
    caughtBy: 'large numbers sort by size',
    names: /numbers sort by size/,
  },
  {
    it: 'lists one prefix after the other',
    plant: ({ scan }) => ({
      async scan(one) {
        const parts = await Promise.all(one.with.map((begin) => scan({ ...one, with: [begin] })))
        return { found: parts.flatMap(({ found }) => found).slice(0, one.limit) }
      },
    }),
    caughtBy: 'a scan merges its prefixes in the order of the columns after them',
    names: /the prefixes of a scan are merged/,
  },
  {
    it: 'has the limit for each prefix',
    plant: ({ scan }) => ({
      async scan(one) {
        const { found } = await scan({ ...one, limit: one.limit * one.with.length })
        return { found }
      },
    }),
    caughtBy: 'a scan merges its prefixes in the order of the columns after them',
    names: /the prefixes of a scan are merged/,
  },
  { it: 'ignores `from`', plant: scanning((scan) => without(scan, 'from')), caughtBy: BOUNDS, names: RANGE },
  { it: 'ignores `until`', plant: scanning((scan) => without(scan, 'until')), caughtBy: BOUNDS, names: RANGE },
  {
    it: 'uses the first value of `from`',
    plant: scanning(({ from, ...scan }) => ({ ...scan, ...(from && { from: from.slice(0, 1) }) })),
    caughtBy: BOUNDS,
    names: RANGE,
  },
  {
    it: 'begins after `from`',
    plant: scanning(({ from, ...scan }) => ({ ...scan, ...(from && { after: from }) })),
    caughtBy: BOUNDS,
    names: RANGE,
  },
  {
    it: 'uses `from` as the start in both directions',
    plant: scanning(({ from, until, ...scan }) =>
      scan.isReverse
        ? { ...scan, ...(until && { from: until }), ...(from && { until: from }) }
        : { ...scan, ...(from && { from }), ...(until && { until }) },
    ),
    caughtBy: BOUNDS,
    names: /in reverse/,
  },
  {
    it: 'ignores `after`',
    plant: scanning((scan) => without(scan, 'after')),
    caughtBy: 'a scan begins after a position, in its direction',
    names: /a scan leaves out what is not after \[1\]/,
  },
  {
    it: 'compares a short `after` as the first of its records',
    plant: scanning(({ after, ...scan }) =>
      after && !scan.isReverse && after.length < 3 ? { ...scan, from: after } : { ...scan, ...(after && { after }) },
    ),
    caughtBy: 'a scan begins after a position, in its direction',
    names: /a scan leaves out what is not after \[1\]/,
  },
  {
    it: 'continues after the columns of the index, without the key',
    plant: scanning(({ after, ...scan }) => ({ ...scan, ...(after && { after: after.slice(0, 2) }) })),
    caughtBy: 'a scan continues after the position of any record',
    names: CONTINUED,
  },
  {
    it: 'has no position of its records but the key',
    plant: finding(({ found, ...rest }) => ({
      ...rest,
      found: found.map(({ record, at }) => ({ record, at: at.slice(2) })),
    })),
    caughtBy: 'a scan continues after the position of any record',
    names: /a position begins with the columns after the prefix/,
  },
  {
    it: 'leaves out the first record that another one names',
    plant: finding((scanned, scan) => (scan.by ? { ...scanned, found: scanned.found.slice(1) } : scanned)),
    caughtBy: BY_ANOTHER,
    names: NAMED,
  },
  {
    it: 'gives the records of an index of another kind',
    plant: ({ scan }) => ({
      scan: async (one) => (one.by ? await scan({ ...one, kind: one.by } as never) : await scan(one)),
    }),
    caughtBy: BY_ANOTHER,
    names: NAMED,
  },
  {
    it: 'does not filter records that others name',
    plant: scanning((scan) => (scan.by ? without(scan, 'where') : scan)),
    caughtBy: BY_ANOTHER,
    names: /a filter is on the record that is found/,
  },
  {
    it: 'says that every scan has looked at all records',
    plant: finding((scanned) => without(scanned, 'last')),
    caughtBy: IN_PARTS,
    names: CONTINUED,
  },
  {
    it: 'has the position of the next record as its last one',
    plant: finding(async (scanned, scan, records) => {
      if (!scanned.last) return scanned
      const { found } = await records.scan({ ...without(scan, 'most', 'where'), after: scanned.last, limit: 1 })
      return { ...scanned, ...(found[0] && { last: found[0].at }) }
    }),
    caughtBy: IN_PARTS,
    names: CONTINUED,
  },
  {
    it: 'has the last record twice, at the end of a part and at the start of the next',
    plant: finding((scanned) => ({
      ...scanned,
      ...(scanned.found.length > 1 && scanned.last && { last: scanned.found.at(-2)?.at ?? [] }),
    })),
    caughtBy: IN_PARTS,
    names: CONTINUED,
  },
  {
    it: 'always has a position after which to go on',
    plant: finding((scanned) => ({ ...scanned, last: scanned.found.at(-1)?.at ?? [99] })),
    caughtBy: IN_PARTS,
    names: /a scan ends: it has looked at all records and has no `last`/,
  },
  {
    it: 'finds more than its limit',
    plant: scanning((scan) => ({ ...scan, limit: scan.limit + 1 })),
    caughtBy: IN_PARTS,
    names: /a scan finds at most its limit of 1, got 2/,
  },
  {
    it: 'counts records for a position',
    plant: ({ scan }) => ({
      async scan(one) {
        const { after, ...rest } = one
        const skipped = Number(after?.[0] ?? 0)
        const { found } = await scan({ ...rest, limit: 1_000 })
        const part = found.slice(skipped, skipped + one.limit)
        return { found: part, ...(skipped + part.length < found.length && { last: [skipped + part.length] }) }
      },
    }),
    caughtBy: 'records that are committed between two parts of a scan do not change its other records',
    names: CONTINUED,
  },
  {
    it: 'ignores `most`',
    plant: scanning((scan) => without(scan, 'most')),
    caughtBy: 'a scan stops after `most` records, whether they match or not',
    names: /a scan looks at no more records than `most`/,
  },
  {
    it: 'continues after the last record that matched',
    plant: finding((scanned) => ({
      found: scanned.found,
      ...(scanned.last && scanned.found.length > 0 && { last: scanned.found.at(-1)?.at ?? [] }),
    })),
    caughtBy: 'a scan stops after `most` records, whether they match or not',
    names: /has the position at which it stopped/,
  },
  {
    it: 'scans what it scanned before',
    plant: ({ scan }) => {
      const known = new Map<string, ReturnType<typeof scan>>()
      return {
        scan(one) {
          const key = JSON.stringify(one)
          const found = known.get(key) ?? scan(one as Scan)
          known.set(key, found)
          return found as never
        },
      }
    },
    caughtBy: FOUND,
    names: LOST,
  },
  {
    it: 'scans the records of all tenants',
    plant: scanning((scan) => ({ ...scan, with: scan.with.map(() => []) })),
    caughtBy: ORDER,
    names: SORTED,
  },
]

const FILTER_BUGS: readonly Bug[] = [
  {
    it: 'ignores filters',
    plant: filtering(() => []),
    caughtBy: 'a filter of values compares them exactly',
    names: MATCHES,
  },
  {
    it: 'uses the first filter',
    plant: scanning(({ where = [], ...scan }) => ({ ...scan, where: where.slice(0, 1) })),
    caughtBy: 'a filter of numbers and flags compares them',
    names: MATCHES,
  },
  {
    it: 'compares numbers as texts',
    plant: finding(({ found, ...rest }, { where = [] }) => {
      const isBelow = (row: Row): boolean =>
        where.every((one) => !('below' in one) || `${row[one.column]}` < `${one.below}`)
      return { ...rest, found: found.filter(({ record }) => isBelow(record)) }
    }),
    caughtBy: 'a filter of numbers and flags compares them',
    names: /numbers compare by size/,
  },
  {
    it: 'ignores the case of parts',
    plant: ({ scan }) => ({
      async scan(one) {
        const [filter] = one.where ?? []
        if (!filter || !('contains' in filter)) return scan(one)
        const { found } = await scan({ ...one, where: [] })
        const part = filter.contains.toLowerCase()
        return {
          found: found.filter(({ record }) =>
            String((record as Row)[filter.column])
              .toLowerCase()
              .includes(part),
          ),
        }
      },
    }),
    caughtBy: 'a filter of parts compares them exactly',
    names: MATCHES,
  },
  {
    it: 'reads signs in a part as a pattern',
    plant: filtering((filter) => ('contains' in filter && /^[%_*?]$/.test(filter.contains) ? [] : [filter])),
    caughtBy: 'a filter of parts compares them exactly',
    names: MATCHES,
  },
  {
    it: 'ignores `lacks`',
    plant: filtering((filter) => ('lacks' in filter ? [] : [filter])),
    caughtBy: 'a filter of parts compares them exactly',
    names: MATCHES,
  },
  {
    it: 'matches without the record of another kind',
    plant: filtering((filter) => (filter.of && filter.column === undefined ? [] : [filter])),
    caughtBy: 'a filter may be on the record of another kind with the same key',
    names: /without it the scanned one does not match/,
  },
  {
    it: 'finds the record of another kind alone, without its column',
    plant: filtering((filter) => [filter.of ? { of: filter.of, ...(filter.key && { key: filter.key }) } : filter]),
    caughtBy: 'a filter may be on the record of another kind with the same key',
    names: /a filter of another kind is on the record with the whole key/,
  },
  {
    it: 'ignores the given values of a key',
    plant: filtering((filter) => [without(filter, 'key') as Filter]),
    caughtBy: 'a filter on another kind may give values of its key',
    names: /a filter of another kind finds its record by the values it gives/,
  },
  {
    it: 'limits the records before it filters them, and goes on after as many matches',
    plant: ({ scan }) => ({
      async scan(one) {
        const { found, last } = await scan({ ...one, where: [], most: one.limit })
        const kept = new Set((await scan({ ...one, limit: 1_000, most: 1_000 })).found.map(({ record }) => record))
        const matching = found.filter(({ record }) => kept.has(record))
        return { found: matching, ...(last && matching.length === one.limit && { last }) }
      },
    }),
    caughtBy: 'a scan with filters in parts has each match once',
    names: MATCHES,
  },
]

const TIME_BUGS: readonly Bug[] = [
  {
    it: 'is five minutes ahead',
    plant: ({ now }) => ({
      async now() {
        const { earliest, latest } = await now()
        return { earliest: earliest + 300_000, latest: latest + 300_000 }
      },
    }),
    caughtBy: 'now is the time of the records, the same for every handle',
    names: /now is in epoch milliseconds by one clock for all handles/,
  },
  {
    it: 'swaps the bounds of the time',
    plant: ({ now }) => ({
      async now() {
        const { earliest, latest } = await now()
        return { earliest: latest + 1, latest: earliest - 1 }
      },
    }),
    caughtBy: 'now is the time of the records, the same for every handle',
    names: /the bounds of the time are in order/,
  },
  {
    it: 'goes back',
    plant({ now }) {
      let calls = 0
      return {
        async now() {
          const { earliest, latest } = await now()
          return { earliest: earliest - ++calls, latest: latest - calls }
        },
      }
    },
    caughtBy: 'now does not go back',
    names: /now does not go back, got/,
  },
  {
    it: 'stands still',
    plant({ now }) {
      const first = now()
      return { now: () => first }
    },
    caughtBy: 'now does not go back',
    names: /now goes on with the time of the records/,
  },
]

/** Bugs of records that are opened again. */
const REOPENED_BUGS: readonly Bug[] = [
  {
    it: 'loses its indexes',
    plant: ({ read }) => ({ read: async (wanted) => (wanted[0]?.index ? {} : read(wanted)) }),
    caughtBy: 'committed records survive reopening',
    names: LOST,
  },
  {
    it: 'compares no versions',
    plant: (records) => ({ commit: async (changes) => records.commit(await withPresentVersions(records, changes)) }),
    caughtBy: 'committed records survive reopening',
    names: /versions survive reopening/,
  },
  {
    it: 'has records that were removed',
    plant: ({ read }) => {
      const removed = { kind: 'k', tenant: 't', key: '3' }
      return {
        async read(wanted) {
          const found = await read(wanted)
          return { ...found, plugin_records: [...(found.plugin_records ?? []), removed as never] }
        },
      }
    },
    caughtBy: 'committed records survive reopening',
    names: LOST,
  },
]

/** Records that answer like a database, so that other calls run in between. */
function slow(records: Records): Records {
  return {
    async now() {
      await roundTrip()
      return records.now()
    },
    async read(wanted) {
      await roundTrip()
      return records.read(wanted)
    },
    async scan(scan) {
      await roundTrip()
      return records.scan(scan)
    },
    async commit(changes) {
      await roundTrip()
      return records.commit(changes)
    },
  }
}

interface Plants {
  readonly opened?: Bug['plant']
  readonly reopened?: Bug['plant']
}

/** All cases of the contract by name, on records with a bug. */
function casesOf({ opened = () => ({}), reopened = opened }: Plants = {}): ReadonlyMap<string, () => Promise<void>> {
  const cases = new Map<string, () => Promise<void>>()
  recordsContract({
    test: (name, body) => cases.set(name, body),
    create() {
      const { now, advance } = fakeClock()
      const kept = slow(memoryRecords({ now }))
      const open = (plant: Bug['plant']): Records => ({ ...kept, ...plant(kept) })
      return { records: open(opened), other: open(opened), reopen: () => open(reopened), now, advance }
    },
    capabilities: { durable: true },
  })
  return cases
}

/** The message of the guarantee that a case finds broken. Errors of the records are thrown. */
async function brokenGuarantee(cases: ReadonlyMap<string, () => Promise<void>>, name: string): Promise<string> {
  const body = cases.get(name)
  if (!body) throw new Error(`there is no case of the name: ${name}`)
  return body().then(
    () => 'none',
    (error: unknown) => {
      if (!(error instanceof AssertionError)) throw error
      return error.message
    },
  )
}

describe('recordsContract on correct records', () => {
  it.each([...casesOf()])('Correct records pass: %s', (_name, body) => body())
})

describe('recordsContract', () => {
  it.each([...COMMIT_BUGS, ...READ_BUGS, ...VALUE_BUGS, ...SCAN_BUGS, ...FILTER_BUGS, ...TIME_BUGS])(
    'recordsContract names the broken guarantee of a backend that $it',
    async ({ plant, caughtBy, names }) => {
      const message = await brokenGuarantee(casesOf({ opened: plant }), caughtBy)
      expect(message).toMatch(/^Broken guarantee: /)
      expect(message).toMatch(names)
    },
  )

  it.each(REOPENED_BUGS)(
    'recordsContract names the broken guarantee of a backend that, once it is opened again, $it',
    async ({ plant, caughtBy, names }) => {
      const message = await brokenGuarantee(casesOf({ reopened: plant }), caughtBy)
      expect(message).toMatch(/^Broken guarantee: /)
      expect(message).toMatch(names)
    },
  )

  it('recordsContract asks for `reopen` of records that are declared durable', async () => {
    const cases = new Map<string, () => Promise<void>>()
    recordsContract({
      test: (name, body) => cases.set(name, body),
      create() {
        const { now, advance } = fakeClock()
        return { records: memoryRecords({ now }), now, advance }
      },
      capabilities: { durable: true },
    })
    expect(await brokenGuarantee(cases, 'committed records survive reopening')).toMatch(/`create` returned no `reopen`/)
  })
})
