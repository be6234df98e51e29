import { SallyportError } from '../../errors.ts'
import type { DispatchChange } from '../../ports/dispatch-store.ts'
import type { CommitOutcome, CommitUnit, RecordChange, RecordName } from '../../ports/record-store.ts'
import { cancelDispatch } from '../rules/dispatch-changes.ts'
import { readDispatch } from '../rules/dispatch-rows.ts'
import { Changes, Conflict, firstVersion, isOnesFault, retryOnConflict } from './changes.ts'
import { admit, loadForAdmission, namesOf, readRepeats } from './dispatches/admission.ts'
import { loadDispatches } from './dispatches/load-dispatches.ts'
import { DispatchUnitOfWork } from './dispatches/unit-of-work.ts'
import { groupCommit, jsonSize } from './group-commit.ts'
import { nameOf, PLUGIN_RECORDS, rowOf } from './plugin-records/record-rows.ts'
import type { Records } from './records.ts'

const MAX_IN_UNIT = 500

/**
 * Stores acceptances, cancellations and changes of plugin records in one transaction. Concurrent calls share one: it stores all of their units, or each
 * is tried alone. Nothing is read that only tells what a conflict was about; after a conflict or a refusal, it is read too.
 */
export function committer(records: Records): (unit: CommitUnit) => Promise<CommitOutcome> {
  async function commitOnce({ accept, cancel, changes: given }: Lists, readsAll: boolean): Promise<CommitOutcome> {
    const { earliest: now, latest } = await records.now()
    const stale = readsAll ? await findStale(given, records) : []
    if (stale.length > 0) return { outcome: 'conflict', records: stale }
    const repeats = await readRepeats(accept, readsAll, now, records)
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
    for (const change of given) addChange(changes, change)
    await work.write(records, changes)
    return { outcome: 'committed', answers: outcomes.flatMap((one) => ('answer' in one ? one.answer : [])), cancelled }
  }

  function commitAlone(lists: Lists): Promise<CommitOutcome> {
    let tries = 0
    return retryOnConflict(async () => {
      tries += 1
      const made = await commitOnce(lists, tries > 1)
      // Some refusals are found only by what was not read.
      return made.outcome === 'refused' && tries === 1 ? commitOnce(lists, true) : made
    })
  }

  /** @throws {Conflict} One of the units is not stored, and so are all. */
  async function commitTogether(units: readonly Lists[]): Promise<readonly CommitOutcome[]> {
    const all = {
      accept: units.flatMap(({ accept }) => accept),
      cancel: units.flatMap(({ cancel }) => cancel),
      changes: units.flatMap(({ changes }) => changes),
    }
    if (hasRepeats(all)) throw new Conflict('two units are about one record')
    const made = await commitOnce(all, false)
    if (made.outcome !== 'committed') throw new Conflict('a unit was refused')
    const [answers, cancelled] = [[...made.answers], [...made.cancelled]]
    return units.map(({ accept, cancel }) => ({
      outcome: 'committed',
      answers: answers.splice(0, accept.length),
      cancelled: cancelled.splice(0, cancel.length),
    }))
  }

  const batched = groupCommit<Lists, CommitOutcome>({
    run: async (units) => {
      const [only] = units
      return only && units.length === 1 ? [await commitAlone(only)] : commitTogether(units)
    },
    isOnesFault: isOnesFault(records),
    keysOf: ({ accept, cancel, changes }) => [
      ...namesOf(accept).map(({ tenant, name }) => `${tenant} ${name}`),
      ...cancel.map(({ dispatchId }) => dispatchId),
      ...changes.map(({ record }) => nameOf(record)),
    ],
    onceOf: ({ changes: [first] }) => first && nameOf(first.record),
    sizeOf: ({ accept, changes }) => jsonSize([accept.map(({ dispatch }) => dispatch), changes]),
    timeoutMs: records.timeoutMs,
  })

  return async ({ accept = [], cancel = [], changes = [] }) => {
    const lists = { accept, cancel, changes }
    for (const [name, { length }] of Object.entries(lists))
      if (length > MAX_IN_UNIT) throw invalid(`${name} has ${length} entries; one commit takes at most ${MAX_IN_UNIT}`)
    if (hasRepeats(lists)) throw invalid('changes has two entries for one record')
    return batched(lists)
  }
}

function hasRepeats({ changes }: Pick<Lists, 'changes'>): boolean {
  return new Set(changes.map(({ record }) => nameOf(record))).size < changes.length
}

type Lists = { readonly [Name in keyof CommitUnit]-?: NonNullable<CommitUnit[Name]> }

function invalid(problem: string): SallyportError {
  return new SallyportError('option_invalid', problem)
}

function addChange(changes: Changes, change: RecordChange): void {
  switch (change.do) {
    case 'insert':
      changes.insert(PLUGIN_RECORDS, rowOf(change.record, firstVersion()))
      break
    case 'update':
      changes.update(PLUGIN_RECORDS, rowOf(change.record, change.version))
      break
    default: {
      const { kind, tenant, key } = change.record
      changes[change.do](PLUGIN_RECORDS, { kind, tenant, key, version: change.version })
    }
  }
}

/** Records with another version than the change names, and new ones that exist. */
async function findStale(changes: readonly RecordChange[], records: Records): Promise<readonly RecordName[]> {
  const names = changes.map(({ record: { kind, tenant, key } }): RecordName => ({ kind, tenant, key }))
  const { plugin_records: found = [] } = await records.read([
    { kind: PLUGIN_RECORDS, with: names.map(({ kind, tenant, key }) => [kind, tenant, key]), columns: ['version'] },
  ])
  const versions = new Map(found.map((record) => [nameOf(record), record.version]))
  const isStale = (change: RecordChange): boolean =>
    versions.get(nameOf(change.record)) !== (change.do === 'insert' ? undefined : change.version)
  return names.filter((_, at) => changes[at] && isStale(changes[at]))
}
