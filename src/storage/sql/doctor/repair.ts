import { noTotals } from '../../../model/totals.ts'
import { failDamaged } from '../../rules/delivery-transitions.ts'
import { newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, Parameters, sameEach } from '../connection/dialects.ts'
import { readRecord } from '../connection/read-record.ts'
import { removeUnnamed } from '../dispatches/damaged-parts.ts'
import { DispatchUnitOfWork } from '../dispatches/dispatch-unit-of-work.ts'
import { loadDispatches, loadOwners } from '../dispatches/load-dispatches.ts'
import { removeRunsWhere } from '../runs/run-removal.ts'
import type { Records, TableName } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import type { UnreadableRecord } from './find-unreadable.ts'

/** Repairs a record. Resolves to `false` if it has changed since it was found, or a worker is sending its delivery. */
export function repair(record: UnreadableRecord, db: Database): Promise<boolean> {
  return retryOnConflict(async () => {
    const found = await readAgain(record, db)
    if (!found) return false
    const { table, column, key } = record
    const changes = newChanges()
    switch (table) {
      case 'states':
      case 'digests':
      case 'contents':
      case 'jobs':
        return repairDispatches(record, String(found.dispatch_id ?? ''), db)
      case 'members': {
        const member = found as unknown as Records['members']
        changes.remove('members', member)
        changes.insert('members', { ...member, event_data: '{}', version: member.version + 1 })
        break
      }
      case 'sessions': {
        const session = { ...(found as unknown as Records['sessions']), totals: null, failures: null }
        const empty = column === 'totals' ? JSON.stringify(noTotals()) : '[]'
        changes.update('sessions', { ...session, [column]: empty })
        break
      }
      case 'runs':
        await db.transaction((on) => removeRunsWhere(key as Readonly<Record<'run_id', string>>, on, db))
        return true
      default:
        changes.remove(table as 'counters', found as unknown as Records['counters'])
    }
    await db.write(changes)
    return true
  })
}

async function readAgain({ table, column, key, text: before, version }: UnreadableRecord, db: Database) {
  const name = table as TableName
  const { dialect, nameOf } = db
  const parameters = new Parameters(dialect)
  const columns = TABLES[name].primaryKey.map((column) => `r.${dialect.quote(column)}`)
  const same = sameEach(
    columns,
    TABLES[name].primaryKey.map((column) => parameters.add(key[column])),
  )
  const text = `select ${columnsOf(name, 'r', dialect)} from ${nameOf(name)} r where ${same}`
  const [row] = await db.query<Readonly<Record<string, unknown>>>(text, parameters.values)
  const found = row && (readRecord(name, row) as unknown as Readonly<Record<string, unknown>>)
  return found?.version === version && found[column] === before ? found : undefined
}

/** Writes what other records tell of the deliveries. What is lost ends as `failed`, `record_unreadable`. */
async function repairDispatches({ table, key }: UnreadableRecord, dispatchId: string, db: Database): Promise<boolean> {
  await db.sync()
  const now = db.now()
  const work = new DispatchUnitOfWork(now, db.uncertaintyMs())
  const deliveryId = String(key.delivery_id ?? '')
  const owners = deliveryId === '' ? [] : await loadOwners([deliveryId], db)
  const ids = [...new Set([...owners, ...(dispatchId === '' ? [] : [dispatchId])])]
  await loadDispatches(ids, db, work)
  const rows = new Set(ids.flatMap((id) => work.dispatch(id)?.deliveries ?? []))
  const own = work.delivery(deliveryId)
  if ([...rows].some((row) => row.status === 'sending' && (row.isDamaged || row === own))) return false
  for (const row of rows) {
    if (!row.isDamaged && !(row === own && table === 'contents')) continue
    if (row.status === 'queued') failDamaged(row, now, work.moves)
    else if (row.status === 'held') work.moves.end(row, 'failed', 'record_unreadable')
    if (row === own && table === 'contents') row.content = undefined
  }
  const changes = newChanges()
  await removeUnnamed(work, changes, db)
  for (const id of ids) {
    const row = work.dispatch(id)
    if (row) work.repair(row)
  }
  await work.write(db, changes)
  return true
}
