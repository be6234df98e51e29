import { Conflict, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, type LookUp, lookUp, readRecord } from '../connection/dialects.ts'
import type { Column } from '../schema/columns.ts'
import type { CounterRecord, DispatchRecord, Records, TableName } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import { limitName, type TenantName } from './counters.ts'
import { isShared, type KnownState, readBegun, readStates, type StoredDelivery } from './delivery-states.ts'
import { type DispatchParts, DispatchUnitOfWork } from './dispatch-unit-of-work.ts'

type Row = Readonly<Record<string, unknown>>

const TRIES = 5

/**
 * Reads dispatches into a unit of work, with shared deliveries and all their dispatches: the end of a delivery may release held ones in
 * each of them. The versions guard later writes.
 * @throws {Conflict} The statements saw different moments: a decision to change nothing would be wrong.
 */
export async function loadDispatches(ids: readonly string[], db: Database, into: DispatchUnitOfWork): Promise<void> {
  const read = await readWhole(ids, 'whole', db)
  if (!(await isOfOneMoment(read, db))) throw new Conflict('it changed while it was read')
  into.put(read)
  for (const counter of await readCounters(limitsIn(read), db)) into.counters.put(counter)
}

/** Reads a consistent snapshot of dispatches. While they change constantly, the last of several reads counts. */
export function loadToShow(ids: readonly string[], db: Database): Promise<DispatchUnitOfWork> {
  return retryOnConflict(async () => {
    let read = await readWhole(ids, 'heads', db)
    for (let tries = 1; tries < TRIES && !(await isOfOneMoment(read, db)); tries++)
      read = await readWhole(ids, 'heads', db)
    const work = new DispatchUnitOfWork(db.now())
    work.put(read)
    return work
  })
}

export async function loadPlans(ids: readonly string[], db: Database, into: DispatchUnitOfWork): Promise<void> {
  const on = 'p.dispatch_id = x.dispatch_id'
  for (const plan of await readRecords('plan_sources', ID, ids, { alias: 'p', on }, db)) into.putPlan(plan)
}

type Read = Required<DispatchParts>

/** @param owners How much of the other dispatches that share deliveries with them. */
async function readWhole(ids: readonly string[], owners: 'whole' | 'heads', db: Database): Promise<Read> {
  const found = await readHeadsAndStates(ids, db)
  const shared = await readDigests(digestsIn(found.states), db)
  if (owners === 'whole') {
    const others = await readHeadsAndStates(missing(shared.members, found.heads), db)
    found.heads.push(...others.heads)
    found.states.push(...others.states)
    const known = new Set(shared.digests.map(({ delivery_id }) => delivery_id))
    const more = await readDigests(
      digestsIn(others.states).filter((id) => !known.has(id)),
      db,
    )
    shared.digests.push(...more.digests)
    shared.members.push(...more.members)
  }
  found.heads.push(...(await readHeads(missing(shared.members, found.heads), db)))
  const own = entriesOf(found.states).map(({ deliveryId }) => deliveryId)
  return { ...found, ...shared, ...(await readParts([...own, ...shared.digests.map((one) => one.delivery_id)], db)) }
}

/** The own deliveries of dispatches, without those that left a digest. */
function entriesOf(states: readonly KnownState[]): readonly StoredDelivery[] {
  return states
    .flatMap(({ entries }) => entries)
    .filter((entry): entry is StoredDelivery => !isShared(entry) && entry.digest === undefined)
}

function digestsIn(states: readonly KnownState[]): readonly string[] {
  return [
    ...new Set(states.flatMap(({ entries }) => entries).flatMap((entry) => (isShared(entry) ? entry.deliveryId : []))),
  ]
}

function limitsIn({ heads, states }: Read): readonly TenantName[] {
  const tenants = new Map(heads.map(({ dispatch_id, tenant }) => [dispatch_id, tenant]))
  return states.flatMap((state) =>
    entriesOf([state]).flatMap(({ limits = [] }) =>
      limits.map(({ key }) => ({ tenant: tenants.get(state.record.dispatch_id) ?? '', name: limitName(key) })),
    ),
  )
}

/** Statements in succession may see different moments. */
async function isOfOneMoment(read: Read, db: Database): Promise<boolean> {
  return isComplete(read) && (await isUnchanged(read, db))
}

/** Whether each delivery has the job and the content of its state. */
function isComplete({ states, digests, jobs, contents }: Read): boolean {
  const jobOf = new Map(jobs.map((job) => [job.delivery_id, job]))
  const filled = new Set(contents.flatMap(({ delivery_id, body }) => (body === null ? [] : delivery_id)))
  const stored = [...entriesOf(states), ...digests.map(({ body }): StoredDelivery => JSON.parse(body))]
  return stored.every(({ deliveryId, status, hasContent = false, attempts = 0 }) => {
    const job = jobOf.get(deliveryId)
    if ((status === 'queued') !== (job !== undefined)) return false
    if (job && job.attempt - readBegun(job.begun).length !== attempts) return false
    return hasContent === filled.has(deliveryId)
  })
}

/** Whether all rows of several statements still have their versions, so that they were valid at one moment. */
async function isUnchanged({ states, digests }: Read, { dialect, nameOf, query }: Database): Promise<boolean> {
  if (digests.length === 0) return true
  const same = (table: 'states' | 'digests', key: 'dispatch_id' | 'delivery_id', number: number): string => {
    const { dispatch_id: id, version } = TABLES.states.columns
    const known = dialect.rows(dialect.parameter(number), { [key]: id, version }, 'x')
    const found = lookUp({ table, alias: 'd', on: `d.${key} = x.${key} and d.version = x.version` }, dialect, nameOf)
    return `(select count(*) from ${known} ${found})`
  }
  const text = `select ${same('states', 'dispatch_id', 1)} + ${same('digests', 'delivery_id', 2)} as amount`
  const [row] = await query<Row>(text, [
    JSON.stringify(states.map(({ record: { dispatch_id, version } }) => ({ dispatch_id, version }))),
    JSON.stringify(digests.map(({ delivery_id, version }) => ({ delivery_id, version }))),
  ])
  return Number(row?.amount) === states.length + digests.length
}

/** Dispatches that have any of these deliveries: each has a record of its content, or is a digest with members. */
export async function loadOwners(
  ids: readonly string[],
  { dialect, nameOf, query }: Database,
): Promise<readonly string[]> {
  const texts = (['contents', 'members'] as const).map((table, at) => {
    const rows = dialect.rows(dialect.parameter(at + 1), DELIVERY_ID, 'x')
    return `select d.dispatch_id from ${rows} ${lookUp({ table, alias: 'd', on: 'd.delivery_id = x.delivery_id' }, dialect, nameOf)}`
  })
  const list = listOf('delivery_id', ids)
  const found = await query<{ dispatch_id: string }>(texts.join(' union '), [list, list])
  return found.map(({ dispatch_id }) => dispatch_id)
}

/** Reads the digests that an event may join into a unit of work. @param openKeys Prefixes of their keys. */
export async function loadOpenDigests(
  openKeys: readonly string[],
  db: Database,
  into: DispatchUnitOfWork,
): Promise<void> {
  const keys = { open_key: TABLES.digests.columns.open_key }
  const own = { alias: 'd', on: 'd.open_key = x.open_key', index: 'open' }
  const rows = await readRecords('digests', keys, openKeys, own, db)
  const open = rows.filter(({ delivery_id }) => !into.delivery(delivery_id))
  if (open.length === 0) return
  const ids = [...new Set(open.map(({ delivery_id }) => delivery_id))]
  const members = await readMembers(ids, db)
  const heads = await readHeads([...new Set(members.map(({ dispatch_id }) => dispatch_id))], db)
  into.put({ heads, digests: open, members, ...(await readParts(ids, db)) })
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

interface HeadsAndStates {
  readonly heads: DispatchRecord[]
  readonly states: KnownState[]
}

async function readHeadsAndStates(ids: readonly string[], db: Database): Promise<HeadsAndStates> {
  if (ids.length === 0) return { heads: [], states: [] }
  const { dialect, nameOf } = db
  const columns = `${columnsOf('dispatches', 'h', dialect, 'h_')}, ${columnsOf('states', 's', dialect, 's_')}`
  const heads = lookUp({ table: 'dispatches', ...HEAD }, dialect, nameOf)
  const states = lookUp({ table: 'states', alias: 's', on: 's.dispatch_id = h.dispatch_id' }, dialect, nameOf)
  const text = `select ${columns} from ${dialect.rows(dialect.parameter(1), ID, 'x')} ${heads} ${states}`
  const rows = await db.scan<Row>(text, [listOf('dispatch_id', ids)])
  return {
    heads: rows.map((row) => readRecord('dispatches', row, 'h_')),
    states: rows.map((row) => {
      const record = readRecord('states', row, 's_')
      return { record, entries: readStates(record.body) }
    }),
  }
}

/** Reads the jobs and the contents of deliveries. */
async function readParts(ids: readonly string[], db: Database): Promise<Pick<Read, 'jobs' | 'contents'>> {
  if (ids.length === 0) return { jobs: [], contents: [] }
  const { dialect, nameOf } = db
  const columns = `${columnsOf('jobs', 'j', dialect, 'j_')}, ${columnsOf('contents', 'c', dialect, 'c_')}`
  const join = (table: 'jobs' | 'contents', alias: string): string =>
    lookUp({ table, alias, on: `${alias}.delivery_id = x.delivery_id`, isLeft: true }, dialect, nameOf)
  const rows = dialect.rows(dialect.parameter(1), DELIVERY_ID, 'x')
  const text = `select ${columns} from ${rows} ${join('jobs', 'j')} ${join('contents', 'c')}`
  const found = await db.scan<Row>(text, [listOf('delivery_id', ids)])
  return {
    jobs: found.flatMap((row) => (row.j_delivery_id === null ? [] : readRecord('jobs', row, 'j_'))),
    contents: found.flatMap((row) => (row.c_delivery_id === null ? [] : readRecord('contents', row, 'c_'))),
  }
}

/** Digests before their members: the versions of the digests guard which events they have. */
async function readDigests(
  ids: readonly string[],
  db: Database,
): Promise<{ readonly digests: Records['digests'][]; readonly members: Records['members'][] }> {
  const digests = await readRecords(
    'digests',
    DELIVERY_ID,
    ids,
    { alias: 'd', on: 'd.delivery_id = x.delivery_id' },
    db,
  )
  return { digests, members: await readMembers(ids, db) }
}

function readMembers(ids: readonly string[], db: Database): Promise<Records['members'][]> {
  return readRecords('members', DELIVERY_ID, ids, { alias: 'e', on: 'e.delivery_id = x.delivery_id' }, db)
}

function readHeads(ids: readonly string[], db: Database): Promise<Records['dispatches'][]> {
  return readRecords('dispatches', ID, ids, HEAD, db)
}

const ID: Readonly<Record<string, Column>> = { dispatch_id: TABLES.dispatches.columns.dispatch_id }
const DELIVERY_ID: Readonly<Record<string, Column>> = { delivery_id: TABLES.jobs.columns.delivery_id }
const HEAD = { alias: 'h', on: 'h.dispatch_id = x.dispatch_id' }

async function readRecords<Name extends TableName>(
  table: Name,
  column: Readonly<Record<string, Column>>,
  values: readonly string[],
  join: Omit<LookUp, 'table'>,
  { dialect, nameOf, query }: Database,
): Promise<Records[Name][]> {
  if (values.length === 0) return []
  const [name = ''] = Object.keys(column)
  const rows = dialect.rows(dialect.parameter(1), column, 'x')
  const text = `select ${columnsOf(table, join.alias, dialect)} from ${rows} ${lookUp({ table, ...join }, dialect, nameOf)}`
  return (await query<Row>(text, [listOf(name, values)])).map((row) => readRecord(table, row))
}

function listOf(column: string, values: readonly string[]): string {
  return JSON.stringify(values.map((value) => ({ [column]: value })))
}

function missing(members: readonly Records['members'][], heads: readonly DispatchRecord[]): readonly string[] {
  const known = new Set(heads.map(({ dispatch_id }) => dispatch_id))
  return [...new Set(members.map(({ dispatch_id }) => dispatch_id))].filter((id) => !known.has(id))
}
