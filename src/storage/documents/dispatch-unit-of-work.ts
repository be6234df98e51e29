import type { DispatchHead, DispatchStatus } from '../../model/dispatch.ts'
import type { SendLimit } from '../../ports/delivery-policy.ts'
import {
  type Counter,
  type DeliveryIndex,
  deliveryTransitions,
  sendLimits,
  type Transitions,
} from '../rules/delivery-transitions.ts'
import { isOpenDigest, openedBefore } from '../rules/digests.ts'
import { isOpenDispatch } from '../rules/dispatch-changes.ts'
import { currentStatus, type DeliveryRow, type DispatchRow, ownersOf, type PlanRow } from '../rules/dispatch-rows.ts'
import { timePart } from '../rules/time-part.ts'
import {
  deliveryEntries,
  deliveryKey,
  deliveryRowOf,
  openDigestOf,
  openDigestsKey,
  type StoredDelivery,
  storedDelivery,
} from './delivery-documents.ts'
import { type Forgettable, putForgettable } from './forgettable.ts'
import { documentKey, prefixOf } from './keys.ts'
import type { DocumentEntries, Transaction } from './transaction.ts'

export interface StoredDispatch {
  readonly head: DispatchHead
  readonly deliveries: readonly string[]
  readonly plan?: PlanRow | undefined
  readonly status: DispatchStatus
  readonly isOpen: boolean
}

/** Index document of a dispatch in the lists of its tenant. */
export interface ListedDispatch {
  readonly tenant: string
  readonly dispatchId: string
  readonly sessionId?: string | undefined
  readonly eventType: string
  readonly recipient: string
  readonly status: DispatchStatus
}

/** Prefix of dispatches that are not open and may be removed, by time of acceptance. */
export const CLOSED = 'closed/'

/** Prefix of the dispatches of a tenant, by time of acceptance. */
export function dispatchesOf(tenant: string): string {
  return prefixOf('dispatches', tenant)
}

interface LoadedDelivery {
  readonly key: string
  readonly isStored: boolean
  /** Its index documents, and the key of its open digest, as they were read. */
  readonly entries: DocumentEntries
  readonly openDigest?: string | undefined
}

interface LoadedCounter {
  readonly counter: Counter
  readonly stored: Forgettable | undefined
}

/** Dispatches of one transaction, as rows that refer to one another. The delivery rules change the rows; `save` writes the changes. */
export class DocumentUnitOfWork {
  readonly transitions: Transitions
  readonly index: DeliveryIndex
  readonly #tx: Transaction
  readonly #dispatches = new Map<string, DispatchRow>()
  /** Dispatches with all their deliveries, and their index documents as they were read. */
  readonly #complete = new Map<DispatchRow, DocumentEntries>()
  readonly #removed = new Set<DispatchRow>()
  readonly #deliveries = new Map<DeliveryRow, LoadedDelivery>()
  readonly #byKey = new Map<string, DeliveryRow>()
  readonly #counters = new Map<string, LoadedCounter>()

  constructor(tx: Transaction) {
    this.#tx = tx
    this.index = {
      schedule: (row, wakeAt) => void Object.assign(row, { wakeAt, slot: 0 }),
      unschedule: (row) => void Object.assign(row, { slot: -1 }),
      update: ({ digest }) => void (digest && digest.opened === 0 && Object.assign(digest, { opened: tx.now })),
      resize() {},
      openDigest: (row, now) => this.#openDigest(row, now),
    }
    const limits = sendLimits({
      find: (tenant, name) => this.#counters.get(counterKey(tenant, name))?.counter,
      keep: (counter) => {
        const key = counterKey(counter.tenant, counter.name)
        this.#counters.set(key, { counter, stored: this.#counters.get(key)?.stored })
      },
    })
    this.transitions = deliveryTransitions(this.index, limits)
  }

  async dispatch(dispatchId: string): Promise<DispatchRow | undefined> {
    const row = await this.#dispatch(dispatchId)
    if (!row || this.#complete.has(row)) return row
    const stored = await this.#tx.get<StoredDispatch>(dispatchKey(dispatchId))
    if (!stored) return undefined
    this.#complete.set(row, dispatchEntries(stored))
    for (const key of stored.deliveries) {
      const delivery = await this.#delivery(key)
      if (delivery) row.deliveries.push(delivery)
    }
    return row
  }

  /** A dispatch with its deliveries, and the other dispatches of these deliveries. */
  async dispatchWithOwners(dispatchId: string): Promise<DispatchRow | undefined> {
    const row = await this.dispatch(dispatchId)
    for (const delivery of row?.deliveries ?? []) await this.readOwners(delivery)
    return row
  }

  /** A delivery. Its dispatches are loaded without their deliveries. */
  delivery(deliveryId: string): Promise<DeliveryRow | undefined> {
    return this.#delivery(deliveryKey(deliveryId))
  }

  /** Reads the deliveries of all dispatches of a delivery: its end can change them. */
  async readOwners(row: DeliveryRow): Promise<void> {
    for (const { head } of ownersOf(row)) await this.dispatch(head.dispatchId)
  }

  /** Reads the documents that the rules need for a new delivery: counters of its limits, and digests that it may join. */
  async prepare(row: DeliveryRow): Promise<void> {
    await this.readCounters(row.dispatch.head.tenant, row.limits)
    const digests = row.status === 'queued' ? openDigestsKey(row) : undefined
    if (digests === undefined) return
    // Two events that open the same digest both change this document: the second transaction conflicts, retries and joins.
    for (const deliveryId of (await this.#tx.get<readonly string[]>(digests)) ?? []) await this.delivery(deliveryId)
  }

  async readCounters(tenant: string, limits: readonly SendLimit[] = []): Promise<void> {
    for (const { key: name } of limits) {
      const key = counterKey(tenant, name)
      const found = this.#counters.has(key) ? undefined : await this.#tx.get<Counter & Forgettable>(key)
      if (!found) continue
      const { until, listedAt, ...counter } = found
      this.#counters.set(key, { counter, stored: { until, listedAt } })
    }
  }

  add(dispatch: DispatchRow): void {
    this.#complete.set(dispatch, {})
  }

  remove(dispatch: DispatchRow): void {
    this.#removed.add(dispatch)
  }

  async save(): Promise<void> {
    for (const [dispatch, entries] of this.#complete) this.#saveDispatch(dispatch, entries)
    for (const [row, loaded] of this.#deliveries) await this.#saveDelivery(row, loaded)
    for (const [key, { counter, stored }] of this.#counters) {
      const until = (counter.times.at(-1) ?? 0) + counter.windowMs
      putForgettable(this.#tx, key, stored, counter, until)
    }
  }

  async #dispatch(dispatchId: string): Promise<DispatchRow | undefined> {
    const known = this.#dispatches.get(dispatchId)
    const stored = known ? undefined : await this.#tx.get<StoredDispatch>(dispatchKey(dispatchId))
    if (!stored) return known
    const row: DispatchRow = { head: stored.head, sequence: 0, deliveries: [], plan: stored.plan }
    this.#dispatches.set(dispatchId, row)
    return row
  }

  async #delivery(key: string): Promise<DeliveryRow | undefined> {
    const known = this.#byKey.get(key)
    const stored = known ? undefined : await this.#tx.get<StoredDelivery>(key)
    if (!stored) return known
    const row = await deliveryRowOf(stored, async (id) => (await this.#dispatch(id)) ?? missing(id))
    this.#byKey.set(key, row)
    this.#deliveries.set(row, {
      key,
      isStored: true,
      entries: deliveryEntries(row),
      openDigest: openDigestOf(row),
    })
    await this.readCounters(row.dispatch.head.tenant, row.limits)
    return row
  }

  /** The digest that opened first; the lowest id breaks ties. */
  #openDigest(row: DeliveryRow, now: number): DeliveryRow | undefined {
    const digests = openDigestsKey(row)
    const open = [...this.#deliveries.keys()].filter(
      (one) => isOpenDigest(one) && one.wakeAt > now && openDigestsKey(one) === digests,
    )
    return open.sort((one, other) => (openedBefore(one, other) ? -1 : 1))[0]
  }

  #saveDispatch(dispatch: DispatchRow, entries: DocumentEntries): void {
    const { head, deliveries, plan } = dispatch
    const keys = deliveries.map((row) => this.#keyOf(row))
    const status = { status: currentStatus(dispatch), isOpen: isOpenDispatch(dispatch) }
    const stored = this.#removed.has(dispatch) ? undefined : { head, deliveries: keys, plan, ...status }
    const key = dispatchKey(head.dispatchId)
    if (this.#dispatches.has(head.dispatchId)) this.#tx.put(key, stored)
    else this.#tx.create(key, stored)
    this.#tx.index(entries, stored ? dispatchEntries(stored) : {})
  }

  /** Key of a delivery. A new row with the id of a stored one is the record of a dispatch that left a digest. */
  #keyOf(row: DeliveryRow): string {
    const loaded = this.#deliveries.get(row)
    if (loaded) return loaded.key
    const isRecord = this.#byKey.has(deliveryKey(row.deliveryId))
    const key = isRecord
      ? documentKey('left', row.deliveryId, row.dispatch.head.dispatchId)
      : deliveryKey(row.deliveryId)
    this.#byKey.set(key, row)
    this.#deliveries.set(row, { key, isStored: false, entries: {} })
    return key
  }

  async #saveDelivery(row: DeliveryRow, { key, isStored, entries, openDigest }: LoadedDelivery): Promise<void> {
    const hasJoined = this.#complete.has(row.dispatch) && !row.dispatch.deliveries.includes(row)
    const isGone = hasJoined || this.#removed.has(row.dispatch)
    const stored = isGone ? undefined : storedDelivery(row)
    if (isStored) this.#tx.put(key, stored)
    else this.#tx.create(key, stored)
    this.#tx.index(entries, isGone ? {} : deliveryEntries(row))
    await this.#listDigest(row, openDigest, isGone ? undefined : openDigestOf(row))
  }

  async #listDigest({ deliveryId }: DeliveryRow, before: string | undefined, after: string | undefined): Promise<void> {
    const digests = before === after ? undefined : (before ?? after)
    if (digests === undefined) return
    const listed = (await this.#tx.get<readonly string[]>(digests)) ?? []
    const others = listed.filter((id) => id !== deliveryId)
    const open = after === undefined ? others : [...others, deliveryId]
    this.#tx.put(digests, open.length > 0 ? open : undefined)
  }
}

function dispatchKey(dispatchId: string): string {
  return documentKey('dispatch', dispatchId)
}

function counterKey(tenant: string, name: string): string {
  return documentKey('counter', tenant, name)
}

function dispatchEntries({ head, status, isOpen }: StoredDispatch): DocumentEntries {
  const { dispatchId, tenant, sessionId, eventType, recipient, createdAt } = head
  const listed: ListedDispatch = { tenant, dispatchId, sessionId, eventType, recipient, status }
  const position = `${timePart(createdAt)}/${documentKey(dispatchId)}`
  return { [dispatchesOf(tenant) + position]: listed, ...(!isOpen && { [CLOSED + position]: { tenant, dispatchId } }) }
}

function missing(dispatchId: string): never {
  throw new Error(`documentStore: the dispatch ${dispatchId} is missing`)
}
