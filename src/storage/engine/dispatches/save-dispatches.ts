import { type Content, type DispatchStatus, ERASED } from '../../../model/dispatch.ts'
import { digestKey, isOpenDigest } from '../../rules/digests.ts'
import { currentStatus, type DeliveryRow, type DispatchRow } from '../../rules/dispatch-rows.ts'
import { type Changes, firstVersion } from '../changes.ts'
import type { RecordOf } from '../kinds.ts'
import { indexKey } from '../stored-texts.ts'
import { outcomesOf } from './damaged-states.ts'
import { type KnownState, storedDelivery } from './delivery-states.ts'
import {
  type DispatchRecord,
  dispatchRecord,
  isSameJob,
  type JobRecord,
  jobRecord,
  listedRecord,
} from './dispatch-records.ts'
import { isSameJson } from './same-json.ts'
import { isShared, type StoredDelivery, type StoredEntry } from './stored-deliveries.ts'

export interface KnownDispatch {
  readonly row: DispatchRow
  /** Absent: it is new. */
  readonly record?: DispatchRecord
  /** Absent: only its head is known. */
  state?: KnownState
  status?: DispatchStatus
}

export interface KnownDigest {
  readonly record: RecordOf<'digests'>
  /** Events, in the order of their numbers; none where events only join. */
  readonly members: readonly RecordOf<'members'>[]
}

/** A delivery that was read. */
export interface KnownDelivery {
  readonly row: DeliveryRow
  readonly stored: StoredDelivery
  readonly job: JobRecord | undefined
  readonly content: Content | undefined
  /** Whether it has a record of its content. */
  readonly hasContent: boolean
  /** A delivery that dispatches may share. */
  readonly digest?: KnownDigest
}

/** Records that a unit of work has read, and the rows that the rules change. */
export interface KnownRecords {
  readonly dispatches: Map<string, KnownDispatch>
  /** Deliveries by their ids; a digest is here once. */
  readonly deliveries: Map<string, KnownDelivery>
  /** Deliveries that their dispatches no longer share, as they were read. */
  readonly apart: Map<DeliveryRow, StoredDelivery>
  readonly plans: Map<string, RecordOf<'plan_sources'>>
  readonly removed: Set<DispatchRow>
  /** Dispatches whose damaged records are replaced by what other records tell. */
  readonly repaired: Set<DispatchRow>
}

export function knownRecords(): KnownRecords {
  const sets = { removed: new Set<DispatchRow>(), repaired: new Set<DispatchRow>() }
  return { dispatches: new Map(), deliveries: new Map(), apart: new Map(), plans: new Map(), ...sets }
}

/** Adds everything that is new or has changed. Returns the states as they are stored then. */
export function saveDispatches(known: KnownRecords, changes: Changes): readonly KnownState[] {
  return new DispatchSaver(known, changes).save()
}

/** Compares rows with the records that were read. */
class DispatchSaver {
  readonly #known: KnownRecords
  readonly #changes: Changes
  readonly #states: KnownState[] = []
  /** Number of the last event of each digest that events have joined. */
  readonly #joined = new Map<DeliveryRow, number>()
  /** Deliveries whose state is written. */
  readonly #written = new Map<DeliveryRow, StoredEntry>()

  constructor(known: KnownRecords, changes: Changes) {
    this.#known = known
    this.#changes = changes
  }

  save(): readonly KnownState[] {
    const { dispatches, deliveries } = this.#known
    for (const known of dispatches.values()) this.#saveDispatch(known)
    for (const known of deliveries.values()) if (known.digest) this.#saveDigest(known, known.digest)
    for (const [row, joined] of this.#joined)
      if (this.#isNewDigest(row)) this.#changes.insert('digests', digestRecord(row, firstVersion(), joined))
    for (const known of deliveries.values()) this.#saveParts(known, this.#written.get(known.row))
    return this.#states
  }

  /** Whether a row is the delivery of a digest that was read, and not one that left it. */
  #isShared(row: DeliveryRow): boolean {
    const known = this.#known.deliveries.get(row.deliveryId)
    return known?.row === row && known.digest !== undefined
  }

  /** Whether a row is a digest that was accepted or replanned now. */
  #isNewDigest(row: DeliveryRow): boolean {
    if (!row.digest || this.#known.apart.has(row)) return false
    return this.#known.deliveries.get(row.deliveryId)?.digest === undefined
  }

  #saveDispatch(known: KnownDispatch): void {
    const { row, record, state } = known
    const isRemoved = this.#known.removed.has(row)
    this.#savePlan(row, isRemoved)
    if (!record) this.#insert(row)
    else if (state && isRemoved) this.#removeWhole(known, record, state)
    else if (state) this.#saveState(known, record, state)
  }

  #saveState({ row, status: before }: KnownDispatch, record: DispatchRecord, known: KnownState): void {
    const { record: state, isDamaged = false } = known
    const isErased = record.recipient !== row.head.recipient
    const isKept = isDamaged && this.#staysDamaged(row)
    if (isErased) {
      this.#changes.remove('dispatches', { dispatch_id: record.dispatch_id, version: record.version })
      this.#changes.insert('dispatches', dispatchRecord(row, record.version + 1))
    }
    for (const delivery of row.deliveries) this.#insertNew(row, delivery, firstVersion())
    const entries = row.deliveries.map((delivery) => this.#entryOf(delivery))
    const outcomes = outcomesOf(row)
    const isSame = isKept || (!isDamaged && isSameJson(entries, known.entries))
    if (isSame && outcomes === state.outcomes && !isErased) return
    // A damaged text stays as it is.
    this.#changes.update('states', { ...state, body: isKept ? null : entries, outcomes })
    if (!isKept) {
      this.#states.push({ record: { ...state, body: entries, outcomes, version: state.version + 1 }, entries })
    }
    for (const [at, delivery] of row.deliveries.entries()) {
      const entry = entries[at]
      if (entry && !isShared(entry)) this.#written.set(delivery, entry)
    }
    const status = currentStatus(row)
    if (status === before) return
    if (before) this.#changes.remove('listed', listedRecord(row, before))
    this.#changes.insert('listed', listedRecord(row, status))
  }

  /** Whether damaged texts of a dispatch stay as they are. */
  #staysDamaged(row: DispatchRow): boolean {
    const { recipient } = this.#known.dispatches.get(row.head.dispatchId)?.record ?? row.head
    return recipient === row.head.recipient && !this.#known.repaired.has(row)
  }

  #entryOf(row: DeliveryRow): StoredEntry {
    if (this.#isShared(row) || this.#isNewDigest(row)) return { deliveryId: row.deliveryId, shared: true }
    return storedDelivery(row, row.digest !== undefined)
  }

  #insert(row: DispatchRow): void {
    this.#changes.insert('dispatches', dispatchRecord(row))
    for (const delivery of row.deliveries) this.#insertNew(row, delivery, 1)
    const state = { dispatch_id: row.head.dispatchId, outcomes: outcomesOf(row), version: 1 }
    this.#changes.insert('states', { ...state, body: row.deliveries.map((one) => this.#entryOf(one)) })
    this.#changes.insert('listed', listedRecord(row))
  }

  /** Inserts what a new delivery has besides its entry in the state, and the event of a digest that the dispatch joins. */
  #insertNew(dispatch: DispatchRow, row: DeliveryRow, version: number): void {
    const known = this.#known.deliveries.get(row.deliveryId)
    if (known?.digest && known.row === row) {
      const { members, record } = known.digest
      const isNew = members.every((member) => member.dispatch_id !== dispatch.head.dispatchId)
      if (isNew) this.#insertMember(dispatch, row, record.joined)
      return
    }
    const isOpened = this.#joined.has(row)
    if (this.#isNewDigest(row)) this.#insertMember(dispatch, row, 0)
    if (isOpened || known || this.#known.apart.has(row)) return
    if (row.slot >= 0) this.#changes.insert('jobs', jobRecord(row, version))
    if (hasContentRecord(row)) this.#changes.insert('contents', contentRecord(row))
  }

  #removeWhole({ row, status }: KnownDispatch, record: DispatchRecord, { record: state }: KnownState): void {
    const { dispatch_id } = record
    this.#changes.remove('dispatches', { dispatch_id, version: record.version })
    this.#changes.remove('states', { dispatch_id, version: state.version })
    if (status) this.#changes.remove('listed', listedRecord(row, status))
  }

  /** The stored source changes only with its dispatch, whose version guards it. */
  #savePlan({ plan, head: { dispatchId: dispatch_id } }: DispatchRow, isRemoved: boolean): void {
    const record = this.#known.plans.get(dispatch_id)
    if (record && (isRemoved || !plan)) this.#changes.remove('plan_sources', { dispatch_id, version: record.version })
    else if (record && plan?.version !== record.version) this.#changes.update('plan_sources', record)
    else if (!record && plan)
      this.#changes.insert('plan_sources', { dispatch_id, source: plan.source, version: plan.version })
  }

  #saveDigest({ row, stored }: KnownDelivery, { record, members }: KnownDigest): void {
    const { delivery_id, version } = record
    const owners = new Set(row.digest?.events.map(({ dispatch }) => dispatch.head.dispatchId))
    const isGone = this.#known.removed.has(row.dispatch)
    const isErased = row.digest?.key === ERASED && stored.digest?.key !== ERASED
    for (const member of members) {
      const hasLeft = isGone || !owners.has(member.dispatch_id)
      const { dispatch_id, version } = member
      if (hasLeft || isErased) this.#changes.remove('members', { delivery_id, dispatch_id, version })
      if (!hasLeft && isErased) this.#changes.insert('members', { ...member, event_data: {}, version: version + 1 })
    }
    if (isGone) {
      this.#changes.remove('digests', { delivery_id, version })
      return
    }
    if (stored.isDamaged && this.#staysDamaged(row.dispatch)) return
    const after = digestRecord(row, version, this.#joined.get(row) ?? record.joined)
    if (isSameJson(after, record)) return
    this.#changes.update('digests', after)
    this.#written.set(row, { deliveryId: delivery_id, shared: true })
  }

  /**
   * Writes the job and the content of a delivery. A decision about a delivery with a job also compares the version of the job, because a
   * claim does not change the state.
   * @param entry Absent: its state is not written.
   */
  #saveParts(
    { row, stored, job, content, hasContent: had, digest }: KnownDelivery,
    entry: StoredEntry | undefined,
  ): void {
    const { deliveryId: delivery_id } = row
    const isKept = stored.isDamaged && this.#staysDamaged(row.dispatch)
    const has = (isKept ? had : hasContentRecord(row)) && !this.#known.removed.has(row.dispatch)
    const isSame = had === has && row.content === content
    if (had && !isSame) this.#changes.remove('contents', { delivery_id, version: 1 })
    if (has && !isSame) this.#changes.insert('contents', contentRecord(row))
    if (row.slot < 0) {
      if (job) this.#changes.remove('jobs', { delivery_id, version: job.version })
      return
    }
    const after = jobRecord(row, job?.version ?? firstVersion())
    if (!job) this.#changes.insert('jobs', after)
    else if (!isSameJob(job, after) || (entry && isOther(stored, entry))) {
      this.#changes.update('jobs', after)
      if (!entry) this.#compareState(row, digest)
    }
  }

  /** A job may have been read after a decision that only its state tells of. */
  #compareState({ deliveryId: delivery_id, dispatch }: DeliveryRow, digest: KnownDigest | undefined): void {
    if (digest) this.#changes.compare('digests', { delivery_id, version: digest.record.version })
    const { dispatchId: dispatch_id } = dispatch.head
    const { record } = this.#known.dispatches.get(dispatch_id)?.state ?? {}
    if (!digest && record) this.#changes.compare('states', { dispatch_id, version: record.version })
  }

  /** @param joined Number of the last event before it. */
  #insertMember({ head }: DispatchRow, row: DeliveryRow, joined: number): void {
    const event = row.digest?.events.find(({ dispatch }) => dispatch.head === head)
    const number = (this.#joined.get(row) ?? joined) + 1
    this.#joined.set(row, number)
    this.#changes.insert('members', {
      delivery_id: row.deliveryId,
      dispatch_id: head.dispatchId,
      number,
      event_data: event?.eventData ?? {},
      version: 1,
    })
  }
}

function isOther(stored: StoredDelivery, entry: StoredEntry): boolean {
  return isShared(entry) || !isSameJson(stored, entry)
}

/** Whether there is a record of its content: always, unless it is a digest that was not rendered or is erased. */
function hasContentRecord({ digest, content }: DeliveryRow): boolean {
  return digest === undefined || content !== undefined
}

function contentRecord(row: DeliveryRow): RecordOf<'contents'> {
  const dispatch_id = row.dispatch.head.dispatchId
  return {
    delivery_id: row.deliveryId,
    dispatch_id,
    body: row.content ?? null,
    version: 1,
  }
}

function digestRecord(row: DeliveryRow, version: number, joined: number): RecordOf<'digests'> {
  return {
    delivery_id: row.deliveryId,
    open_key: row.digest && isOpenDigest(row) ? indexKey(digestKey(row, row.digest)) : null,
    joined,
    body: storedDelivery(row),
    version,
  }
}
