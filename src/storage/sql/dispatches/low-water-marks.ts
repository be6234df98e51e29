import { type SeenTenant, type TenantRange, tenantMarks } from './tenant-marks.ts'

export interface ClaimScan {
  /** By the clock of this process. */
  readonly begunAt: number
  from(channel: string): ChannelStart
  /** The tenants that the claim visits, if more are due in the channel than it may lease. */
  ranges(channel: string, after: string): readonly TenantRange[]
  /** Whether the last scan of the channel added no tenant. */
  isSettled(channel: string): boolean
  /** Records tenants that were found before the claim. */
  discovered(ranges: readonly TenantRange[], seen: readonly SeenTenant[]): void
  readonly expiring: number
}

/** Instants by the database's clock. No live entry precedes them. */
export interface ChannelStart {
  readonly queued: number
  readonly leased: number
  /** Scans from the start, including leases that have not ended. */
  readonly isFull: boolean
}

/** The first live entries that a claim saw after its own changes. */
export interface SeenEntries {
  /** Time of the claim, by the database's clock. */
  readonly now: number
  readonly channels: readonly SeenChannel[]
  /** The tenants of channels in which they took turns. */
  readonly ranges: readonly TenantRange[]
  readonly tenants: readonly SeenTenant[]
  /** The first live entry by expiry. */
  readonly expiring: number | undefined
}

export interface SeenChannel {
  readonly channel: string
  readonly queued: number | undefined
  /** The first ended lease. */
  readonly leased: number | undefined
  /** The first end of a running lease. Only full scans read it. */
  readonly leaseEnd: number | undefined
}

/**
 * Low-water marks of the indexes that claims read. Claimed, settled and expired deliveries leave dead entries before all due ones until
 * no transaction can see them. A claim from the start of the index would read them all again.
 *
 * A process therefore keeps the first live entry that its last claim saw, and starts the next claim there. Invariant: at that claim, no
 * live entry preceded the mark, and the mark was at least a margin old. No delivery is stored with a due time in the past. Only a
 * transaction longer than the margin, or a clock that was set back, can add an entry before the mark. Full scans, which scan from the
 * start, find these entries: once a second per channel, or less often if they are slow (at most a twentieth of the time), but at least
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
   * @param leaseEnd The end of the leases that it took.
   * @returns When another claim may find entries that this one did not lease: at the end of a running lease, or with its next full scan.
   */
  learn(scan: ClaimScan, seen: SeenEntries, leaseEnd: number | undefined): number
  /**
   * A lease was renewed and may now end sooner. The next claim must run by then.
   * @param now Time of the database in epoch milliseconds.
   */
  renewed(leaseEnd: number, now: number): void
  /**
   * The claim failed and its result is unknown.
   * @param now Time of the database in epoch milliseconds, if known.
   */
  failed(scan: ClaimScan, channels: readonly string[], now: number | undefined): void
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
  readonly queued: number
  readonly leased: number
  /** Time of the next full scan, by the clock of this process. */
  readonly fullFrom: number
  /** The first end of a running lease that was seen. */
  readonly leaseEnd: number
}

const UNKNOWN: Known = {
  queued: 0,
  leased: 0,
  fullFrom: Number.NEGATIVE_INFINITY,
  leaseEnd: Number.POSITIVE_INFINITY,
}
/** Key of expired deliveries, which belong to no channel. */
const EXPIRING = Symbol('expiring')

/**
 * @param time Monotonic milliseconds.
 * @param timeoutMs Limit for one statement.
 */
export function lowWaterMarks(time: () => number, timeoutMs: number): LowWaterMarks {
  // An acceptance may wait for one time-out and take another one to be written.
  const marginMs = Math.max(LEAST_MARGIN_MS, 2 * timeoutMs)
  const all = new Map<string | typeof EXPIRING, Known>()
  const tenants = tenantMarks()
  let seenAt = Number.NEGATIVE_INFINITY

  /** Full scans, including failed ones, take at most their share of the time. */
  function nextFullScan(name: string | typeof EXPIRING, wasFull: boolean, begunAt: number): number {
    if (!wasFull) return (all.get(name) ?? UNKNOWN).fullFrom
    return time() + Math.min(FULL_SCAN_WITHIN_MS, Math.max(FULL_SCAN_EVERY_MS, SHARE * (time() - begunAt)))
  }

  function lowerTo(mark: number): void {
    for (const [name, known] of all)
      all.set(name, { ...known, queued: Math.min(known.queued, mark), leased: Math.min(known.leased, mark) })
    tenants.lowerTo(mark)
  }

  return {
    begin() {
      const begunAt = time()
      const marks = new Map(all)
      const from = (name: string | typeof EXPIRING): ChannelStart => {
        const { queued, leased, fullFrom } = marks.get(name) ?? UNKNOWN
        if (begunAt >= fullFrom) return { queued: 0, leased: 0, isFull: true }
        return { queued, leased, isFull: false }
      }
      const ranges = (channel: string, after: string): readonly TenantRange[] => {
        const { queued, leased, isFull } = from(channel)
        const found = tenants.ranges(channel, after, Math.min(queued, leased))
        return isFull ? found.map((range) => ({ ...range, known_since: 0 })) : found
      }
      return {
        begunAt,
        from,
        ranges,
        isSettled: tenants.isSettled,
        // Their marks are those of the channel until a claim has read their deliveries.
        discovered: (read, seen) => tenants.learn(read, seen, 0),
        expiring: from(EXPIRING).leased,
      }
    },

    learn(scan, { now, channels, expiring, ...seen }, leaseEnd = Number.POSITIVE_INFINITY) {
      const latest = now - marginMs
      if (now < seenAt - STEP_MS) {
        // The database's clock was set back: new entries precede the marks.
        lowerTo(latest)
        seenAt = now
        return now + 1
      }
      seenAt = Math.max(seenAt, now)
      tenants.learn(seen.ranges, seen.tenants, latest)
      const mark = (first: number | undefined): number => Math.min(first ?? latest, latest)
      let unseen = Number.POSITIVE_INFINITY
      for (const { channel, queued, leased, leaseEnd: running = Number.POSITIVE_INFINITY } of channels) {
        const { isFull } = scan.from(channel)
        const { leaseEnd: before } = all.get(channel) ?? UNKNOWN
        const end = isFull ? running : Math.min(before > now ? before : leaseEnd, leaseEnd)
        const fullFrom = nextFullScan(channel, isFull, scan.begunAt)
        all.set(channel, { queued: mark(queued), leased: mark(leased), fullFrom, leaseEnd: end })
        const nextScan = isFull ? Number.POSITIVE_INFINITY : now + Math.max(1, Math.ceil(fullFrom - time()))
        unseen = Math.min(unseen, end, nextScan)
      }
      const fullFrom = nextFullScan(EXPIRING, scan.expiring === 0, scan.begunAt)
      all.set(EXPIRING, { ...UNKNOWN, leased: mark(expiring), fullFrom })
      return unseen
    },

    renewed(leaseEnd, now) {
      for (const [name, known] of all) {
        const { leaseEnd: before } = known
        // An end that has passed says nothing about this lease.
        all.set(name, { ...known, leaseEnd: before > now ? Math.min(before, leaseEnd) : leaseEnd })
      }
    },

    failed(scan, channels, now) {
      const mark = now === undefined ? undefined : now - Math.max(WINDOW_MS, marginMs)
      const provisional = mark === undefined ? undefined : { ...UNKNOWN, queued: mark, leased: mark }
      const rest = (name: string | typeof EXPIRING, wasFull: boolean): void => {
        const known = all.get(name) ?? provisional
        if (known) all.set(name, { ...known, fullFrom: nextFullScan(name, wasFull, scan.begunAt) })
      }
      for (const channel of channels) rest(channel, scan.from(channel).isFull)
      rest(EXPIRING, scan.expiring === 0)
    },
  }
}
