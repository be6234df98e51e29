import type { Database } from '../connection/database.ts'
import { lookUp } from '../connection/look-ups.ts'
import { columnsOf, readRecord } from '../connection/read-records.ts'
import type { CounterRecord, DeliveryRecord, DigestEventRecord, DispatchRecord } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import { limitName } from './counter-records.ts'
import type { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'

type Row = Readonly<Record<string, unknown>>

/** A name within a tenant. */
export interface TenantName {
  readonly tenant: string
  readonly name: string
}

/** So often dispatches are read again that others changed meanwhile. */
const TRIES = 5

/**
 * Takes dispatches into a workspace: whole, with the deliveries that they share with others. What shares deliveries may be of
 * several moments: the versions of what is written tell whether it is.
 *
 * @param owners `whole`: those others too, since a delivery's end is to be followed by what is held in each.
 */
export async function loadDispatches(
  ids: readonly string[],
  owners: 'whole' | 'heads',
  db: Database,
  into: DispatchUnitOfWork,
): Promise<void> {
  const read = await readShared(ids, owners, db)
  put(read, into)
  for (const counter of await readCounters(limitsIn(read), db)) into.putCounter(counter)
}

/** Takes dispatches into a workspace as they all were at one moment: to be shown. */
export async function loadToShow(ids: readonly string[], db: Database, into: DispatchUnitOfWork): Promise<void> {
  let read = await readShared(ids, 'heads', db)
  for (let tries = 1; tries < TRIES && !(await isStillSo(read, db)); tries++) read = await readShared(ids, 'heads', db)
  put(read, into)
}

/** What was read of some dispatches, in the order in which a workspace takes it in. */
interface Read {
  readonly found: readonly Found[]
  /** The dispatches of others that share deliveries with them. */
  readonly heads: readonly DispatchRecord[]
  readonly events: readonly DigestEventRecord[]
  readonly shared: readonly DeliveryRecord[]
}

async function readShared(ids: readonly string[], owners: 'whole' | 'heads', db: Database): Promise<Read> {
  const found = await readDispatches(ids, db)
  let events = found.some(({ digested }) => digested) ? await readEvents(ids, db) : []
  if (events.length === 0) return { found, heads: [], events, shared: [] }
  if (owners === 'whole') {
    found.push(...(await readDispatches(missing(events, found), db)))
    events = await readEvents(idsOf(found), db)
  }
  const shared = await readDeliveries(events, db)
  // Once more, after the deliveries: their versions guard which events they have.
  events = await readEvents(idsOf(found), db)
  const heads = await readHeads(missing(events, found), db)
  return { found, heads, events, shared }
}

function put({ found, heads, events, shared }: Read, into: DispatchUnitOfWork): void {
  for (const { record } of found) into.putDispatch(record, true)
  for (const head of heads) into.putDispatch(head, false)
  for (const event of events) into.putEvent(event)
  for (const { deliveries } of found) for (const delivery of deliveries) into.putDelivery(delivery)
  for (const delivery of shared) into.putDelivery(delivery)
}

/** What is counted for the limits of dispatches: one of their deliveries may be let out. */
function limitsIn({ found }: Read): readonly TenantName[] {
  return found.flatMap(({ record: { tenant }, deliveries }) =>
    deliveries.flatMap(limitsOf).map((key) => ({ tenant, name: limitName(key) })),
  )
}

/**
 * Whether everything that took more than one statement to read still has the version that it was read with: then all of it was
 * so at that moment. A dispatch that shares nothing took one.
 */
async function isStillSo({ found, shared }: Read, { dialect, nameOf, query }: Database): Promise<boolean> {
  const digested = found.filter((one) => one.digested)
  if (digested.length === 0) return true
  const dispatches = digested.map(({ record: { dispatch_id, version } }) => ({ dispatch_id, version }))
  const deliveries = digested
    .flatMap((one) => one.deliveries)
    .concat(shared)
    .map(({ delivery_id, version }) => ({ delivery_id, version }))
  const same = (table: 'dispatches' | 'deliveries', key: 'dispatch_id' | 'delivery_id', number: number): string => {
    const { dispatch_id: id, version } = TABLES.dispatches.columns
    const known = dialect.rows(dialect.parameter(number), { [key]: id, version }, 'x')
    const found = lookUp({ table, alias: 'd', on: `d.${key} = x.${key} and d.version = x.version` }, dialect, nameOf)
    return `(select count(*) from ${known} ${found})`
  }
  const text = `select ${same('dispatches', 'dispatch_id', 1)} + ${same('deliveries', 'delivery_id', 2)} as amount`
  const [row] = await query<Row>(text, [JSON.stringify(dispatches), JSON.stringify(deliveries)])
  return Number(row?.amount) === dispatches.length + deliveries.length
}

/** The dispatches that deliveries belong to. */
export async function loadOwners(
  ids: readonly string[],
  { dialect, nameOf, query }: Database,
): Promise<readonly string[]> {
  const { delivery_id } = TABLES.deliveries.columns
  const [own, shared] = [1, 2].map((number) => dialect.rows(dialect.parameter(number), { delivery_id }, 'x'))
  const owner = lookUp({ table: 'deliveries', alias: 'd', on: 'd.delivery_id = x.delivery_id' }, dialect, nameOf)
  const events = lookUp({ table: 'digest_events', alias: 'e', on: 'e.delivery_id = x.delivery_id' }, dialect, nameOf)
  const text = `select d.dispatch_id from ${own} ${owner} union select e.dispatch_id from ${shared} ${events}`
  const list = JSON.stringify(ids.map((id) => ({ delivery_id: id })))
  const found = await query<{ dispatch_id: string }>(text, [list, list])
  return found.map(({ dispatch_id }) => dispatch_id)
}

/** Takes the digests into a workspace that an event may join, by how their keys begin. */
export async function loadOpenDigests(
  openKeys: readonly string[],
  db: Database,
  into: DispatchUnitOfWork,
): Promise<void> {
  if (openKeys.length === 0) return
  const { dialect, nameOf } = db
  const keys = dialect.rows(dialect.parameter(1), { open_key: TABLES.deliveries.columns.open_key }, 'x')
  const own = { table: 'deliveries', alias: 'd', on: 'd.open_key = x.open_key', index: 'open_digests' } as const
  const text = `select ${columnsOf('deliveries', 'd', dialect)} from ${keys} ${lookUp(own, dialect, nameOf)}`
  const rows = await db.query<Row>(text, [JSON.stringify(openKeys.map((open_key) => ({ open_key })))])
  const open = rows.map((row) => readRecord('deliveries', row)).filter(({ delivery_id }) => !into.delivery(delivery_id))
  if (open.length === 0) return
  const events = await readEventsOf(open, db)
  for (const head of await readHeads([...new Set(events.map(({ dispatch_id }) => dispatch_id))], db))
    into.putDispatch(head, false)
  for (const event of events) into.putEvent(event)
  for (const delivery of open) into.putDelivery(delivery)
}

export async function readCounters(named: readonly TenantName[], db: Database): Promise<readonly CounterRecord[]> {
  if (named.length === 0) return []
  const { dialect, nameOf } = db
  const { tenant, name } = TABLES.counters.columns
  const rows = dialect.rows(dialect.parameter(1), { tenant, name }, 'x')
  const own = { table: 'counters', alias: 'c', on: 'c.tenant = x.tenant and c.name = x.name' } as const
  const text = `select distinct ${columnsOf('counters', 'c', dialect)} from ${rows} ${lookUp(own, dialect, nameOf)}`
  return (await db.query<Row>(text, [JSON.stringify(named)])).map((row) => readRecord('counters', row))
}

interface Found {
  readonly record: DispatchRecord
  readonly digested: boolean
  readonly deliveries: DeliveryRecord[]
}

async function readDispatches(ids: readonly string[], db: Database): Promise<Found[]> {
  if (ids.length === 0) return []
  const { dialect, nameOf } = db
  const columns = `${columnsOf('dispatches', 'h', dialect, 'h_')}, ${columnsOf('deliveries', 'd', dialect)}`
  const own = { alias: 'd', on: 'd.dispatch_id = h.dispatch_id', index: 'of_dispatch', isLeft: true } as const
  const deliveries = lookUp({ table: 'deliveries', ...own }, dialect, nameOf)
  const text = `select ${columns} from ${idRows(db)} ${headsOfIds(db)} ${deliveries}`
  const found = new Map<string, Found>()
  for (const row of await db.scan<Row>(text, [idList(ids)])) {
    const id = String(row.h_dispatch_id)
    let one = found.get(id)
    if (!one) {
      const record = readRecord('dispatches', row, 'h_')
      one = { record, digested: record.digested === 1, deliveries: [] }
      found.set(id, one)
    }
    if (row.delivery_id !== null) one.deliveries.push(readRecord('deliveries', row))
  }
  return [...found.values()]
}

async function readHeads(ids: readonly string[], db: Database): Promise<readonly DispatchRecord[]> {
  if (ids.length === 0) return []
  const text = `select ${columnsOf('dispatches', 'h', db.dialect)} from ${idRows(db)} ${headsOfIds(db)}`
  return (await db.query<Row>(text, [idList(ids)])).map((row) => readRecord('dispatches', row))
}

/** All events of the digests that these dispatches have events in. */
async function readEvents(ids: readonly string[], db: Database): Promise<DigestEventRecord[]> {
  const { dialect, nameOf } = db
  const table = 'digest_events'
  const own = { table, alias: 'o', on: 'o.dispatch_id = x.dispatch_id', index: 'of_dispatch' } as const
  const digests = `select distinct o.delivery_id from ${idRows(db)} ${lookUp(own, dialect, nameOf)}`
  const all = lookUp({ table, alias: 'e', on: 'e.delivery_id = g.delivery_id' }, dialect, nameOf)
  const text = `select ${columnsOf(table, 'e', dialect)} from (${digests}) g ${all}`
  return (await db.query<Row>(text, [idList(ids)])).map((row) => readRecord('digest_events', row))
}

async function readEventsOf(digests: readonly DeliveryRecord[], db: Database): Promise<DigestEventRecord[]> {
  const { dialect, nameOf } = db
  const events = lookUp({ table: 'digest_events', alias: 'e', on: 'e.delivery_id = x.delivery_id' }, dialect, nameOf)
  const text = `select ${columnsOf('digest_events', 'e', dialect)} from ${deliveryRows(db)} ${events}`
  return (await db.query<Row>(text, [deliveryList(digests)])).map((row) => readRecord('digest_events', row))
}

async function readDeliveries(events: readonly DigestEventRecord[], db: Database): Promise<readonly DeliveryRecord[]> {
  const { dialect, nameOf } = db
  const own = lookUp({ table: 'deliveries', alias: 'd', on: 'd.delivery_id = x.delivery_id' }, dialect, nameOf)
  const text = `select ${columnsOf('deliveries', 'd', dialect)} from ${deliveryRows(db)} ${own}`
  return (await db.query<Row>(text, [deliveryList(events)])).map((row) => readRecord('deliveries', row))
}

/** Of the ids of {@link idRows}. */
function headsOfIds({ dialect, nameOf }: Database): string {
  return lookUp({ table: 'dispatches', alias: 'h', on: 'h.dispatch_id = x.dispatch_id' }, dialect, nameOf)
}

function idRows({ dialect }: Database): string {
  const { dispatch_id } = TABLES.dispatches.columns
  return dialect.rows(dialect.parameter(1), { dispatch_id }, 'x')
}

function idList(ids: readonly string[]): string {
  return JSON.stringify(ids.map((dispatch_id) => ({ dispatch_id })))
}

function deliveryRows({ dialect }: Database): string {
  const { delivery_id } = TABLES.deliveries.columns
  return dialect.rows(dialect.parameter(1), { delivery_id }, 'x')
}

function deliveryList(records: readonly { readonly delivery_id: string }[]): string {
  const ids = new Set(records.map(({ delivery_id }) => delivery_id))
  return JSON.stringify([...ids].map((delivery_id) => ({ delivery_id })))
}

function idsOf(found: readonly Found[]): readonly string[] {
  return found.map(({ record }) => record.dispatch_id)
}

/** The dispatches of events that were not found yet. */
function missing(events: readonly DigestEventRecord[], found: readonly Found[]): readonly string[] {
  const known = new Set(idsOf(found))
  return [...new Set(events.map(({ dispatch_id }) => dispatch_id))].filter((id) => !known.has(id))
}

function limitsOf({ limits }: DeliveryRecord): readonly string[] {
  if (limits === null) return []
  const named: readonly { readonly key: string }[] = JSON.parse(limits)
  return named.map(({ key }) => key)
}
