import {
  type Counter,
  type DeliveryIndex,
  deliveryTransitions,
  sendLimits,
  type Transitions,
} from '../../rules/delivery-transitions.ts'
import {
  type DeliveryRow,
  type DigestEvent,
  type DispatchRow,
  digestKey,
  isOpenDigest,
} from '../../rules/dispatch-rows.ts'
import type { Changes } from '../connection/changes.ts'
import type {
  CounterRecord,
  DeliveryRecord,
  DigestEventRecord,
  DispatchRecord,
  PlanSourceRecord,
} from '../schema/records.ts'
import { isChanged, isMadeAnew, openedBefore } from './compare-deliveries.ts'
import { counterKey, counterRecord, endOf, type KnownCounter, knownCounter, limitName } from './counter-records.ts'
import { countsOfParts } from './counts-of-parts.ts'
import { deliveryRecord, deliveryRow, dispatchRecord, headOf, readJson, writeJson } from './delivery-records.ts'
import { isKeptInDelivery, keptStatus } from './dispatch-status.ts'
import { knownPlans } from './known-plans.ts'

/**
 * What was read of some dispatches, as the rules of deliveries take it, and what they have made of it: for one attempt at
 * changing it. What has changed is found by comparing.
 */
export interface DispatchUnitOfWork {
  readonly moves: Transitions
  readonly places: DeliveryIndex
  /**
   * Takes in what was read: dispatches first, then events of digests, then deliveries.
   *
   * @param whole All its deliveries follow, and something may be decided by looking at them together.
   */
  putDispatch(record: DispatchRecord, whole: boolean): void
  putEvent(record: DigestEventRecord): void
  putDelivery(record: DeliveryRecord): void
  putCounter(record: CounterRecord): void
  /** After its dispatch. */
  putPlan(record: PlanSourceRecord): void
  /** Who else comes to this name at the same time has to try again. */
  takeTurn(tenant: string, name: string): void
  /** A dispatch that is new. */
  add(dispatch: DispatchRow): void
  /** A dispatch that goes, with what is its alone. */
  remove(dispatch: DispatchRow): void
  dispatch(dispatchId: string): DispatchRow | undefined
  delivery(deliveryId: string): DeliveryRow | undefined
  /** A delivery that was taken in: what has become of it, and what was read. */
  found(deliveryId: string): KnownDelivery | undefined
  /** Writes down all that is new or has changed. */
  save(changes: Changes): void
}

/** A delivery as it stands in a dispatch: in one that shares it, where that one's own would be. */
interface Standing {
  readonly place: number
  readonly row: DeliveryRow
}

/** A dispatch as it is now, and as it was read. */
export interface KnownDispatch {
  readonly row: DispatchRow
  /** Absent: it is new. */
  readonly record?: DispatchRecord
  readonly isWhole: boolean
}

/** A delivery as it is now, and as it was read. */
export interface KnownDelivery {
  readonly row: DeliveryRow
  readonly record: DeliveryRecord
}

/** What a dispatch keeps of a delivery that it shared, in its place. */
interface LeftRecord {
  readonly place: number
  readonly delivery: DeliveryRecord
  readonly event: string
}

/** So long a name that somebody took a turn by is kept at least. */
const TURN_MS = 60_000

/**
 * @param now When all this happens, by the store's clock: never later than it is.
 * @param uncertaintyMs Less than so much later it may be. What is put off counts from then, so that it is never due early.
 */
export function dispatchUnitOfWork(now: number, uncertaintyMs = 0): DispatchUnitOfWork {
  const dispatches = new Map<string, KnownDispatch>()
  const deliveries = new Map<string, KnownDelivery>()
  const events = new Map<string, DigestEventRecord[]>()
  const counters = new Map<string, KnownCounter>()
  const standings = new Map<DispatchRow, Standing[]>()
  const removed = new Set<DispatchRow>()
  const plans = knownPlans()

  const places: DeliveryIndex = {
    schedule(row, wakeAt) {
      row.wakeAt = wakeAt > now ? wakeAt + uncertaintyMs : wakeAt
      row.slot = 0
    },
    unschedule(row) {
      row.slot = -1
    },
    update(row) {
      // In which order digests were first open is told by when.
      if (row.digest && row.digest.opened === 0 && isOpenDigest(row)) row.digest.opened = now
    },
    openDigest(row) {
      if (!row.digest) return undefined
      const key = digestKey(row, row.digest)
      let oldest: DeliveryRow | undefined
      for (const { row: open } of deliveries.values()) {
        if (!open.digest || !isOpenDigest(open) || open.wakeAt <= now || digestKey(open, open.digest) !== key) continue
        if (!oldest || openedBefore(open, oldest)) oldest = open
      }
      return oldest
    },
  }

  const limits = sendLimits({
    find(tenant, key) {
      const found = counters.get(counterKey(tenant, limitName(key)))?.counter
      return found && endOf(found) > now ? found : undefined
    },
    keep: (counter) => change(limitName(counter.name), counter),
  })

  function change(name: string, counter: Counter): void {
    const key = counterKey(counter.tenant, name)
    counters.set(key, { name, counter, version: counters.get(key)?.version ?? 0, isChanged: true })
  }

  function stand(dispatch: DispatchRow, place: number, row: DeliveryRow): void {
    const own = standings.get(dispatch) ?? []
    standings.set(dispatch, own)
    own.push({ place, row })
    own.sort((one, other) => one.place - other.place)
    dispatch.deliveries = own.map((standing) => standing.row)
  }

  const self: DispatchUnitOfWork = {
    moves: deliveryTransitions(places, limits),
    places,

    putDispatch(record, isWhole) {
      if (dispatches.has(record.dispatch_id)) return
      const row: DispatchRow = { head: headOf(record), sequence: 0, deliveries: [], plan: undefined }
      dispatches.set(record.dispatch_id, { row, record, isWhole })
      for (const { place, delivery, event } of readJson<LeftRecord[]>(record.records) ?? [])
        stand(row, place, deliveryRow(delivery, row, [{ dispatch: row, eventData: JSON.parse(event) }], self.dispatch))
    },

    putEvent(record) {
      const own = events.get(record.delivery_id)
      if (own) own.push(record)
      else events.set(record.delivery_id, [record])
    },

    putDelivery(record) {
      const dispatch = self.dispatch(record.dispatch_id)
      if (!dispatch || deliveries.has(record.delivery_id)) return
      const own = (events.get(record.delivery_id) ?? []).sort((one, other) => one.number - other.number)
      const gathered = own.flatMap((event): DigestEvent[] => {
        const owner = self.dispatch(event.dispatch_id)
        return owner ? [{ dispatch: owner, eventData: JSON.parse(event.event_data) }] : []
      })
      const row = deliveryRow(record, dispatch, gathered, self.dispatch)
      deliveries.set(record.delivery_id, { row, record })
      if (!row.digest) return stand(dispatch, record.place, row)
      for (const event of own) {
        const owner = self.dispatch(event.dispatch_id)
        if (owner) stand(owner, event.place, row)
      }
    },

    putCounter(record) {
      counters.set(counterKey(record.tenant, record.name), knownCounter(record))
    },

    putPlan(record) {
      const row = self.dispatch(record.dispatch_id)
      if (row) plans.put(row, record)
    },

    takeTurn: (tenant, name) => change(name, { tenant, name, times: [now], max: 1, windowMs: TURN_MS }),
    add(row) {
      dispatches.set(row.head.dispatchId, { row, isWhole: true })
    },
    remove: (row) => void removed.add(row),
    dispatch: (dispatchId) => dispatches.get(dispatchId)?.row,
    delivery: (deliveryId) => deliveries.get(deliveryId)?.row,
    found: (deliveryId) => deliveries.get(deliveryId),

    save(changes) {
      let isMoved = false
      for (const { row, record } of deliveries.values()) isMoved = saveDelivery(row, record, changes) || isMoved
      for (const known of counters.values())
        if (known.isChanged) changes[known.version === 0 ? 'insert' : 'update']('counters', counterRecord(known))
      for (const known of dispatches.values()) saveDispatch(known, isMoved, changes)
      for (const counts of countsOfParts(deliveries.values(), dispatches)) changes.count(counts)
    },
  }

  /** Where not all of the dispatch is known, its delivery goes on as it was. */
  function keepsStatus(row: DeliveryRow, record: DeliveryRecord): boolean {
    const known = dispatches.get(row.dispatch.head.dispatchId)
    return known?.isWhole ? isKeptInDelivery(row.dispatch) : record.dispatch_status !== null
  }

  /** @param isMoved Some delivery is written. */
  function saveDispatch({ row, record, isWhole }: KnownDispatch, isMoved: boolean, changes: Changes): void {
    plans.save(row, removed.has(row), changes)
    if (!record) {
      changes.insert('dispatches', dispatchRecord(row))
      for (const [place, delivery] of row.deliveries.entries()) {
        const known = deliveries.get(delivery.deliveryId)?.row === delivery
        if (!known) changes.insert('deliveries', deliveryRecord(delivery, place, 1, isKeptInDelivery(row)))
        if (delivery.digest) insertEvent(row, delivery, place, changes)
      }
      return
    }
    if (!isWhole) return
    if (removed.has(row)) {
      changes.remove('dispatches', { dispatch_id: record.dispatch_id, version: record.version })
      return
    }
    // Its version guards all that is decided by looking at its deliveries together. Where nothing is, they were read in one
    // statement, and were so at that moment; but for those that others share.
    if (!isMoved && record.digested === null) return
    const digested = record.digested ?? (row.deliveries.some(({ digest }) => digest) ? 1 : null)
    changes.update('dispatches', { ...record, digested, records: leftRecords(row), ...keptStatus(row) })
    for (const [at, { place }] of (standings.get(row) ?? []).entries()) {
      const delivery = row.deliveries[at]
      if (delivery && isNewEvent(row, delivery)) insertEvent(row, delivery, place, changes)
    }
  }

  /** Whether an event of a dispatch has come to be in a digest by its being planned again. */
  function isNewEvent({ head }: DispatchRow, delivery: DeliveryRow): boolean {
    if (!delivery.digest || deliveries.get(delivery.deliveryId)?.row !== delivery) return false
    return events.get(delivery.deliveryId)?.every((event) => event.dispatch_id !== head.dispatchId) ?? true
  }

  function insertEvent(dispatch: DispatchRow, delivery: DeliveryRow, place: number, changes: Changes): void {
    const number = delivery.digest?.events.findIndex((event) => event.dispatch === dispatch) ?? 0
    const last = events.get(delivery.deliveryId)?.at(-1)?.number ?? 0
    const { eventData } = delivery.digest?.events[number] ?? {}
    const key = { delivery_id: delivery.deliveryId, dispatch_id: dispatch.head.dispatchId }
    changes.insert('digest_events', {
      ...key,
      number: last + 1,
      place,
      event_data: JSON.stringify(eventData),
      version: 1,
    })
  }

  /** Of the deliveries of a dispatch, those that are records of its own. */
  function leftRecords(dispatch: DispatchRow): string | null {
    const left = (standings.get(dispatch) ?? []).flatMap(({ place }, at): LeftRecord[] => {
      const row = dispatch.deliveries[at]
      if (!row || deliveries.get(row.deliveryId)?.row === row) return []
      const event = JSON.stringify(row.digest?.events[0]?.eventData)
      return [{ place, delivery: deliveryRecord(row, place, 0, false), event }]
    })
    return writeJson(left.length > 0 ? left : undefined) ?? null
  }

  /** Whether it was to be written. */
  function saveDelivery(row: DeliveryRow, record: DeliveryRecord, changes: Changes): boolean {
    const gathered = events.get(record.delivery_id) ?? []
    const owners = new Set(row.digest?.events.map(({ dispatch }) => dispatch.head.dispatchId))
    const isGone = removed.has(row.dispatch) || hasJoined(row)
    for (const event of gathered)
      if (isGone || !owners.has(event.dispatch_id))
        changes.remove('digest_events', {
          delivery_id: event.delivery_id,
          dispatch_id: event.dispatch_id,
          version: event.version,
        })
    if (isGone) {
      changes.remove('deliveries', { delivery_id: record.delivery_id, version: record.version })
      return true
    }
    const own = gathered.find((event) => event.dispatch_id === row.dispatch.head.dispatchId)
    const after = deliveryRecord(row, own?.place ?? record.place, record.version, keepsStatus(row, record))
    if (!isChanged(record, after) && owners.size === gathered.length) return false
    if (isMadeAnew(record, after)) {
      changes.remove('deliveries', { delivery_id: record.delivery_id, version: record.version })
      changes.insert('deliveries', { ...after, version: record.version + 1 })
    } else changes.update('deliveries', after.content === record.content ? { ...after, content: null } : after)
    return true
  }

  /** It was to be planned again, and its event joined the digest of another delivery. */
  function hasJoined(row: DeliveryRow): boolean {
    const { isWhole = false } = dispatches.get(row.dispatch.head.dispatchId) ?? {}
    return isWhole && !row.dispatch.deliveries.includes(row)
  }

  return self
}
