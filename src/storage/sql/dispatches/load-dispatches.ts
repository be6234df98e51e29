import { retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, type LookUp, lookUp, readRecord } from '../connection/dialects.ts'
import type { Column } from '../schema/columns.ts'
import type {
  CounterRecord,
  DeliveryRecord,
  DigestEventRecord,
  DispatchRecord,
  Records,
  TableName,
} from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import { limitName, type TenantName } from './counters.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'

type Row = Readonly<Record<string, unknown>>

const TRIES = 5

/**
 * Reads dispatches into a unit of work, with shared deliveries. These take several statements, which may see different moments; the
 * versions guard later writes.
 * @param owners `whole` also reads the other dispatches as a whole: the end of a delivery may release held ones in each of them.
 */
export async function loadDispatches(
  ids: readonly string[],
  owners: 'whole' | 'heads',
  db: Database,
  into: DispatchUnitOfWork,
): Promise<void> {
  const read = await readShared(ids, owners, db)
  put(read, into)
  for (const counter of await readCounters(limitsIn(read), db)) into.counters.put(counter)
}

/** Reads a consistent snapshot of dispatches. */
export function loadToShow(ids: readonly string[], db: Database): Promise<DispatchUnitOfWork> {
  return retryOnConflict(async () => {
    let read = await readShared(ids, 'heads', db)
    for (let tries = 1; tries < TRIES && !(await isUnchanged(read, db)); tries++)
      read = await readShared(ids, 'heads', db)
    const work = new DispatchUnitOfWork(db.now())
    put(read, work)
    return work
  })
}

export async function loadPlans(ids: readonly string[], db: Database, into: DispatchUnitOfWork): Promise<void> {
  const on = 'p.dispatch_id = x.dispatch_id'
  for (const plan of await readRecords('plan_sources', ID, ids, { alias: 'p', on }, db)) into.putPlan(plan)
}

interface Read {
  readonly found: readonly Found[]
  /** Other dispatches that share deliveries with them. */
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
  const digests = [...new Set(events.map(({ delivery_id }) => delivery_id))]
  const on = 'd.delivery_id = x.delivery_id'
  const shared = await readRecords('deliveries', DELIVERY_ID, digests, { alias: 'd', on }, db)
  // Again after the deliveries, whose versions guard which events they have.
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

function limitsIn({ found }: Read): readonly TenantName[] {
  return found.flatMap(({ record: { tenant }, deliveries }) =>
    deliveries.flatMap(limitsOf).map((key) => ({ tenant, name: limitName(key) })),
  )
}

function limitsOf({ limits }: DeliveryRecord): readonly string[] {
  if (limits === null) return []
  const named: readonly { readonly key: string }[] = JSON.parse(limits)
  return named.map(({ key }) => key)
}

/** Whether all rows of several statements still have their versions, so that they were valid at one moment. */
async function isUnchanged({ found, shared }: Read, { dialect, nameOf, query }: Database): Promise<boolean> {
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

export async function loadOwners(
  ids: readonly string[],
  { dialect, nameOf, query }: Database,
): Promise<readonly string[]> {
  const [own, shared] = [1, 2].map((number) => dialect.rows(dialect.parameter(number), DELIVERY_ID, 'x'))
  const owner = lookUp({ table: 'deliveries', alias: 'd', on: 'd.delivery_id = x.delivery_id' }, dialect, nameOf)
  const events = lookUp({ table: 'digest_events', alias: 'e', on: 'e.delivery_id = x.delivery_id' }, dialect, nameOf)
  const text = `select d.dispatch_id from ${own} ${owner} union select e.dispatch_id from ${shared} ${events}`
  const list = listOf('delivery_id', ids)
  const found = await query<{ dispatch_id: string }>(text, [list, list])
  return found.map(({ dispatch_id }) => dispatch_id)
}

/** Reads the digests that an event may join into a unit of work. @param openKeys Prefixes of their keys. */
export async function loadOpenDigests(
  openKeys: readonly string[],
  db: Database,
  into: DispatchUnitOfWork,
): Promise<void> {
  const keys = { open_key: TABLES.deliveries.columns.open_key }
  const own = { alias: 'd', on: 'd.open_key = x.open_key', index: 'open_digests' }
  const rows = await readRecords('deliveries', keys, openKeys, own, db)
  const open = rows.filter(({ delivery_id }) => !into.delivery(delivery_id))
  const digests = [...new Set(open.map(({ delivery_id }) => delivery_id))]
  const on = 'e.delivery_id = x.delivery_id'
  const events = await readRecords('digest_events', DELIVERY_ID, digests, { alias: 'e', on }, db)
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
  const heads = lookUp({ table: 'dispatches', ...HEAD }, dialect, nameOf)
  const own = { alias: 'd', on: 'd.dispatch_id = h.dispatch_id', index: 'of_dispatch', isLeft: true } as const
  const deliveries = lookUp({ table: 'deliveries', ...own }, dialect, nameOf)
  const text = `select ${columns} from ${dialect.rows(dialect.parameter(1), ID, 'x')} ${heads} ${deliveries}`
  const found = new Map<string, Found>()
  for (const row of await db.scan<Row>(text, [listOf('dispatch_id', ids)])) {
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

function readHeads(ids: readonly string[], db: Database): Promise<readonly DispatchRecord[]> {
  return readRecords('dispatches', ID, ids, HEAD, db)
}

async function readEvents(ids: readonly string[], db: Database): Promise<DigestEventRecord[]> {
  const { dialect, nameOf } = db
  const table = 'digest_events'
  const own = { table, alias: 'o', on: 'o.dispatch_id = x.dispatch_id', index: 'of_dispatch' } as const
  const rows = dialect.rows(dialect.parameter(1), ID, 'x')
  const digests = `select distinct o.delivery_id from ${rows} ${lookUp(own, dialect, nameOf)}`
  const all = lookUp({ table, alias: 'e', on: 'e.delivery_id = g.delivery_id' }, dialect, nameOf)
  const text = `select ${columnsOf(table, 'e', dialect)} from (${digests}) g ${all}`
  return (await db.query<Row>(text, [listOf('dispatch_id', ids)])).map((row) => readRecord(table, row))
}

const ID: Readonly<Record<string, Column>> = { dispatch_id: TABLES.dispatches.columns.dispatch_id }
const DELIVERY_ID: Readonly<Record<string, Column>> = { delivery_id: TABLES.deliveries.columns.delivery_id }
const HEAD = { alias: 'h', on: 'h.dispatch_id = x.dispatch_id' }

async function readRecords<Name extends TableName>(
  table: Name,
  column: Readonly<Record<string, Column>>,
  values: readonly string[],
  join: Omit<LookUp, 'table'>,
  { dialect, nameOf, query }: Database,
): Promise<readonly Records[Name][]> {
  if (values.length === 0) return []
  const [name = ''] = Object.keys(column)
  const rows = dialect.rows(dialect.parameter(1), column, 'x')
  const text = `select ${columnsOf(table, join.alias, dialect)} from ${rows} ${lookUp({ table, ...join }, dialect, nameOf)}`
  return (await query<Row>(text, [listOf(name, values)])).map((row) => readRecord(table, row))
}

function listOf(column: string, values: readonly string[]): string {
  return JSON.stringify(values.map((value) => ({ [column]: value })))
}

function idsOf(found: readonly Found[]): readonly string[] {
  return found.map(({ record }) => record.dispatch_id)
}

function missing(events: readonly DigestEventRecord[], found: readonly Found[]): readonly string[] {
  const known = new Set(idsOf(found))
  return [...new Set(events.map(({ dispatch_id }) => dispatch_id))].filter((id) => !known.has(id))
}
