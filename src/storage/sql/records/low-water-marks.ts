import { type ClaimQueue, queueKey } from '../../rules/claim-priority.ts'
import { type SeenTenant, type TenantRange, tenantMarks } from './tenant-marks.ts'

export interface ClaimScan {
  /** By the clock of this process. */
  readonly begunAt: number
  from(queue: ClaimQueue): QueueStart
  /** The tenants that the claim visits, if more are due in the queue than it may lease. */
  ranges(queue: ClaimQueue, after: string): readonly TenantRange[]
  /** Whether the last scan of the queue added no tenant. */
  isSettled(queue: ClaimQueue): boolean
  /** Records tenants that were found before the claim. */
  discovered(ranges: readonly TenantRange[], seen: readonly SeenTenant[]): void
}

export interface QueueStart {
  /** Instant of the database that no live entry precedes. */
  readonly since: number
  /** Scans from the start. */
  readonly isFull: boolean
}

/** The first live entries that a claim saw after its own changes. */
export interface SeenEntries {
  /** Time of the claim, by the database's clock. */
  readonly now: number
  readonly queues: readonly SeenQueue[]
  /** The tenants of queues in which they took turns. */
  readonly ranges: readonly TenantRange[]
  readonly tenants: readonly SeenTenant[]
}

export interface SeenQueue extends ClaimQueue {
  readonly first: number | undefined
}

/**
 * Low-water marks of the index that claims read. Claimed and settled deliveries leave dead entries before all due ones until no transaction
 * can see them. A claim from the start of the index would read them all again.
 *
 * A process therefore keeps the first live entry that its last claim saw, and starts the next claim there. Invariant: at that claim, no
 * live entry preceded the mark, and the mark was at least a margin old. No delivery is stored with a due time in the past. Only a
 * transaction longer than the margin, or a clock that was set back, can add an entry before the mark. Full scans, which scan from the
 * start, find these entries: once a second per queue, or less often if they are slow (at most a twentieth of the time), but at least
 * every {@link FULL_SCAN_WITHIN_MS}.
 *
 * Marks of tenants follow the same rules (`tenant-marks.ts`).
 *
 * If the first full scan fails, the mark is provisional: {@link WINDOW_MS} before now. Otherwise every scan would be full again, and a
 * process whose full scan times out would never claim anything. The next successful full scan finds live entries before a provisional
 * mark.
 */
export interface LowWaterMarks {
  /** Call it right before a claim. */
  begin(): ClaimScan
  /**
   * Records the entries that a claim saw.
   * @returns When a full scan may find entries that this one did not see.
   */
  learn(scan: ClaimScan, seen: SeenEntries): number
  /**
   * The claim failed and its result is unknown.
   * @param now Time of the database in epoch milliseconds, if known.
   */
  failed(scan: ClaimScan, queues: readonly ClaimQueue[], now: number | undefined): void
}

const LEAST_MARGIN_MS = 2_000
/** Age of a provisional mark. */
const WINDOW_MS = 60_000
/** A larger step back means that the database's clock was set back. */
const STEP_MS = 1_000
const FULL_SCAN_EVERY_MS = 1_000
/** Full scans take at most 1/SHARE of the time, */
const SHARE = 20
/** but run at least this often. */
const FULL_SCAN_WITHIN_MS = 30_000

interface Known {
  readonly since: number
  /** Time of the next full scan, by the clock of this process. */
  readonly fullFrom: number
}

const UNKNOWN: Known = { since: 0, fullFrom: Number.NEGATIVE_INFINITY }

/**
 * @param time Monotonic milliseconds.
 * @param timeoutMs Limit for one statement.
 */
export function lowWaterMarks(time: () => number, timeoutMs: number): LowWaterMarks {
  // An acceptance may wait for one time-out and take another one to be written.
  const marginMs = Math.max(LEAST_MARGIN_MS, 2 * timeoutMs)
  const all = new Map<string, Known>()
  const tenants = tenantMarks()
  let seenAt = Number.NEGATIVE_INFINITY

  /** Full scans, including failed ones, take at most their share of the time. */
  function nextFullScan(queue: ClaimQueue, wasFull: boolean, begunAt: number): number {
    if (!wasFull) return (all.get(queueKey(queue)) ?? UNKNOWN).fullFrom
    return time() + Math.min(FULL_SCAN_WITHIN_MS, Math.max(FULL_SCAN_EVERY_MS, SHARE * (time() - begunAt)))
  }

  function lowerTo(mark: number): void {
    for (const [key, known] of all) all.set(key, { ...known, since: Math.min(known.since, mark) })
    tenants.lowerTo(mark)
  }

  return {
    begin() {
      const begunAt = time()
      const marks = new Map(all)
      const from = (queue: ClaimQueue): QueueStart => {
        const { since, fullFrom } = marks.get(queueKey(queue)) ?? UNKNOWN
        return begunAt >= fullFrom ? { since: 0, isFull: true } : { since, isFull: false }
      }
      const ranges = (queue: ClaimQueue, after: string): readonly TenantRange[] => {
        const { since, isFull } = from(queue)
        const found = tenants.ranges(queue, after, since)
        return isFull ? found.map((range) => ({ ...range, known_since: 0 })) : found
      }
      return {
        begunAt,
        from,
        ranges,
        isSettled: tenants.isSettled,
        // Their marks are those of the channel until a claim has read their deliveries.
        discovered: (read, seen) => tenants.learn(read, seen, 0),
      }
    },

    learn(scan, { now, queues, ...seen }) {
      const latest = now - marginMs
      if (now < seenAt - STEP_MS) {
        // The database's clock was set back: new entries precede the marks.
        lowerTo(latest)
        seenAt = now
        return now + 1
      }
      seenAt = Math.max(seenAt, now)
      tenants.learn(seen.ranges, seen.tenants, latest)
      let unseen = Number.POSITIVE_INFINITY
      for (const queue of queues) {
        const { first = latest } = queue
        const { isFull } = scan.from(queue)
        const fullFrom = nextFullScan(queue, isFull, scan.begunAt)
        all.set(queueKey(queue), { since: Math.min(first, latest), fullFrom })
        if (!isFull) unseen = Math.min(unseen, now + Math.max(1, Math.ceil(fullFrom - time())))
      }
      return unseen
    },

    failed(scan, queues, now) {
      const provisional = now === undefined ? undefined : { ...UNKNOWN, since: now - Math.max(WINDOW_MS, marginMs) }
      for (const queue of queues) {
        const known = all.get(queueKey(queue)) ?? provisional
        if (known)
          all.set(queueKey(queue), { ...known, fullFrom: nextFullScan(queue, scan.from(queue).isFull, scan.begunAt) })
      }
    },
  }
}
