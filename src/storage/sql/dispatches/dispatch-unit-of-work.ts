import type { DeliveryStatus } from '../../../model/dispatch.ts'
import { type DeliveryIndex, deliveryTransitions, type Transitions } from '../../rules/delivery-transitions.ts'
import {
  type DeliveryRow,
  type DigestEvent,
  type DispatchRow,
  digestKey,
  isOpenDigest,
  openedBefore,
  ownersOf,
} from '../../rules/dispatch-rows.ts'
import { type Changes, Conflict, newChanges } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import type { DeliveryRecord, DigestEventRecord, DispatchRecord, PlanSourceRecord } from '../schema/records.ts'
import { KnownCounters } from './counters.ts'
import {
  addedCounts,
  changeOfRecord,
  type DispatchCounts,
  deliveryRecord,
  deliveryRow,
  dispatchRecord,
  headOf,
  isKeptInDelivery,
  type KnownDelivery,
  type KnownDispatch,
  keptStatus,
  type LeftRecord,
  readJson,
  writeJson,
} from './dispatch-records.ts'

interface Standing {
  readonly place: number
  readonly row: DeliveryRow
}

/**
 * Unit of work: dispatches that the delivery rules change, for one attempt to write them. `write` compares the rows with the records that
 * were read. Put in dispatches first, then events of digests, then deliveries.
 */
export class DispatchUnitOfWork {
  readonly moves: Transitions
  readonly places: DeliveryIndex
  readonly counters: KnownCounters
  readonly #now: number
  readonly #dispatches = new Map<string, KnownDispatch>()
  readonly #deliveries = new Map<string, KnownDelivery>()
  readonly #events = new Map<string, DigestEventRecord[]>()
  readonly #plans = new Map<string, PlanSourceRecord>()
  readonly #standings = new Map<DispatchRow, Standing[]>()
  readonly #removed = new Set<DispatchRow>()

  /**
   * @param now The store's time of all changes, never ahead of the database.
   * @param uncertaintyMs Upper bound of its delay. It is added to delays, so that nothing is due early.
   */
  constructor(now: number, uncertaintyMs = 0) {
    this.#now = now
    this.places = {
      schedule(row, wakeAt) {
        row.wakeAt = wakeAt > now ? wakeAt + uncertaintyMs : wakeAt
        row.slot = 0
      },
      unschedule(row) {
        row.slot = -1
      },
      update(row) {
        // Digests are ordered by the time when they first opened.
        if (row.digest && row.digest.opened === 0 && isOpenDigest(row)) row.digest.opened = now
      },
      openDigest: (row) => this.#openDigest(row),
    }
    this.counters = new KnownCounters(now)
    this.moves = deliveryTransitions(this.places, this.counters.limits)
  }

  /** @param isWhole All its deliveries follow, so that decisions about all of them are possible. */
  putDispatch(record: DispatchRecord, isWhole: boolean): void {
    if (this.#dispatches.has(record.dispatch_id)) return
    const row: DispatchRow = { head: headOf(record), sequence: 0, deliveries: [], plan: undefined }
    this.#dispatches.set(record.dispatch_id, { row, record, isWhole })
    for (const { place, delivery, event } of readJson<LeftRecord[]>(record.records) ?? [])
      this.#stand(row, place, this.#rowOf(delivery, row, [{ dispatch: row, eventData: JSON.parse(event) }]))
  }

  putEvent(record: DigestEventRecord): void {
    const own = this.#events.get(record.delivery_id)
    if (own) own.push(record)
    else this.#events.set(record.delivery_id, [record])
  }

  /** @throws {Conflict} Its dispatch is missing: it left the digest after the delivery was read. */
  putDelivery(record: DeliveryRecord): void {
    if (this.#deliveries.has(record.delivery_id)) return
    const dispatch = this.dispatch(record.dispatch_id)
    if (!dispatch) throw new Conflict()
    const own = this.#eventsOf(record.delivery_id).sort((one, other) => one.number - other.number)
    const gathered = own.flatMap((event): DigestEvent[] => {
      const owner = this.dispatch(event.dispatch_id)
      return owner ? [{ dispatch: owner, eventData: JSON.parse(event.event_data) }] : []
    })
    const row = this.#rowOf(record, dispatch, gathered)
    this.#deliveries.set(record.delivery_id, { row, record })
    if (!row.digest) this.#stand(dispatch, record.place, row)
    for (const event of row.digest ? own : []) {
      const owner = this.dispatch(event.dispatch_id)
      if (owner) this.#stand(owner, event.place, row)
    }
  }

  putPlan(record: PlanSourceRecord): void {
    const row = this.dispatch(record.dispatch_id)
    if (!row) return
    this.#plans.set(record.dispatch_id, record)
    row.plan = { source: JSON.parse(record.source), version: record.version }
  }

  add(row: DispatchRow): void {
    this.#dispatches.set(row.head.dispatchId, { row, isWhole: true })
  }

  remove(row: DispatchRow): void {
    this.#removed.add(row)
  }

  dispatch(dispatchId: string): DispatchRow | undefined {
    return this.#dispatches.get(dispatchId)?.row
  }

  delivery(deliveryId: string): DeliveryRow | undefined {
    return this.#deliveries.get(deliveryId)?.row
  }

  found(deliveryId: string): KnownDelivery | undefined {
    return this.#deliveries.get(deliveryId)
  }

  /** Writes everything that is new or has changed. @throws {Conflict} */
  async write(db: Pick<Database, 'write'>, changes: Changes = newChanges()): Promise<void> {
    let isMoved = false
    for (const known of this.#deliveries.values()) isMoved = this.#saveDelivery(known, changes) || isMoved
    this.counters.save(changes)
    for (const known of this.#dispatches.values()) this.#saveDispatch(known, isMoved, changes)
    this.#saveCounts(changes)
    await db.write(changes)
  }

  #openDigest(row: DeliveryRow): DeliveryRow | undefined {
    if (!row.digest) return undefined
    const key = digestKey(row, row.digest)
    let oldest: DeliveryRow | undefined
    for (const { row: open } of this.#deliveries.values()) {
      if (!open.digest || !isOpenDigest(open) || open.wakeAt <= this.#now) continue
      if (digestKey(open, open.digest) === key && (!oldest || openedBefore(open, oldest))) oldest = open
    }
    return oldest
  }

  #eventsOf(deliveryId: string): DigestEventRecord[] {
    return this.#events.get(deliveryId) ?? []
  }

  #rowOf(record: DeliveryRecord, dispatch: DispatchRow, events: DigestEvent[]): DeliveryRow {
    return deliveryRow(record, dispatch, events, (dispatchId) => this.dispatch(dispatchId))
  }

  #stand(dispatch: DispatchRow, place: number, row: DeliveryRow): void {
    const own = this.#standings.get(dispatch) ?? []
    this.#standings.set(dispatch, own)
    own.push({ place, row })
    own.sort((one, other) => one.place - other.place)
    dispatch.deliveries = own.map((standing) => standing.row)
  }

  /** Whether a row was put in as a delivery, and not as a {@link LeftRecord}. */
  #isStored(row: DeliveryRow): boolean {
    return this.delivery(row.deliveryId) === row
  }

  /** @param isMoved Whether any delivery is written. */
  #saveDispatch({ row, record, isWhole }: KnownDispatch, isMoved: boolean, changes: Changes): void {
    const isRemoved = this.#removed.has(row)
    this.#savePlan(row, isRemoved, changes)
    if (!record) {
      changes.insert('dispatches', dispatchRecord(row))
      for (const [place, delivery] of row.deliveries.entries()) {
        if (!this.#isStored(delivery))
          changes.insert('deliveries', deliveryRecord(delivery, place, 1, isKeptInDelivery(row)))
        if (delivery.digest) this.#insertEvent(row, delivery, place, changes)
      }
      return
    }
    if (!isWhole) return
    if (isRemoved) {
      changes.remove('dispatches', { dispatch_id: record.dispatch_id, version: record.version })
      return
    }
    // The version guards decisions about all its deliveries. It is not needed if no delivery changes and none is shared: one statement
    // read them.
    const isErased = record.recipient !== row.head.recipient
    if (!isMoved && !isErased && record.digested === null) return
    const digested = record.digested ?? (row.deliveries.some(({ digest }) => digest) ? 1 : null)
    const kept = { digested, records: this.#leftRecords(row), ...keptStatus(row) }
    if (isErased) {
      const { dispatch_id, version } = record
      changes.remove('dispatches', { dispatch_id, version })
      changes.insert('dispatches', { ...dispatchRecord(row), ...kept, version: version + 1 })
    } else changes.update('dispatches', { ...record, ...kept })
    for (const [at, { place }] of (this.#standings.get(row) ?? []).entries()) {
      const delivery = row.deliveries[at]
      if (delivery && this.#isNewEvent(row, delivery)) this.#insertEvent(row, delivery, place, changes)
    }
  }

  /** The stored source changes only with its dispatch, whose version guards it. */
  #savePlan({ plan, head: { dispatchId: dispatch_id } }: DispatchRow, isRemoved: boolean, changes: Changes): void {
    const record = this.#plans.get(dispatch_id)
    if (record && (isRemoved || !plan)) changes.remove('plan_sources', { dispatch_id, version: record.version })
    else if (record && plan?.version !== record.version) changes.update('plan_sources', record)
    else if (!record && plan)
      changes.insert('plan_sources', { dispatch_id, source: JSON.stringify(plan.source), version: plan.version })
  }

  /** Whether a replan has added the event of the dispatch to a digest. */
  #isNewEvent({ head }: DispatchRow, delivery: DeliveryRow): boolean {
    if (!delivery.digest || !this.#isStored(delivery)) return false
    return this.#eventsOf(delivery.deliveryId).every((event) => event.dispatch_id !== head.dispatchId)
  }

  #insertEvent(dispatch: DispatchRow, delivery: DeliveryRow, place: number, changes: Changes): void {
    const event = delivery.digest?.events.find((one) => one.dispatch === dispatch)
    changes.insert('digest_events', {
      delivery_id: delivery.deliveryId,
      dispatch_id: dispatch.head.dispatchId,
      number: (this.#eventsOf(delivery.deliveryId).at(-1)?.number ?? 0) + 1,
      place,
      event_data: JSON.stringify(event?.eventData),
      version: 1,
    })
  }

  #leftRecords(dispatch: DispatchRow): string | null {
    const left = (this.#standings.get(dispatch) ?? []).flatMap(({ place }, at): LeftRecord[] => {
      const row = dispatch.deliveries[at]
      if (!row || this.#isStored(row)) return []
      const event = JSON.stringify(row.digest?.events[0]?.eventData)
      return [{ place, delivery: deliveryRecord(row, place, 0, false), event }]
    })
    return writeJson(left.length > 0 ? left : undefined)
  }

  #saveDelivery({ row, record }: KnownDelivery, changes: Changes): boolean {
    const { delivery_id, version } = record
    const gathered = this.#eventsOf(delivery_id)
    const owners = new Set(row.digest?.events.map(({ dispatch }) => dispatch.head.dispatchId))
    const { isWhole = false } = this.#dispatches.get(row.dispatch.head.dispatchId) ?? {}
    // Joined: a replan moved its event to the digest of another delivery.
    const hasJoined = isWhole && !row.dispatch.deliveries.includes(row)
    const isGone = hasJoined || this.#removed.has(row.dispatch)
    const isErased = record.address !== null && row.address === undefined
    for (const event of gathered) {
      const { dispatch_id, version } = event
      const hasLeft = isGone || !owners.has(dispatch_id)
      if (hasLeft || isErased) changes.remove('digest_events', { delivery_id, dispatch_id, version })
      if (!hasLeft && isErased) changes.insert('digest_events', { ...event, event_data: '{}', version: version + 1 })
    }
    if (isGone) {
      changes.remove('deliveries', { delivery_id, version })
      return true
    }
    const own = gathered.find((event) => event.dispatch_id === row.dispatch.head.dispatchId)
    // If the dispatch is not whole, the row keeps the status only if it did before.
    const isKept = isWhole ? isKeptInDelivery(row.dispatch) : record.dispatch_status !== null
    const after = deliveryRecord(row, own?.place ?? record.place, version, isKept)
    const change = changeOfRecord(record, after)
    if (!change && owners.size === gathered.length) return false
    if (change === 'replace') {
      changes.remove('deliveries', { delivery_id, version })
      changes.insert('deliveries', { ...after, version: version + 1 })
    } else changes.update('deliveries', after.content === record.content ? { ...after, content: null } : after)
    return true
  }

  /** Adds changed deliveries to the counts of dispatches that are not whole. */
  #saveCounts(changes: Changes): void {
    const added = new Map<string, DispatchCounts>()
    for (const { row, record } of this.#deliveries.values()) {
      for (const { head } of ownersOf(row)) {
        const known = this.#dispatches.get(head.dispatchId)
        if (!known?.record || known.isWhole || known.record.status === null) continue
        const counts = addedCounts(record.status as DeliveryStatus, row.status, added.get(head.dispatchId))
        if (counts) added.set(head.dispatchId, counts)
      }
    }
    for (const [dispatch_id, counts] of added) changes.count({ dispatch_id, ...counts })
  }
}
