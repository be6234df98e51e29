import { MAX_TENANTS_VISITED } from '../../../model/tenant-turns.ts'
import { type ClaimQueue, queueKey } from '../../rules/claim-priority.ts'

/** A part of a queue's tenants in the order of their names: the ones between two names, then perhaps a known one. */
export interface TenantRange extends ClaimQueue {
  /** Position in the order of turns. */
  readonly number: number
  /** Tenants after this name, */
  readonly low: string
  /** and before this one. */
  readonly high: string
  /** No waiting delivery of these tenants is due before this instant. */
  readonly since: number
  /** The tenant of the name `high`, if it is known; otherwise empty. */
  readonly known: string
  readonly known_since: number
}

/** The first waiting delivery of a tenant: the first tenant between the names of a range, or its known one. */
export interface SeenTenant extends ClaimQueue {
  readonly number: number
  readonly isKnown: boolean
  readonly tenant: string
  readonly firstAt: number
}

/**
 * Tenants with waiting deliveries, per queue, each with the low-water mark of its deliveries. A claim reads each of them by name, and
 * searches for others only between their names. It so skips the dead index entries of the known ones.
 */
export interface TenantMarks {
  /**
   * The ranges that a claim visits: with at most {@link MAX_TENANTS_VISITED} known tenants, from `after` on and around.
   * @param floor No waiting delivery of the queue is due before.
   */
  ranges(queue: ClaimQueue, after: string, floor: number): readonly TenantRange[]
  /** @param mark New entries are due after it, except those that a full scan finds. */
  learn(ranges: readonly TenantRange[], seen: readonly SeenTenant[], mark: number): void
  lowerTo(mark: number): void
  /** Whether the last scan of the queue added no tenant: it found none, or the list is full. */
  isSettled(queue: ClaimQueue): boolean
}

/** Sorts after the name of every tenant. */
const END = '\u{10ffff}'
/** The first character after `after`: a range that ends before the two contains `after`. */
const JUST_AFTER = '\u0001'

/** Known tenants per queue. Further ones are found again by each claim. */
const MAX_KNOWN = 1_000
/** A tenant is forgotten so long after its last waiting delivery. By then its dead entries may be cleaned up. */
const KEPT_MS = 60_000

interface Known {
  readonly tenant: string
  readonly since: number
  /** When it last had waiting deliveries. */
  readonly seenAt: number
}

export function tenantMarks(): TenantMarks {
  /** Sorted by name. */
  const byQueue = new Map<string, Known[]>()
  const settled = new Set<string>()

  return {
    ranges({ channel, priority }, after, floor) {
      const queue = { channel, priority }
      const known = byQueue.get(queueKey(queue)) ?? []
      const ranges: TenantRange[] = []
      const addUpTo = (low: string, list: readonly Known[], end: string): void => {
        let from = low
        for (const { tenant, since } of list.slice(0, MAX_TENANTS_VISITED - ranges.length)) {
          const own = { known: tenant, known_since: Math.max(since, floor) }
          ranges.push({ ...queue, number: ranges.length, low: from, high: tenant, since: floor, ...own })
          from = tenant
        }
        if (ranges.length < MAX_TENANTS_VISITED)
          ranges.push({
            ...queue,
            number: ranges.length,
            low: from,
            high: end,
            since: floor,
            known: '',
            known_since: 0,
          })
      }
      const at = placeAfter(known, after)
      addUpTo(after, known.slice(at), END)
      if (after !== '' && ranges.length < MAX_TENANTS_VISITED) addUpTo('', known.slice(0, at), after + JUST_AFTER)
      return ranges
    },

    learn(ranges, seen, mark) {
      const isSeen = new Set<string>()
      for (const range of ranges) settled.add(queueKey(range))
      for (const one of seen) {
        const key = queueKey(one)
        isSeen.add(JSON.stringify([key, one.tenant]))
        const isNew = put(key, { tenant: one.tenant, since: Math.min(one.firstAt, mark), seenAt: mark })
        if (isNew) settled.delete(key)
      }
      for (const range of ranges) {
        const key = queueKey(range)
        const { known } = range
        const found = known === '' || isSeen.has(JSON.stringify([key, known])) ? undefined : find(key, known)
        if (!found) continue
        if (mark - found.seenAt > KEPT_MS) remove(key, found)
        else put(key, { ...found, since: mark })
      }
    },

    isSettled: (queue) => settled.has(queueKey(queue)),

    lowerTo(mark) {
      for (const [key, known] of byQueue)
        byQueue.set(
          key,
          known.map((one) => ({ ...one, since: Math.min(one.since, mark), seenAt: mark })),
        )
    },
  }

  function find(key: string, tenant: string): Known | undefined {
    const known = byQueue.get(key) ?? []
    const found = known[placeAfter(known, tenant) - 1]
    return found?.tenant === tenant ? found : undefined
  }

  /** Returns whether it added a tenant. */
  function put(key: string, one: Known): boolean {
    const known = byQueue.get(key) ?? []
    byQueue.set(key, known)
    const at = placeAfter(known, one.tenant)
    if (known[at - 1]?.tenant === one.tenant) {
      known[at - 1] = one
      return false
    }
    if (known.length >= MAX_KNOWN) return false
    known.splice(at, 0, one)
    return true
  }

  function remove(key: string, one: Known): void {
    const known = byQueue.get(key)
    known?.splice(known.indexOf(one), 1)
  }
}

/** Number of tenants whose names do not come after this one. */
function placeAfter(known: readonly Known[], name: string): number {
  let low = 0
  let high = known.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((known[middle]?.tenant ?? '') <= name) low = middle + 1
    else high = middle
  }
  return low
}
