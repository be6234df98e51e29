import type {
  NewPluginRecord,
  PluginRecord,
  RecordDraft,
  RecordName,
  RecordStore,
} from '../../../ports/record-store.ts'
import { Changes, firstVersion, isOnesFault, retryOnConflict } from '../changes.ts'
import { groupCommit } from '../group-commit.ts'
import type { Records } from '../records.ts'
import { nameOf, PLUGIN_RECORDS, type RecordRow, recordOf, rowOf } from './record-rows.ts'

/** Records by `nameOf`. `undefined`: removed. */
type Rows = Map<string, RecordRow | undefined>

interface Call {
  /** Names by `nameOf`. */
  readonly names: ReadonlyMap<string, RecordName>
  readonly change: (draft: RecordDraft) => unknown
}

/** Returns the result of a call, or throws the error of its `change`. */
type Ended = () => unknown

/** Approximate size of a record, before it is known. */
const RECORD_BYTES = 600

/** Changes of records. Concurrent calls share a read and a commit. */
export function recordChanger(records: Records): RecordStore['changeRecords'] {
  function changeAll(calls: readonly Call[]): Promise<readonly Ended[]> {
    return retryOnConflict(async () => {
      const stored = await readNamed(new Map(calls.flatMap(({ names }) => [...names])), records)
      const rows: Rows = new Map(stored)
      const ended = calls.map((call) => tryCall(call, rows))
      await commitRows(stored, rows, records)
      return ended
    })
  }

  const change = groupCommit<Call, Ended>({
    run: changeAll,
    keysOf: ({ names }) => [...names.keys()],
    isOnesFault: isOnesFault(records),
    sizeOf: ({ names }) => names.size * RECORD_BYTES,
    timeoutMs: records.timeoutMs,
  })

  return async <Result>(given: readonly RecordName[], decide: (draft: RecordDraft) => Result) => {
    const names = new Map(given.map((name) => [nameOf(name), name]))
    return (await change({ names, change: decide }))() as Result
  }
}

async function readNamed(names: Call['names'], records: Records): Promise<ReadonlyMap<string, RecordRow>> {
  if (names.size === 0) return new Map()
  const keys = [...names.values()].map(({ kind, tenant, key }) => [kind, tenant, key])
  const { plugin_records: found = [] } = await records.read([{ kind: PLUGIN_RECORDS, with: keys }])
  return new Map(found.map((row) => [nameOf(row), row]))
}

/** Calls `change`. Its records are changed unless it throws. */
function tryCall({ names, change }: Call, rows: Rows): Ended {
  const changed: Rows = new Map()

  function placeOf(name: RecordName): string {
    const place = nameOf(name)
    if (!names.has(place)) throw new TypeError('changeRecords: a record is read or stored that `names` lacks')
    return place
  }

  const draft: RecordDraft = {
    get(name): PluginRecord | undefined {
      const place = placeOf(name)
      const row = changed.has(place) ? changed.get(place) : rows.get(place)
      return row && recordOf(row)
    },
    put(record: NewPluginRecord<object>): void {
      changed.set(placeOf(record), rowOf(record, firstVersion()))
    },
    remove(name): void {
      changed.set(placeOf(name), undefined)
    },
  }
  try {
    const result = change(draft)
    for (const [place, row] of changed) rows.set(place, row)
    return () => result
  } catch (cause) {
    return () => {
      throw cause
    }
  }
}

/** Writes the rows that differ from the stored ones, with the versions of these. */
async function commitRows(stored: ReadonlyMap<string, RecordRow>, rows: Rows, records: Records): Promise<void> {
  const changes = new Changes()
  for (const [place, row] of rows) {
    const before = stored.get(place)
    if (row === before) continue
    if (row && before) changes.update(PLUGIN_RECORDS, { ...row, version: before.version })
    else if (row) changes.insert(PLUGIN_RECORDS, row)
    else if (before) changes.remove(PLUGIN_RECORDS, before)
  }
  await changes.commit(records)
}
