import { noTotals } from '../../../model/totals.ts'
import { failDamaged } from '../../rules/delivery-transitions.ts'
import { Changes, retryOnConflict } from '../changes.ts'
import { removeUnnamed } from '../dispatches/damaged-parts.ts'
import { loadDispatches, loadOwners } from '../dispatches/load-dispatches.ts'
import { DispatchUnitOfWork } from '../dispatches/unit-of-work.ts'
import { declarationOf, type Kind, type RecordOf } from '../kinds.ts'
import type { Records, Value } from '../records.ts'
import { removeRecords } from '../runs/run-removal.ts'
import { type UnreadableRecord, unreadableText } from './find-unreadable.ts'

/** Repairs a record. Resolves to `false` if it has changed since it was found, or a worker is sending its delivery. */
export function repair(record: UnreadableRecord, records: Records): Promise<boolean> {
  return retryOnConflict(async () => {
    const found = await readAgain(record, records)
    if (!found) return false
    const changes = new Changes()
    switch (record.table) {
      case 'states':
      case 'digests':
      case 'contents':
      case 'jobs':
        return repairDispatches(record, found as Partial<RecordOf<'contents'>>, records)
      case 'members': {
        const member = found as RecordOf<'members'>
        changes.remove('members', member)
        changes.insert('members', { ...member, event_data: {}, version: member.version + 1 })
        break
      }
      case 'sessions': {
        const session = { ...(found as RecordOf<'sessions'>), totals: null, failures: null }
        changes.update('sessions', { ...session, [record.column]: record.column === 'totals' ? noTotals() : [] })
        break
      }
      case 'runs':
        await removeRecords(changes, [found as RecordOf<'runs'>], records)
        break
      default:
        changes.remove(record.table as Kind, found)
    }
    await changes.commit(records)
    return true
  })
}

/** The record, if it is as it was found. */
async function readAgain(
  { table, column, key, text, version }: UnreadableRecord,
  records: Records,
): Promise<RecordOf<Kind> | undefined> {
  const kind = table as Kind
  const values = declarationOf(kind).key.map((name) => key[name] as Value)
  const [found]: readonly RecordOf<Kind>[] = (await records.read([{ kind, with: [values] }]))[kind] ?? []
  return found?.version === version && unreadableText(found, column) === text ? found : undefined
}

/** Writes what other records tell of the deliveries. What is lost ends as `failed`, `record_unreadable`. */
async function repairDispatches(
  { table, key }: UnreadableRecord,
  { dispatch_id: dispatchId }: Partial<RecordOf<'contents'>>,
  records: Records,
): Promise<boolean> {
  const { earliest: now, latest } = await records.now()
  const work = new DispatchUnitOfWork(now, latest - now)
  const deliveryId = String(key.delivery_id ?? '')
  const owners = deliveryId === '' ? [] : await loadOwners([deliveryId], records)
  const ids = [...new Set([...owners, ...(dispatchId === undefined ? [] : [dispatchId])])]
  await loadDispatches(ids, records, work)
  const rows = new Set(ids.flatMap((id) => work.dispatch(id)?.deliveries ?? []))
  const own = work.delivery(deliveryId)
  if ([...rows].some((row) => row.status === 'sending' && (row.isDamaged || row === own))) return false
  for (const row of rows) {
    if (!row.isDamaged && !(row === own && table === 'contents')) continue
    if (row.status === 'queued') failDamaged(row, now, work.moves)
    else if (row.status === 'held') work.moves.end(row, 'failed', 'record_unreadable')
    if (row === own && table === 'contents') row.content = undefined
  }
  const changes = new Changes()
  await removeUnnamed(work, changes, records)
  for (const id of ids) {
    const row = work.dispatch(id)
    if (row) work.repair(row)
  }
  await work.write(records, changes)
  return true
}
