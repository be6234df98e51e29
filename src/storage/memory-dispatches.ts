import type { Content, Delivery, Dispatch } from '../model/dispatch.ts'
import type { Clock } from '../ports/clock.ts'
import type {
  Acceptance,
  ClaimedDelivery,
  Claims,
  DispatchQuery,
  DispatchStore,
  Page,
  Remembered,
  Settlement,
} from '../ports/dispatch-store.ts'
import { type Due, DueHeap } from './due-heap.ts'
import { pageOf } from './paging.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** A delivery in memory: the record, and when it needs a look (due, or its lease over). */
interface Row extends Due {
  readonly record: Mutable<Delivery>
  readonly dispatch: DispatchRow
  fence: string | undefined
}

interface DispatchRow {
  readonly head: Omit<Dispatch, 'deliveries'>
  readonly rows: Row[]
  readonly expiresAt: number
}

interface Kept extends Remembered {
  readonly forgetAt: number
}

/** The dispatch half of the memory store. Every method runs to its end in one turn of the loop: nothing can come between. */
export function memoryDispatches(clock: Pick<Clock, 'now'>): DispatchStore {
  const dispatches = new Map<string, DispatchRow>()
  const deliveries = new Map<string, Row>()
  const bySession = new Map<string, DispatchRow[]>()
  const byTenant = new Map<string, DispatchRow[]>()
  const due = new Map<string, DueHeap<Row>>()
  const remembered = new Map<string, Kept>()
  let fences = 0

  function heapOf(channel: string): DueHeap<Row> {
    return entry(due, channel, () => new DueHeap<Row>())
  }

  function enqueue(row: Row, at: number): void {
    const heap = heapOf(row.record.channel)
    heap.remove(row)
    row.wakeAt = at
    heap.add(row)
  }

  function remember(key: string, now: number): Kept | undefined {
    for (const [old, { forgetAt }] of remembered) {
      if (forgetAt > now) break
      remembered.delete(old)
    }
    const found = remembered.get(key)
    return found && found.forgetAt > now ? found : undefined
  }

  /** Copies first, which may fail; then puts in place, which cannot. */
  function insert({ dispatch, expiresInMs }: Acceptance, now: number): void {
    const { deliveries: records, ...head } = dispatch
    const row: DispatchRow = { head, rows: [], expiresAt: now + expiresInMs }
    for (const { content, trace, ...given } of records) {
      const record = {
        ...given,
        ...(content && { content: copy(content) }),
        ...(trace && { trace: structuredClone(trace) }),
      }
      row.rows.push({ record, dispatch: row, fence: undefined, wakeAt: 0, slot: -1 })
    }
    for (const delivery of row.rows) {
      deliveries.set(delivery.record.deliveryId, delivery)
      if (delivery.record.status === 'queued') queue(delivery, now)
    }
    dispatches.set(head.dispatchId, row)
    entry(byTenant, head.tenant, () => []).push(row)
    if (head.sessionId !== undefined) entry(bySession, scoped(head.tenant, head.sessionId), () => []).push(row)
  }

  function queue(row: Row, at: number): void {
    row.record.status = 'queued'
    row.record.dueAt = at
    enqueue(row, at)
  }

  function finish(row: Row, status: 'sent' | 'failed' | 'skipped' | 'expired', reason?: Delivery['reason']): void {
    heapOf(row.record.channel).remove(row)
    row.fence = undefined
    row.record.status = status
    if (reason !== undefined) row.record.reason = reason
    delete row.record.dueAt
  }

  /** Held ones are no younger: they go with it. */
  function expire(row: Row): void {
    finish(row, 'expired')
    for (const held of row.dispatch.rows) if (held.record.status === 'held') finish(held, 'expired')
  }

  function promote(row: DispatchRow, now: number): void {
    const next = row.rows.find(({ record }) => record.status === 'held')
    if (next) queue(next, now)
  }

  function lease(row: Row, leaseMs: number, now: number): ClaimedDelivery {
    const { record, dispatch } = row
    record.status = 'sending'
    record.attempts += 1
    row.fence = `${++fences}`
    enqueue(row, now + leaseMs)
    const { deliveryId, channel, address = '', content = {}, attempts } = record
    return {
      deliveryId,
      channel,
      address,
      content: copy(content),
      attempts,
      fence: row.fence,
      dispatch: { ...dispatch.head },
    }
  }

  return {
    async accept(acceptance) {
      const now = clock.now()
      const { dispatch, idempotency } = acceptance
      if (idempotency) {
        const key = scoped(dispatch.tenant, idempotency.key)
        const found = remember(key, now)
        if (found?.fingerprint === idempotency.fingerprint)
          return { outcome: 'replayed', answer: structuredClone(found.answer) }
        if (found) return { outcome: 'key_reused' }
        const { fingerprint, answer, ttlMs } = idempotency
        const kept = { fingerprint, answer: structuredClone(answer), forgetAt: now + ttlMs }
        insert(acceptance, now)
        remembered.set(key, kept)
      } else insert(acceptance, now)
      return { outcome: 'accepted' }
    },

    async recall(tenant, key) {
      const found = remember(scoped(tenant, key), clock.now())
      return found && { fingerprint: found.fingerprint, answer: structuredClone(found.answer) }
    },

    async claim({ limit, leaseMs, channels }): Promise<Claims> {
      const now = clock.now()
      const heaps = channels.map(heapOf)
      const claimed: ClaimedDelivery[] = []
      for (;;) {
        const row = earliest(heaps)
        if (!row) return { deliveries: claimed }
        if (row.wakeAt > now) return { deliveries: claimed, nextDueInMs: row.wakeAt - now }
        if (claimed.length >= limit) return { deliveries: claimed, nextDueInMs: 0 }
        if (now < row.dispatch.expiresAt) claimed.push(lease(row, leaseMs, now))
        else expire(row)
      }
    },

    async settle(settlement: Settlement) {
      const row = deliveries.get(settlement.deliveryId)
      if (row?.record.status !== 'sending' || row.fence !== settlement.fence) return false
      const now = clock.now()
      if (settlement.to === 'sent') {
        finish(row, 'sent')
        if (settlement.providerMessageId !== undefined) row.record.providerMessageId = settlement.providerMessageId
        if (settlement.held === 'skip') {
          for (const held of row.dispatch.rows) {
            if (held.record.status === 'held') finish(held, 'skipped', 'fallback_unneeded')
          }
        }
        return true
      }
      row.record.lastCode = settlement.code
      if (settlement.to === 'queued') {
        row.fence = undefined
        queue(row, now + settlement.delayMs)
      } else {
        finish(row, 'failed', settlement.reason)
        if (settlement.held === 'promote') promote(row.dispatch, now)
      }
      return true
    },

    async findDispatch(tenant, dispatchId) {
      const row = dispatches.get(dispatchId)
      return row?.head.tenant === tenant ? read(row) : undefined
    },

    async listDispatches(query: DispatchQuery): Promise<Page<Dispatch>> {
      const { tenant, sessionId, limit, cursor } = query
      const rows = sessionId === undefined ? byTenant.get(tenant) : bySession.get(scoped(tenant, sessionId))
      const page = pageOf(rows ?? [], 'newest', limit, cursor)
      return { ...page, items: page.items.map(read) }
    },
  }
}

function read({ head, rows }: DispatchRow): Dispatch {
  return structuredClone({ ...head, deliveries: rows.map(({ record }) => record) })
}

function earliest(heaps: readonly DueHeap<Row>[]): Row | undefined {
  let best: Row | undefined
  for (const { first } of heaps) if (first && (!best || first.wakeAt < best.wakeAt)) best = first
  return best
}

/** A channel may do with its message what it likes. */
function copy(content: Content): Content {
  return Object.values(content).every((value) => typeof value !== 'object') ? { ...content } : structuredClone(content)
}

/** No two pairs give one key, whatever they hold. */
function scoped(tenant: string, id: string): string {
  return `${tenant.length}:${tenant}${id}`
}

function entry<T>(map: Map<string, T>, key: string, make: () => T): T {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
