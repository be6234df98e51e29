import type { DispatchHead, DispatchStatus } from '../../../model/dispatch.ts'
import { Changes, Conflict, retryOnConflict } from '../changes.ts'
import { decoded } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import type { Found, Prefix, Records } from '../records.ts'
import { limitName, type TenantName } from './counters.ts'
import type { ToldOutcome } from './damaged-states.ts'
import { type KnownState, readDigest, readState } from './delivery-states.ts'
import { isShared, type StoredDelivery } from './stored-deliveries.ts'
import { type DispatchParts, DispatchUnitOfWork } from './unit-of-work.ts'

const TRIES = 5

/**
 * Reads dispatches into a unit of work, with shared deliveries and all their dispatches: the end of a delivery may release held ones in
 * each of them. The versions guard later writes.
 * @param loadMore Reads what else the decision is about.
 * @throws {Conflict} The reads saw different moments: a decision to change nothing would be wrong.
 */
export async function loadDispatches(
  ids: readonly string[],
  records: Records,
  into: DispatchUnitOfWork,
  loadMore?: () => Promise<void>,
): Promise<void> {
  const read = await readWhole(ids, records)
  into.put(read)
  await loadMore?.()
  if (!(await isOfOneMoment(read, records, loadMore !== undefined))) throw new Conflict('it changed while it was read')
  if (into.damaged.length > 0) into.putListed(await readListed(into.damaged, records))
  const limits = limitsIn(read)
  if (limits.length > 0) for (const counter of await readCounters(limits, records)) into.counters.put(counter)
}

/**
 * Reads a consistent snapshot of dispatches, without the events of their digests. While they change constantly, the last of several reads
 * counts.
 * @param loadMore Reads what else the snapshot has.
 */
export function loadToShow(
  ids: readonly string[],
  records: Records,
  now: number,
  loadMore?: (work: DispatchUnitOfWork) => Promise<void>,
): Promise<DispatchUnitOfWork> {
  return retryOnConflict(async () => {
    for (let tries = 1; ; tries++) {
      const read = await readParts(await readHeadsAndStates(ids, records), false, records)
      const work = new DispatchUnitOfWork(now)
      work.put(read)
      await loadMore?.(work)
      if (tries >= TRIES || (await isOfOneMoment(read, records, loadMore !== undefined))) return work
    }
  })
}

export async function loadPlans(ids: readonly string[], records: Records, into: DispatchUnitOfWork): Promise<void> {
  const { plan_sources = [] } = await records.read([{ kind: 'plan_sources', with: keys(ids) }])
  for (const plan of plan_sources) into.putPlan(plan)
}

/** Reads the events of a dispatch into its digests, which were read without events. */
export async function loadOwnEvents(dispatchId: string, records: Records, into: DispatchUnitOfWork): Promise<void> {
  const deliveries = into.dispatch(dispatchId)?.deliveries ?? []
  const wanted = deliveries.flatMap(({ digest, deliveryId }): Prefix[] => (digest ? [[deliveryId, dispatchId]] : []))
  const { members = [] } = await records.read([{ kind: 'members', with: wanted }])
  into.putEvents(members)
}

/** Dispatches that have any of these deliveries: each has a record of its content, or is a digest with members. */
export async function loadOwners(ids: readonly string[], records: Records): Promise<readonly string[]> {
  const columns = ['dispatch_id']
  const { contents = [], members = [] } = await records.read([
    { kind: 'contents', with: keys(ids), columns },
    { kind: 'members', with: keys(ids), columns },
  ])
  return [...new Set([...contents, ...members].map(({ dispatch_id }) => dispatch_id))]
}

export async function readCounters(
  named: readonly TenantName[],
  records: Records,
): Promise<readonly RecordOf<'counters'>[]> {
  const { counters = [] } = await records.read([
    { kind: 'counters', with: named.map(({ tenant, name }) => [tenant, name]) },
  ])
  return counters
}

/** Prefixes of one value. */
export function keys(ids: readonly string[]): readonly Prefix[] {
  return ids.map((id) => [id])
}

type Read = Required<DispatchParts>

interface HeadsAndStates {
  readonly dispatches: readonly RecordOf<'dispatches'>[]
  readonly states: readonly KnownState[]
}

async function readHeadsAndStates(ids: readonly string[], records: Records): Promise<HeadsAndStates> {
  if (ids.length === 0) return { dispatches: [], states: [] }
  const { dispatches = [], states = [] } = await records.read([
    { kind: 'dispatches', with: keys(ids) },
    { kind: 'states', with: keys(ids) },
  ])
  return { dispatches, states: states.map(readState) }
}

/** Reads what belongs to states, in one read. @param withMembers The events of digests too. */
async function readParts(read: HeadsAndStates, withMembers: boolean, records: Records): Promise<Read> {
  const digestIds = digestsIn(read.states)
  const ids = keys([...entriesOf(read.states).map(({ deliveryId }) => deliveryId), ...digestIds])
  const found: Found =
    ids.length === 0
      ? {}
      : await records.read([
          { kind: 'jobs', with: ids },
          { kind: 'contents', with: ids },
          ...(digestIds.length > 0 ? [{ kind: 'digests', with: keys(digestIds) } as const] : []),
          ...(digestIds.length > 0 && withMembers ? [{ kind: 'members', with: keys(digestIds) } as const] : []),
        ])
  const { jobs = [], contents = [], digests = [], members = [] } = found
  return { ...read, jobs, contents, digests, members }
}

async function readWhole(ids: readonly string[], records: Records): Promise<Read> {
  const read = await readParts(await readHeadsAndStates(ids, records), true, records)
  if (read.members.length === 0) return read
  const others = await readParts(await readHeadsAndStates(missing(read), records), true, records)
  const both = joined(read, others)
  // Their dispatches only name the events of digests that none of the wanted dispatches shares.
  const { dispatches = [] } = await records.read([{ kind: 'dispatches', with: keys(missing(both)) }])
  return { ...both, dispatches: [...both.dispatches, ...dispatches] }
}

function joined(one: Read, other: Read): Read {
  const known = new Set(one.digests.map(({ delivery_id }) => delivery_id))
  const isNew = ({ delivery_id }: { readonly delivery_id: string }): boolean => !known.has(delivery_id)
  return {
    dispatches: [...one.dispatches, ...other.dispatches],
    states: [...one.states, ...other.states],
    digests: [...one.digests, ...other.digests.filter(isNew)],
    members: [...one.members, ...other.members.filter(isNew)],
    jobs: [...one.jobs, ...other.jobs.filter(isNew)],
    contents: [...one.contents, ...other.contents.filter(isNew)],
  }
}

/** Dispatches of events that were not read. */
function missing({ members, dispatches }: Pick<Read, 'members' | 'dispatches'>): readonly string[] {
  const known = new Set(dispatches.map(({ dispatch_id }) => dispatch_id))
  return [...new Set(members.map(({ dispatch_id }) => dispatch_id))].filter((id) => !known.has(id))
}

/** The own deliveries of dispatches, without those that left a digest. */
function entriesOf(states: readonly KnownState[]): readonly StoredDelivery[] {
  return states
    .flatMap(({ entries }) => entries)
    .filter((entry): entry is StoredDelivery => !isShared(entry) && entry.digest === undefined)
}

function digestsIn(states: readonly KnownState[]): readonly string[] {
  const shared = states.flatMap(({ entries }) => entries).filter(isShared)
  return [...new Set(shared.map(({ deliveryId }) => deliveryId))]
}

function limitsIn({ dispatches, states }: Read): readonly TenantName[] {
  const tenants = new Map(dispatches.map(({ dispatch_id, tenant }) => [dispatch_id, tenant]))
  return states.flatMap((state) =>
    entriesOf([state]).flatMap(({ limits = [] }) =>
      limits.map(({ key }) => ({ tenant: tenants.get(state.record.dispatch_id) ?? '', name: limitName(key) })),
    ),
  )
}

/** Reads in succession may see different moments. @param hasMore More was read than jobs and contents, which the states tell of. */
async function isOfOneMoment(read: Read, records: Records, hasMore: boolean): Promise<boolean> {
  if (!isComplete(read)) return false
  return (read.digests.length === 0 && !hasMore) || isUnchanged(read, records)
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
    const begun = job && decoded(job.begun)
    if (begun && job && job.attempt - begun.length !== attempts) return false
    return hasContent === filled.has(deliveryId)
  })
}

/** Whether all records of several reads still have their versions, so that they were valid at one moment. */
function isUnchanged({ states, digests }: Read, records: Records): Promise<boolean> {
  const changes = new Changes()
  for (const { record } of states)
    changes.compare('states', { dispatch_id: record.dispatch_id, version: record.version })
  for (const { delivery_id, version } of digests) changes.compare('digests', { delivery_id, version })
  return changes.commit(records).then(
    () => true,
    (cause: unknown) => {
      if (cause instanceof Conflict) return false
      throw cause
    },
  )
}

const STATUSES: Readonly<Record<DispatchStatus, true>> = {
  ...{ queued: true, sent: true, partial: true },
  ...{ failed: true, skipped: true, cancelled: true },
}

/** Reads the status of dispatches in lists, for those whose state does not tell it. */
async function readListed(heads: readonly DispatchHead[], records: Records): Promise<readonly RecordOf<'listed'>[]> {
  const wanted = heads.flatMap(({ tenant, createdAt, dispatchId }) =>
    Object.keys(STATUSES).map((status) => [tenant, status, createdAt, dispatchId]),
  )
  const { listed = [] } = await records.read([{ kind: 'listed', with: wanted }])
  return listed
}
