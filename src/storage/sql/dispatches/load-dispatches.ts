import { isShared, type StoredDelivery } from '../../engine/dispatches/stored-deliveries.ts'
import { Conflict, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, lookUp } from '../connection/dialects.ts'
import { readRecord } from '../connection/read-record.ts'
import type { DigestRecord, DispatchRecord, MemberRecord } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import { limitName, type TenantName } from './counters.ts'
import type { ToldOutcome } from './damaged-states.ts'
import { type KnownState, readBegun, readDigest, readState } from './delivery-states.ts'
import { type DispatchParts, DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import {
  DELIVERY_ID,
  DISPATCH_ID,
  deliveryIds,
  dispatchIds,
  type Row,
  readCounters,
  readDigests,
  readHeads,
  readListed,
  readMembers,
  readRecords,
} from './read-records.ts'

const TRIES = 5

/**
 * Reads dispatches into a unit of work, with shared deliveries and all their dispatches: the end of a delivery may release held ones in
 * each of them. The versions guard later writes.
 * @param loadMore Reads what else the decision is about.
 * @throws {Conflict} The statements saw different moments: a decision to change nothing would be wrong.
 */
export async function loadDispatches(
  ids: readonly string[],
  db: Database,
  into: DispatchUnitOfWork,
  loadMore?: () => Promise<void>,
): Promise<void> {
  const read = await readWhole(ids, db)
  into.put(read)
  await loadMore?.()
  if (!(await isOfOneMoment(read, db, loadMore !== undefined))) throw new Conflict('it changed while it was read')
  into.putListed(await readListed(into.damaged, db))
  for (const counter of await readCounters(limitsIn(read), db)) into.counters.put(counter)
}

/**
 * Reads a consistent snapshot of dispatches, without the events of their digests. While they change constantly, the last of several reads
 * counts.
 * @param loadMore Reads what else the snapshot has.
 */
export function loadToShow(
  ids: readonly string[],
  db: Database,
  loadMore?: (work: DispatchUnitOfWork) => Promise<void>,
): Promise<DispatchUnitOfWork> {
  return retryOnConflict(async () => {
    for (let tries = 1; ; tries++) {
      const read = await readShown(ids, db)
      const work = new DispatchUnitOfWork(db.now())
      work.put(read)
      await loadMore?.(work)
      if (tries >= TRIES || (await isOfOneMoment(read, db, loadMore !== undefined))) return work
    }
  })
}

export async function loadPlans(ids: readonly string[], db: Database, into: DispatchUnitOfWork): Promise<void> {
  const on = 'p.dispatch_id = x.dispatch_id'
  for (const plan of await readRecords('plan_sources', DISPATCH_ID, dispatchIds(ids), { alias: 'p', on }, db))
    into.putPlan(plan)
}

type Read = Required<DispatchParts>

async function readShown(ids: readonly string[], db: Database): Promise<Read> {
  const found = await readHeadsAndStates(ids, db)
  const digests = await readDigests(digestsIn(found.states), db)
  return { ...found, digests, members: [], ...(await readPartsOf(found.states, digests, db)) }
}

async function readWhole(ids: readonly string[], db: Database): Promise<Read> {
  const { heads, states } = await readHeadsAndStates(ids, db)
  // Digests before their members: the versions of the digests guard which events they have.
  const digests = await readDigests(digestsIn(states), db)
  const members = await readMembers(idsOf(digests), db)
  const others = await readHeadsAndStates(missing(members, heads), db)
  heads.push(...others.heads)
  states.push(...others.states)
  const known = new Set(idsOf(digests))
  const further = await readDigests(
    digestsIn(others.states).filter((id) => !known.has(id)),
    db,
  )
  digests.push(...further)
  members.push(...(await readMembers(idsOf(further), db)))
  heads.push(...(await readHeads(missing(members, heads), db)))
  return { heads, states, digests, members, ...(await readPartsOf(states, digests, db)) }
}

function readPartsOf(
  states: readonly KnownState[],
  digests: readonly DigestRecord[],
  db: Database,
): Promise<Pick<Read, 'jobs' | 'contents'>> {
  return readParts([...entriesOf(states).map(({ deliveryId }) => deliveryId), ...idsOf(digests)], db)
}

function idsOf(digests: readonly DigestRecord[]): readonly string[] {
  return digests.map(({ delivery_id }) => delivery_id)
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

/** Statements in succession may see different moments. @param hasMore More was read than jobs and contents, which the states tell of. */
async function isOfOneMoment(read: Read, db: Database, hasMore = false): Promise<boolean> {
  if (!isComplete(read)) return false
  return (read.digests.length === 0 && !hasMore) || isUnchanged(read, db)
}

const NOT_TOLD: ToldOutcome = { channel: '', word: 'open' }

/** Whether each delivery has the job and the content of its state. */
function isComplete({ states, digests, jobs, contents }: Read): boolean {
  const jobOf = new Map(jobs.map((job) => [job.delivery_id, job]))
  const filled = new Set(contents.flatMap(({ delivery_id, body }) => (body === null ? [] : delivery_id)))
  const stored = [...entriesOf(states), ...digests.map((digest) => readDigest(digest, () => NOT_TOLD))]
  return stored.every(({ deliveryId, status, hasContent = false, attempts = 0, isDamaged }) => {
    if (isDamaged) return true
    const job = jobOf.get(deliveryId)
    if ((status === 'queued') !== (job !== undefined)) return false
    const begun = job && readBegun(job.begun)
    if (begun && job && job.attempt - begun.length !== attempts) return false
    return hasContent === filled.has(deliveryId)
  })
}

/** Whether all rows of several statements still have their versions, so that they were valid at one moment. */
async function isUnchanged({ states, digests }: Read, { dialect, nameOf, query }: Database): Promise<boolean> {
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
export function loadOwners(ids: readonly string[], db: Database): Promise<readonly string[]> {
  return readOwners(ids, db, '')
}

/** One of the dispatches that have a delivery. */
export async function loadOwner(id: string, db: Database): Promise<string | undefined> {
  const [owner] = await readOwners([id], db, 'limit 1')
  return owner
}

/** @param limit Of each of the two tables. */
async function readOwners(
  ids: readonly string[],
  { dialect, nameOf, query }: Database,
  limit: string,
): Promise<readonly string[]> {
  const texts = (['contents', 'members'] as const).map((table, at) => {
    const rows = dialect.rows(dialect.parameter(at + 1), DELIVERY_ID, 'x')
    const found = lookUp({ table, alias: 'd', on: 'd.delivery_id = x.delivery_id' }, dialect, nameOf)
    return `select o.dispatch_id from (select d.dispatch_id from ${rows} ${found} ${limit}) o`
  })
  const list = JSON.stringify(deliveryIds(ids))
  const found = await query<{ dispatch_id: string }>(texts.join(' union '), [list, list])
  return found.map(({ dispatch_id }) => dispatch_id)
}

interface HeadsAndStates {
  readonly heads: DispatchRecord[]
  readonly states: KnownState[]
}

async function readHeadsAndStates(ids: readonly string[], db: Database): Promise<HeadsAndStates> {
  if (ids.length === 0) return { heads: [], states: [] }
  const { dialect, nameOf } = db
  const columns = `${columnsOf('dispatches', 'h', dialect, 'h_')}, ${columnsOf('states', 's', dialect, 's_')}`
  const heads = lookUp({ table: 'dispatches', alias: 'h', on: 'h.dispatch_id = x.dispatch_id' }, dialect, nameOf)
  const states = lookUp({ table: 'states', alias: 's', on: 's.dispatch_id = h.dispatch_id' }, dialect, nameOf)
  const text = `select ${columns} from ${dialect.rows(dialect.parameter(1), DISPATCH_ID, 'x')} ${heads} ${states}`
  const rows = await db.scan<Row>(text, [JSON.stringify(dispatchIds(ids))])
  return {
    heads: rows.map((row) => readRecord('dispatches', row, 'h_')),
    states: rows.map((row) => readState(readRecord('states', row, 's_'))),
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
  const found = await db.scan<Row>(text, [JSON.stringify(deliveryIds(ids))])
  return {
    jobs: found.flatMap((row) => (row.j_delivery_id === null ? [] : readRecord('jobs', row, 'j_'))),
    contents: found.flatMap((row) => (row.c_delivery_id === null ? [] : readRecord('contents', row, 'c_'))),
  }
}

function missing(members: readonly MemberRecord[], heads: readonly DispatchRecord[]): readonly string[] {
  const known = new Set(heads.map(({ dispatch_id }) => dispatch_id))
  return [...new Set(members.map(({ dispatch_id }) => dispatch_id))].filter((id) => !known.has(id))
}
