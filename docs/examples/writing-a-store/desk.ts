import type { DispatchHead, SendLimit } from 'sallyport'
import {
  type Counter,
  type DeliveryRow,
  type DispatchRow,
  digestKey,
  isOpenDigest,
  type Places,
  type PlanRow,
  sendLimits,
  type Transitions,
  transitions,
} from 'sallyport/storage/rules'
import { type Key, nameOf } from './documents.ts'
import type { Transaction } from './transaction.ts'

/** A dispatch as it is stored, with the names of its deliveries. */
export interface DispatchDocument {
  readonly head: DispatchHead
  readonly deliveries: readonly Key[]
  /** What it is planned from again, where something of it failed in host code. */
  readonly plan?: PlanRow | undefined
}

/** Says of a delivery that it waits for a time: what claims look through. */
export interface Waiting {
  readonly deliveryId: string
  readonly channel: string
  readonly concurrencyKey?: string | undefined
  readonly wakeAt: number
  readonly expiresAt: number
  /** What a digest is gathered by. */
  readonly digest?: string | undefined
}

/** Where deliveries lie while the rules work on them: what was read of them, and what has become of it. */
export class Desk {
  readonly moves: Transitions
  readonly places: Places
  readonly #tx: Transaction
  readonly #heads = new Map<string, DispatchRow>()
  readonly #whole = new Set<DispatchRow>()
  readonly #removed = new Set<DispatchRow>()
  /** With their names, and how they waited when they were read. */
  readonly #rows = new Map<DeliveryRow, { readonly key: Key; readonly waited?: Waiting | undefined }>()
  readonly #counters = new Map<string, Counter>()

  constructor(tx: Transaction) {
    this.#tx = tx
    this.places = {
      place: (row, wakeAt) => void Object.assign(row, { wakeAt, slot: 0 }),
      remove: (row) => void Object.assign(row, { slot: -1 }),
      changed: ({ digest }) => void (digest && digest.opened === 0 && Object.assign(digest, { opened: tx.now })),
      openDigest: (row, now) => this.#openDigest(row, now),
    }
    const limits = sendLimits({
      find: (tenant, name) => this.#counters.get(JSON.stringify([tenant, name])),
      keep: (counter) => void this.#counters.set(JSON.stringify([counter.tenant, counter.name]), counter),
    })
    this.moves = transitions(this.places, limits)
  }

  /** A dispatch with its deliveries, if there is one. */
  async dispatch(dispatchId: string): Promise<DispatchRow | undefined> {
    const row = await this.#head(dispatchId)
    if (!row || this.#whole.has(row)) return row
    this.#whole.add(row)
    const found = await this.#tx.get<DispatchDocument>(dispatchKey(dispatchId))
    for (const key of found?.deliveries ?? []) {
      const delivery = await this.#read(key)
      if (delivery) row.deliveries.push(delivery)
    }
    return row
  }

  /** A delivery. Its dispatches have no deliveries until they are asked for. */
  delivery(deliveryId: string): Promise<DeliveryRow | undefined> {
    return this.#read(deliveryKey(deliveryId))
  }

  /** Reads what the rules will ask for of a new delivery: the counters of its limits, and the digests that it may join. */
  async prepare(row: DeliveryRow): Promise<void> {
    await this.count(row.dispatch.head.tenant, row.limits)
    const digest = row.status === 'queued' ? digestOf(row) : undefined
    if (digest === undefined) return
    // Two events that would open the same digest both write this document: the second one is done again, and joins.
    const turn: Key = ['turn', digest]
    this.#tx.put(turn, ((await this.#tx.get<number>(turn)) ?? 0) + 1)
    for (const waiting of await this.#tx.list<Waiting>(['waiting']))
      if (waiting.digest === digest) await this.delivery(waiting.deliveryId)
  }

  add(dispatch: DispatchRow): void {
    this.#whole.add(dispatch)
  }

  remove(dispatch: DispatchRow): void {
    this.#removed.add(dispatch)
  }

  /** Writes all that is new or has changed. */
  save(): void {
    for (const dispatch of this.#whole) this.#saveDispatch(dispatch)
    for (const [row, { key, waited }] of this.#rows) this.#saveDelivery(row, key, waited)
    for (const counter of this.#counters.values()) this.#tx.put(counterKey(counter.tenant, counter.name), counter)
  }

  async #head(dispatchId: string): Promise<DispatchRow | undefined> {
    const known = this.#heads.get(dispatchId)
    const found = known ? undefined : await this.#tx.get<DispatchDocument>(dispatchKey(dispatchId))
    if (!found) return known
    const { head, plan } = found
    const row: DispatchRow = { head, place: 0, deliveries: [], plan }
    this.#heads.set(dispatchId, row)
    return row
  }

  async #read(key: Key): Promise<DeliveryRow | undefined> {
    for (const [row, known] of this.#rows) if (nameOf(known.key) === nameOf(key)) return row
    const row = await readRow(await this.#tx.get<StoredDelivery>(key), (dispatchId) => this.#head(dispatchId))
    if (!row) return undefined
    this.#rows.set(row, { key, waited: waitingOf(row) })
    await this.count(row.dispatch.head.tenant, row.limits)
    return row
  }

  /** Reads what has been counted for limits. */
  async count(tenant: string, limits: readonly SendLimit[] = []): Promise<void> {
    for (const { key } of limits) {
      const name = JSON.stringify([tenant, key])
      const counter = this.#counters.get(name) ?? (await this.#tx.get<Counter>(counterKey(tenant, key)))
      if (counter) this.#counters.set(name, counter)
    }
  }

  #openDigest(row: DeliveryRow, now: number): DeliveryRow | undefined {
    const open = [...this.#rows.keys()].filter(
      (one) => isOpenDigest(one) && one.wakeAt > now && digestOf(one) === digestOf(row),
    )
    return open.sort((one, other) => (one.digest?.opened ?? 0) - (other.digest?.opened ?? 0))[0]
  }

  #saveDispatch(dispatch: DispatchRow): void {
    const { head, deliveries, plan } = dispatch
    for (const row of deliveries) if (!this.#rows.has(row)) this.#rows.set(row, { key: this.#newKey(row) })
    const names = deliveries.map((row) => this.#rows.get(row)?.key)
    const document = { head, deliveries: names, plan }
    this.#tx.put(dispatchKey(head.dispatchId), this.#removed.has(dispatch) ? undefined : document)
  }

  /** Where there is one of that id already, this is what a dispatch keeps of a digest that it was taken out of. */
  #newKey({ deliveryId, dispatch }: DeliveryRow): Key {
    const isThere = [...this.#rows.keys()].some((row) => row.deliveryId === deliveryId)
    return isThere ? ['left', deliveryId, dispatch.head.dispatchId] : deliveryKey(deliveryId)
  }

  #saveDelivery(row: DeliveryRow, key: Key, waited: Waiting | undefined): void {
    const hasJoined = this.#whole.has(row.dispatch) && !row.dispatch.deliveries.includes(row)
    const isGone = hasJoined || this.#removed.has(row.dispatch)
    this.#tx.put(key, isGone ? undefined : storedOf(row))
    const waiting = isGone || key[0] === 'left' ? undefined : waitingOf(row)
    if (JSON.stringify(waiting) === JSON.stringify(waited)) return
    if (waited) this.#tx.put(waitingKey(waited), undefined)
    if (waiting) this.#tx.put(waitingKey(waiting), waiting)
  }
}

const dispatchKey = (dispatchId: string): Key => ['dispatch', dispatchId]
const deliveryKey = (deliveryId: string): Key => ['delivery', deliveryId]
const counterKey = (tenant: string, name: string): Key => ['counter', tenant, name]
const waitingKey = ({ wakeAt, deliveryId }: Waiting): Key => ['waiting', wakeAt, deliveryId]

function digestOf(row: DeliveryRow): string | undefined {
  return row.digest && digestKey(row, row.digest)
}

function waitingOf(row: DeliveryRow): Waiting | undefined {
  const { slot, deliveryId, channel, concurrencyKey, wakeAt, expiresAt } = row
  return slot < 0 ? undefined : { deliveryId, channel, concurrencyKey, wakeAt, expiresAt, digest: digestOf(row) }
}

type StoredDelivery = ReturnType<typeof storedOf>

/** Rows lead to one another; what is stored has the ids of dispatches in their place. */
function storedOf({ dispatch, cancelledBy, digest, ...rest }: DeliveryRow) {
  const idOf = ({ head }: DispatchRow): string => head.dispatchId
  const events = digest?.events.map((event) => ({ ...event, dispatch: idOf(event.dispatch) }))
  const owners = cancelledBy && [...cancelledBy].map(idOf)
  return {
    ...rest,
    dispatch: idOf(dispatch),
    cancelledBy: owners,
    digest: digest && { ...digest, events: events ?? [] },
  }
}

async function readRow(
  stored: StoredDelivery | undefined,
  headOf: (dispatchId: string) => Promise<DispatchRow | undefined>,
): Promise<DeliveryRow | undefined> {
  if (!stored) return undefined
  const whose = async (id: string): Promise<DispatchRow> => (await headOf(id)) ?? missing(id)
  const events = []
  for (const event of stored.digest?.events ?? []) events.push({ ...event, dispatch: await whose(event.dispatch) })
  const owners = []
  for (const id of stored.cancelledBy ?? []) owners.push(await whose(id))
  const digest = stored.digest && { ...stored.digest, events }
  return {
    ...stored,
    dispatch: await whose(stored.dispatch),
    cancelledBy: stored.cancelledBy && new Set(owners),
    digest,
  }
}

function missing(dispatchId: string): never {
  throw new Error(`the dispatch ${dispatchId} is missing`)
}
