import { SallyportError } from '../../errors.ts'
import type { DispatchAnswer } from '../../model/dispatch.ts'
import type { Acceptance, AcceptOutcome, DispatchChange } from '../../ports/dispatch-store.ts'
import { compoundKey } from '../rules/compound-key.ts'
import { cancelDispatch } from '../rules/dispatch-changes.ts'
import { readDispatch } from '../rules/dispatch-rows.ts'
import { Changes, retryOnConflict } from './changes.ts'
import { admit, loadForAdmission, readRepeats } from './dispatches/admission.ts'
import { loadDispatches } from './dispatches/load-dispatches.ts'
import { DispatchUnitOfWork } from './dispatches/unit-of-work.ts'
import type { RecordOf } from './kinds.ts'
import type { Change, Records } from './records.ts'

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

type PluginRecord = RecordOf<'plugin_records'>

export type RecordName = Pick<PluginRecord, 'kind' | 'tenant' | 'key'>

const MAX_IN_UNIT = 500

/** Stores acceptances, cancellations and changes of plugin records in one transaction. */
export function committer(records: Records): (unit: CommitUnit) => Promise<CommitOutcome> {
  async function commitOnce({ accept, cancel, changed }: Lists): Promise<CommitOutcome> {
    const { earliest: now, latest } = await records.now()
    const stale = await findStale(changed, records)
    if (stale.length > 0) return { outcome: 'conflict', records: stale }
    const repeats = await readRepeats(accept, true, now, records)
    const work = new DispatchUnitOfWork(now, latest - now)
    await loadDispatches([...new Set(cancel.map(({ dispatchId }) => dispatchId))], records, work)
    const cancelled = cancel.map(({ tenant, dispatchId }): DispatchChange | undefined => {
      const row = work.dispatch(dispatchId)
      if (row?.head.tenant !== tenant) return undefined
      return { changed: cancelDispatch(row, work.moves), dispatch: readDispatch(row) }
    })
    await loadForAdmission(accept, records, work)
    const changes = new Changes()
    const outcomes = admit(accept, repeats, now, work, changes)
    const refused = outcomes.flatMap((one, at) => (one.outcome === 'accepted' ? [] : { at, ...one }))
    if (refused.length > 0) return { outcome: 'refused', refused }
    for (const { do: what, record } of changed) changes[what]('plugin_records', record)
    await work.write(records, changes)
    return { outcome: 'committed', answers: outcomes.flatMap((one) => ('answer' in one ? one.answer : [])), cancelled }
  }

  return async ({ accept = [], cancel = [], records: changes }) => {
    const changed = changes?.of('plugin_records') ?? []
    for (const [name, { length }] of Object.entries({ accept, cancel, records: changed })) {
      if (length <= MAX_IN_UNIT) continue
      throw new SallyportError(
        'option_invalid',
        `${name} has ${length} entries; one commit takes at most ${MAX_IN_UNIT}`,
      )
    }
    return retryOnConflict(() => commitOnce({ accept, cancel, changed }))
  }
}

interface Lists extends Required<Pick<CommitUnit, 'accept' | 'cancel'>> {
  readonly changed: readonly RecordChange[]
}

interface RecordChange {
  readonly do: Change['do']
  readonly record: PluginRecord
}

/** Records with another version than the change names, and new ones that exist. */
async function findStale(changes: readonly RecordChange[], records: Records): Promise<readonly RecordName[]> {
  const names = changes.map(({ record: { kind, tenant, key } }): RecordName => ({ kind, tenant, key }))
  const { plugin_records: found = [] } = await records.read([
    { kind: 'plugin_records', with: names.map(({ kind, tenant, key }) => [kind, tenant, key]), columns: ['version'] },
  ])
  const versions = new Map(found.map((record) => [nameOf(record), record.version]))
  const isStale = ({ do: what, record }: RecordChange): boolean =>
    versions.get(nameOf(record)) !== (what === 'insert' ? undefined : record.version)
  return names.filter((_, at) => changes[at] && isStale(changes[at]))
}

function nameOf({ kind, tenant, key }: RecordName): string {
  return compoundKey(kind, tenant, key)
}
