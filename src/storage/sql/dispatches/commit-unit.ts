import { SallyportError } from '../../../errors.ts'
import type { DispatchAnswer } from '../../../model/dispatch.ts'
import type { Acceptance, AcceptOutcome, DispatchChange } from '../../../ports/dispatch-store.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { cancelDispatch } from '../../rules/dispatch-changes.ts'
import { readDispatch } from '../../rules/dispatch-rows.ts'
import { type Changes, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { RECORDS_TABLE } from '../plugin-records/record-texts.ts'
import type { ChangeKind, PluginRecordRow } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import { admit, keyReader, loadForAdmission, readRepeats } from './admission.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadDispatches } from './load-dispatches.ts'
import { readRecords } from './read-records.ts'

/** Changes that one commit stores together, or none of them. At most 500 of each kind. */
export interface CommitUnit {
  /** Each finds what those before it have stored. */
  readonly accept?: readonly Acceptance[]
  /** Cancelled as by `cancel`, before anything is accepted. */
  readonly cancel?: readonly { readonly tenant: string; readonly dispatchId: string }[]
  /** Changes of plugin records, with the versions that were read. */
  readonly records?: Changes
}

export type CommitOutcome =
  | {
      readonly outcome: 'committed'
      readonly answers: readonly DispatchAnswer[]
      /** `undefined`: the tenant has no such dispatch. */
      readonly cancelled: readonly (DispatchChange | undefined)[]
    }
  /** Some acceptances stored nothing, and so did the others. */
  | { readonly outcome: 'refused'; readonly refused: readonly RefusedAcceptance[] }
  /** These plugin records have changed since they were read, or exist although they are new. Nothing was stored. */
  | { readonly outcome: 'conflict'; readonly records: readonly RecordName[] }

/** An acceptance that stored nothing, and the cause. `at`: its place in the unit. */
export type RefusedAcceptance = { readonly at: number } & Exclude<AcceptOutcome, { readonly outcome: 'accepted' }>

export type RecordName = Pick<PluginRecordRow, 'kind' | 'tenant' | 'key'>

const MAX_IN_UNIT = 500

/** Stores acceptances, cancellations and changes of plugin records in one transaction. */
export function committer(db: Database): (unit: CommitUnit) => Promise<CommitOutcome> {
  const readKeys = keyReader(db)

  async function commitOnce({ accept, cancel, records }: Lists): Promise<CommitOutcome> {
    await db.sync()
    const stale = await findStale(records, db)
    if (stale.length > 0) return { outcome: 'conflict', records: stale }
    const repeats = await readRepeats(accept, true, readKeys, db)
    const now = db.now()
    const work = new DispatchUnitOfWork(now, db.uncertaintyMs())
    await loadDispatches([...new Set(cancel.map(({ dispatchId }) => dispatchId))], db, work)
    const cancelled = cancel.map(({ tenant, dispatchId }): DispatchChange | undefined => {
      const row = work.dispatch(dispatchId)
      if (row?.head.tenant !== tenant) return undefined
      return { changed: cancelDispatch(row, work.moves), dispatch: readDispatch(row) }
    })
    await loadForAdmission(accept, db, work)
    const changes = newChanges()
    const outcomes = admit(accept, repeats, now, work, changes)
    const refused = outcomes.flatMap((one, at) => (one.outcome === 'accepted' ? [] : { at, ...one }))
    if (refused.length > 0) return { outcome: 'refused', refused }
    for (const { kind, row } of records) changes[kind](RECORDS_TABLE, row)
    await work.write(db, changes)
    return { outcome: 'committed', answers: outcomes.flatMap((one) => ('answer' in one ? one.answer : [])), cancelled }
  }

  return async ({ accept = [], cancel = [], records }) => {
    const lists = { accept, cancel, records: recordChanges(records) }
    for (const [name, { length }] of Object.entries(lists)) {
      if (length <= MAX_IN_UNIT) continue
      throw new SallyportError(
        'option_invalid',
        `${name} has ${length} entries; one commit takes at most ${MAX_IN_UNIT}`,
      )
    }
    return retryOnConflict(() => commitOnce(lists))
  }
}

interface Lists extends Required<Pick<CommitUnit, 'accept' | 'cancel'>> {
  readonly records: readonly RowChange[]
}

interface RowChange {
  readonly kind: ChangeKind
  readonly row: PluginRecordRow
}

function recordChanges(records: Changes | undefined): readonly RowChange[] {
  const changes = records?.list() ?? []
  return changes.flatMap(({ kind, rows }) => rows.map((row) => ({ kind, row: row as unknown as PluginRecordRow })))
}

/** Records with another version than the change names, and new ones that exist. */
async function findStale(changes: readonly RowChange[], db: Database): Promise<readonly RecordName[]> {
  const { kind, tenant, key } = TABLES[RECORDS_TABLE].columns
  const names = changes.map(({ row }): RecordName => ({ kind: row.kind, tenant: row.tenant, key: row.key }))
  const join = { alias: 'r', on: 'r.kind = x.kind and r.tenant = x.tenant and r.key = x.key' }
  const found = await readRecords(RECORDS_TABLE, { kind, tenant, key }, names, join, db)
  const versions = new Map(found.map((row) => [nameOf(row), row.version]))
  const isStale = ({ kind, row }: RowChange): boolean =>
    versions.get(nameOf(row)) !== (kind === 'insert' ? undefined : row.version)
  return names.filter((_, at) => changes[at] && isStale(changes[at]))
}

function nameOf({ kind, tenant, key }: RecordName): string {
  return compoundKey(kind, tenant, key)
}
