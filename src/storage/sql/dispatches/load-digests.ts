import type { JsonObject } from '../../../model/json.ts'
import type { StoredDelivery } from '../../engine/dispatches/stored-deliveries.ts'
import type { DigestEvent, DispatchRow } from '../../rules/dispatch-rows.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, lookUp } from '../connection/dialects.ts'
import { readRecord } from '../connection/read-record.ts'
import { readStored } from '../schema/stored-json.ts'
import { TABLES } from '../schema/tables.ts'
import { headOf } from './dispatch-records.ts'
import type { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { type Row, readDigests, readHeads, readMembers, readRecords } from './read-records.ts'

/** Reads the digests that an event may join into a unit of work, without their events. @param openKeys Prefixes of their keys. */
export async function loadOpenDigests(
  openKeys: readonly string[],
  db: Database,
  into: DispatchUnitOfWork,
): Promise<void> {
  if (openKeys.length === 0) return
  const { dialect, nameOf } = db
  const keys = dialect.rows(dialect.parameter(1), { open_key: TABLES.digests.columns.open_key }, 'x')
  const columns = [
    columnsOf('digests', 'd', dialect, 'd_'),
    columnsOf('jobs', 'j', dialect, 'j_'),
    columnsOf('dispatches', 'h', dialect, 'h_'),
  ]
  const joins = [
    lookUp({ table: 'digests', alias: 'd', on: 'd.open_key = x.open_key', index: 'open' }, dialect, nameOf),
    lookUp({ table: 'jobs', alias: 'j', on: 'j.delivery_id = d.delivery_id' }, dialect, nameOf),
    lookUp({ table: 'dispatches', alias: 'h', on: 'h.dispatch_id = j.dispatch_id' }, dialect, nameOf),
  ]
  const text = `select ${columns.join(', ')} from ${keys} ${joins.join(' ')}`
  const rows = await db.scan<Row>(text, [JSON.stringify(openKeys.map((open_key) => ({ open_key })))])
  const open = rows.filter(({ d_delivery_id: id }) => !into.delivery(String(id)))
  into.put({
    heads: open.map((row) => readRecord('dispatches', row, 'h_')),
    digests: open.map((row) => readRecord('digests', row, 'd_')),
    jobs: open.map((row) => readRecord('jobs', row, 'j_')),
  })
}

/** Reads the events of a dispatch into its digests, which were read without events. */
export async function loadOwnEvents(dispatch_id: string, db: Database, into: DispatchUnitOfWork): Promise<void> {
  const deliveries = into.dispatch(dispatch_id)?.deliveries ?? []
  const keys = deliveries.flatMap(({ digest, deliveryId: delivery_id }) => (digest ? { delivery_id, dispatch_id } : []))
  const { columns } = TABLES.members
  const of = { delivery_id: columns.delivery_id, dispatch_id: columns.dispatch_id }
  const on = 'e.delivery_id = x.delivery_id and e.dispatch_id = x.dispatch_id'
  into.putEvents(await readRecords('members', of, keys, { alias: 'e', on }, db))
}

/** A digest of a lease, without a unit of work. */
export interface LeasedDigest {
  readonly stored: StoredDelivery
  /** Oldest first. */
  readonly events: DigestEvent[]
}

/**
 * Reads a digest that was leased: only an erasure changes its events.
 * @param isRendered Its events are not read.
 * @returns `undefined` if it is erased.
 * @throws {SallyportError} `record_unreadable`.
 */
export async function readLeasedDigest(
  id: string,
  isRendered: boolean,
  db: Database,
): Promise<LeasedDigest | undefined> {
  const members = isRendered ? [] : await readMembers([id], db)
  const heads = await readHeads([...new Set(members.map(({ dispatch_id }) => dispatch_id))], db)
  // After its events: an erasure in between is noticed.
  const [digest] = await readDigests([id], db)
  const stored: StoredDelivery | undefined = digest && readStored('digests.body', digest.body)
  if (stored?.address === undefined) return undefined
  const rows = new Map(heads.map((head): [string, DispatchRow] => [head.dispatch_id, rowOf(headOf(head))]))
  const events = members
    .sort((one, other) => one.number - other.number)
    .flatMap(({ dispatch_id, event_data }) => {
      const dispatch = rows.get(dispatch_id)
      return dispatch ? { dispatch, eventData: readStored<JsonObject>('members.event_data', event_data) } : []
    })
  return { stored, events }
}

function rowOf(head: DispatchRow['head']): DispatchRow {
  return { head, sequence: 0, deliveries: [], plan: undefined }
}
