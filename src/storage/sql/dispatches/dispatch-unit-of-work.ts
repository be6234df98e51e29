import type { DispatchHead, DispatchStatus } from '../../../model/dispatch.ts'
import type { JsonObject } from '../../../model/json.ts'
import type { PlanSource } from '../../../ports/plan-source.ts'
import { isShared, type StoredDelivery } from '../../engine/dispatches/stored-deliveries.ts'
import { type DeliveryIndex, deliveryTransitions, type Transitions } from '../../rules/delivery-transitions.ts'
import { digestKey, isOpenDigest, openedBefore } from '../../rules/digests.ts'
import {
  currentStatus,
  type DeliveryRow,
  type DigestEvent,
  type DigestRow,
  type DispatchRow,
} from '../../rules/dispatch-rows.ts'
import { type Changes, Conflict, newChanges } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import type {
  ContentRecord,
  DigestRecord,
  DispatchRecord,
  JobRecord,
  ListedRecord,
  MemberRecord,
  PlanSourceRecord,
} from '../schema/records.ts'
import { decode } from '../schema/stored-json.ts'
import { KnownCounters } from './counters.ts'
import { type ToldOutcome, toldOutcomes } from './damaged-states.ts'
import { deliveryRow, type KnownState, readContent, readDigest } from './delivery-states.ts'
import { headOf } from './dispatch-records.ts'
import { type KnownDigest, type KnownRecords, knownRecords, saveDispatches } from './save-dispatches.ts'

/** Records that were read. */
export interface DispatchParts {
  readonly heads?: readonly DispatchRecord[]
  /** States of dispatches whose digests are all here too, or were put in before. */
  readonly states?: readonly KnownState[]
  readonly digests?: readonly DigestRecord[]
  /** All events of each digest, or none of it where events only join or it is only shown. */
  readonly members?: readonly MemberRecord[]
  readonly jobs?: readonly JobRecord[]
  readonly contents?: readonly ContentRecord[]
}

/**
 * Unit of work: dispatches that the delivery rules change, for one attempt to write them. `write` compares the rows with the records that
 * were read.
 */
export class DispatchUnitOfWork {
  readonly moves: Transitions
  readonly places: DeliveryIndex
  readonly counters: KnownCounters
  readonly #now: number
  readonly #known: KnownRecords = knownRecords()
  /** Digests that events may join, by key. */
  readonly #open = new Map<string, Set<DeliveryRow>>()
  #written: readonly KnownState[] = []

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
      update: (row) => {
        if (!row.digest || !isOpenDigest(row)) return
        // Digests are ordered by the time when they first opened.
        if (row.digest.opened === 0) row.digest.opened = now
        this.#knowOpen(row, row.digest)
      },
      resize() {},
      openDigest: (row) => this.#openDigest(row),
    }
    this.counters = new KnownCounters(now)
    this.moves = deliveryTransitions(this.places, this.counters.limits)
  }

  /** @throws {Conflict} The records are of different moments. */
  put(parts: DispatchParts): void {
    const { heads = [], states = [], digests = [], members = [] } = parts
    const jobs = new Map(parts.jobs?.map((job) => [job.delivery_id, job]))
    const contents = new Map(parts.contents?.map((content) => [content.delivery_id, content]))
    const sharers = new Map<string, string>()
    for (const { record, entries } of states)
      for (const entry of entries) if (isShared(entry)) sharers.set(entry.deliveryId, record.dispatch_id)
    const tellOf = (digestId: string): ToldOutcome => {
      const { record, entries } = states.find(({ record }) => record.dispatch_id === sharers.get(digestId)) ?? {}
      const at = entries?.findIndex(({ deliveryId }) => deliveryId === digestId) ?? -1
      const told = record && toldOutcomes(record)[at]
      return told ?? { channel: jobs.get(digestId)?.channel ?? '', word: 'open' }
    }
    const events = new Map<string, MemberRecord[]>()
    for (const member of members) {
      const own = events.get(member.delivery_id)
      if (own) own.push(member)
      else events.set(member.delivery_id, [member])
    }
    for (const record of heads) {
      if (this.#known.dispatches.has(record.dispatch_id)) continue
      const row: DispatchRow = { head: headOf(record), sequence: 0, deliveries: [], plan: undefined }
      this.#known.dispatches.set(record.dispatch_id, { row, record })
    }
    const dispatchOf = (dispatchId: string): DispatchRow | undefined => this.dispatch(dispatchId)
    const rowOf = (stored: StoredDelivery, dispatch: DispatchRow, events?: DigestEvent[]): DeliveryRow => {
      const content = readContent(contents.get(stored.deliveryId))
      return deliveryRow(stored, { dispatch, job: jobs.get(stored.deliveryId), content, events, dispatchOf })
    }
    const know = (stored: StoredDelivery, row: DeliveryRow, digest?: KnownDigest): void => {
      const { deliveryId, digest: isDigest, hasContent = false, isDamaged } = stored
      const has = isDamaged ? contents.has(deliveryId) : !isDigest || hasContent
      const known = { row, stored, job: jobs.get(deliveryId), content: row.content, hasContent: has }
      this.#known.deliveries.set(stored.deliveryId, digest ? { ...known, digest } : known)
      if (row.digest && digest) this.#knowOpen(row, row.digest)
    }
    for (const digest of digests) {
      if (this.#known.deliveries.has(digest.delivery_id)) continue
      const members = (events.get(digest.delivery_id) ?? []).sort((one, other) => one.number - other.number)
      const owner =
        members[0]?.dispatch_id ?? sharers.get(digest.delivery_id) ?? jobs.get(digest.delivery_id)?.dispatch_id
      const first = this.dispatch(owner ?? '')
      if (!first) throw new Conflict('a digest has no dispatch')
      const stored = readDigest(digest, tellOf)
      know(stored, rowOf(stored, first, this.#eventsOf(members)), { record: digest, members })
    }
    for (const state of states) {
      const found = this.#known.dispatches.get(state.record.dispatch_id)
      if (!found || found.state) continue
      found.state = state
      found.row.deliveries = state.entries.map((entry) => {
        if (isShared(entry)) return this.#sharedRow(entry.deliveryId)
        if (entry.digest) return this.#apartRow(entry, found.row)
        const row = rowOf(entry, found.row)
        know(entry, row)
        return row
      })
      found.status = currentStatus(found.row)
    }
  }

  #sharedRow(deliveryId: string): DeliveryRow {
    const row = this.delivery(deliveryId)
    if (!row) throw new Conflict('a digest is missing')
    return row
  }

  /** Its job is that of the others. */
  #apartRow(entry: StoredDelivery, dispatch: DispatchRow): DeliveryRow {
    const row = deliveryRow(entry, { dispatch, dispatchOf: (dispatchId) => this.dispatch(dispatchId) })
    this.#known.apart.set(row, entry)
    return row
  }

  /** Dispatches with a state or a digest that cannot be read. */
  get damaged(): readonly DispatchHead[] {
    const isDamaged = (row: DispatchRow): boolean => row.deliveries.some((delivery) => delivery.isDamaged)
    const known = [...this.#known.dispatches.values()]
    return known.flatMap(({ row, state }) => (state?.isDamaged || isDamaged(row) ? row.head : []))
  }

  /** Ids of the dispatches whose state cannot be read. */
  get damagedStates(): readonly string[] {
    return [...this.#known.dispatches].flatMap(([id, { state }]) => (state?.isDamaged ? id : []))
  }

  /** Where dispatches are listed, which their states do not tell. */
  putListed(records: readonly ListedRecord[]): void {
    for (const { dispatch_id, status } of records) {
      const known = this.#known.dispatches.get(dispatch_id)
      if (known) known.status = status as DispatchStatus
    }
  }

  /** Replaces damaged records of a dispatch by what other records tell. */
  repair(row: DispatchRow): void {
    this.#known.repaired.add(row)
  }

  /** Adds events to a digest that was read without them. */
  putEvents(members: readonly MemberRecord[]): void {
    for (const member of members) this.delivery(member.delivery_id)?.digest?.events.push(...this.#eventsOf([member]))
  }

  putPlan(record: PlanSourceRecord): void {
    const row = this.dispatch(record.dispatch_id)
    if (!row) return
    this.#known.plans.set(record.dispatch_id, record)
    const source = decode<PlanSource>('plan_sources.source', record.source)
    row.plan = source && { source, version: record.version }
  }

  add(row: DispatchRow): void {
    this.#known.dispatches.set(row.head.dispatchId, { row })
  }

  remove(row: DispatchRow): void {
    this.#known.removed.add(row)
  }

  dispatch(dispatchId: string): DispatchRow | undefined {
    return this.#known.dispatches.get(dispatchId)?.row
  }

  delivery(deliveryId: string): DeliveryRow | undefined {
    return this.#known.deliveries.get(deliveryId)?.row
  }

  jobVersion(deliveryId: string): number | undefined {
    return this.#known.deliveries.get(deliveryId)?.job?.version
  }

  /** Start of the key of a digest that an event may join. */
  openKey(deliveryId: string): string | undefined {
    return this.#known.deliveries.get(deliveryId)?.digest?.record.open_key ?? undefined
  }

  /** States that were written, as they are now stored. */
  get written(): readonly KnownState[] {
    return this.#written
  }

  /** Writes everything that is new or has changed. @throws {Conflict} */
  async write(db: Pick<Database, 'write'>, changes: Changes = newChanges()): Promise<void> {
    const states = saveDispatches(this.#known, changes)
    this.counters.save(changes)
    await db.write(changes)
    this.#written = states
  }

  #openDigest(row: DeliveryRow): DeliveryRow | undefined {
    if (!row.digest) return undefined
    let oldest: DeliveryRow | undefined
    for (const open of this.#open.get(digestKey(row, row.digest)) ?? []) {
      if (!isOpenDigest(open) || open.wakeAt <= this.#now) continue
      if (!oldest || openedBefore(open, oldest)) oldest = open
    }
    return oldest
  }

  #knowOpen(row: DeliveryRow, digest: DigestRow): void {
    const key = digestKey(row, digest)
    const open = this.#open.get(key)
    if (open) open.add(row)
    else this.#open.set(key, new Set([row]))
  }

  #eventsOf(members: readonly MemberRecord[]): DigestEvent[] {
    return members.flatMap((member): DigestEvent[] => {
      const dispatch = this.dispatch(member.dispatch_id)
      const eventData = decode<JsonObject>('members.event_data', member.event_data) ?? {}
      return dispatch ? [{ dispatch, eventData }] : []
    })
  }
}
