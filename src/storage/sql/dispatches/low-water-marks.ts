/** Where one claim begins to look. */
export interface ClaimLook {
  /** By the clock of this process. */
  readonly begunAt: number
  from(channel: string): ChannelLook
  /** The instant from which on it looks for expired deliveries. */
  readonly expiring: number
}

/** The instants from which on a claim looks, by the database's clock: no live entry is before them. */
export interface ChannelLook {
  readonly queued: number
  readonly leased: number
  /** It looks from the start, and also at leases that have not ended. */
  readonly isWhole: boolean
}

/** The first live entries that a claim saw after its own changes. */
export interface SeenEntries {
  /** The time of the claim, by the database's clock. */
  readonly now: number
  readonly channels: readonly SeenChannel[]
  /** Of the expired deliveries. */
  readonly expiring: number | undefined
}

export interface SeenChannel {
  readonly channel: string
  readonly queued: number | undefined
  /** A look that is not whole sees only leases that have ended. */
  readonly leased: number | undefined
}

/**
 * Low-water marks of the indexes that claims read. Claimed, settled and expired deliveries leave dead entries there, in front of all
 * due ones, until no transaction can see the rows. A claim from the start would read them all again.
 *
 * So a process remembers the first live entry that its last claim saw, and the next claim begins there. The invariant: at that claim,
 * no live entry was before the mark, and the mark was at least a margin old. Nothing is stored as due earlier than now. So only a
 * transaction that took longer than the margin, or a clock that was set back, can put an entry before the mark. Whole looks, from the
 * start, find these: one a second in each channel that is asked for, or, where that takes long, in a twentieth of the time, and every
 * {@link WHOLE_WITHIN_MS} at the latest.
 *
 * If the first whole look fails, the mark is provisional: {@link WINDOW_MS} before now. Otherwise each next look would be whole again,
 * and a process whose whole look takes longer than a statement may would never claim anything. Live entries may be before a
 * provisional mark; the next successful whole look finds them.
 */
export interface LowWaterMarks {
  /** Call it right before a claim. */
  begin(): ClaimLook
  /**
   * Takes in what a claim saw.
   *
   * @param leaseEnd The end of the leases that it took.
   * @returns When another claim may find entries that this one did not look at; `Infinity`: it looked at everything.
   */
  learn(look: ClaimLook, seen: SeenEntries, leaseEnd: number | undefined): number
  /** A lease was renewed. It may now end sooner, and the next claim must come by then. */
  renewed(leaseEnd: number): void
  /**
   * The claim failed, and what it saw is unknown.
   *
   * @param now The time of the database, epoch milliseconds, if it is known.
   */
  failed(look: ClaimLook, channels: readonly string[], now: number | undefined): void
}

const LEAST_MARGIN_MS = 2_000
/** The age of a provisional mark. */
const WINDOW_MS = 60_000
/** A database this far behind the latest time that a claim saw has had its clock set back. */
const STEP_MS = 1_000
const WHOLE_EVERY_MS = 1_000
/** Whole looks take one part of so many of the time, */
const SHARE = 20
/** but no two are further apart than this. */
const WHOLE_WITHIN_MS = 30_000

interface Known {
  readonly queued: number
  readonly leased: number
  /** When the next look is whole, by the clock of this process. */
  readonly wholeFrom: number
  /** The first end of a running lease that was seen. */
  readonly leaseEnd: number
}

const UNKNOWN: Known = {
  queued: 0,
  leased: 0,
  wholeFrom: Number.NEGATIVE_INFINITY,
  leaseEnd: Number.POSITIVE_INFINITY,
}
/** The key of expired deliveries, which belong to no channel. */
const EXPIRING = Symbol('expiring')

/**
 * @param time Milliseconds of a monotonic clock.
 * @param timeoutMs The limit for one statement.
 */
export function lowWaterMarks(time: () => number, timeoutMs: number): LowWaterMarks {
  // An acceptance may wait for one time-out to begin, and take another to be written.
  const marginMs = Math.max(LEAST_MARGIN_MS, 2 * timeoutMs)
  const all = new Map<string | typeof EXPIRING, Known>()
  let seenAt = Number.NEGATIVE_INFINITY

  /** Whole looks, also failed ones, take no more than their share of the time. */
  function nextWhole(name: string | typeof EXPIRING, wasWhole: boolean, begunAt: number): number {
    if (!wasWhole) return (all.get(name) ?? UNKNOWN).wholeFrom
    return time() + Math.min(WHOLE_WITHIN_MS, Math.max(WHOLE_EVERY_MS, SHARE * (time() - begunAt)))
  }

  function lowerTo(mark: number): void {
    for (const [name, known] of all)
      all.set(name, { ...known, queued: Math.min(known.queued, mark), leased: Math.min(known.leased, mark) })
  }

  return {
    begin() {
      const begunAt = time()
      const marks = new Map(all)
      const from = (name: string | typeof EXPIRING): ChannelLook => {
        const { queued, leased, wholeFrom } = marks.get(name) ?? UNKNOWN
        if (begunAt >= wholeFrom) return { queued: 0, leased: 0, isWhole: true }
        return { queued, leased, isWhole: false }
      }
      return { begunAt, from, expiring: from(EXPIRING).leased }
    },

    learn(look, { now, channels, expiring }, leaseEnd = Number.POSITIVE_INFINITY) {
      const latest = now - marginMs
      if (now < seenAt - STEP_MS) {
        // The database's clock was set back: new entries are before the marks.
        lowerTo(latest)
        seenAt = now
        return now + 1
      }
      seenAt = Math.max(seenAt, now)
      const mark = (first: number | undefined): number => Math.min(first ?? latest, latest)
      let unseen = Number.POSITIVE_INFINITY
      for (const { channel, queued, leased } of channels) {
        const { isWhole } = look.from(channel)
        const { leaseEnd: before } = all.get(channel) ?? UNKNOWN
        const end = isWhole
          ? (leased ?? Number.POSITIVE_INFINITY)
          : Math.min(before > now ? before : leaseEnd, leaseEnd)
        const wholeFrom = nextWhole(channel, isWhole, look.begunAt)
        all.set(channel, { queued: mark(queued), leased: mark(leased), wholeFrom, leaseEnd: end })
        if (!isWhole) unseen = Math.min(unseen, end, now + Math.max(1, Math.ceil(wholeFrom - time())))
      }
      const wholeFrom = nextWhole(EXPIRING, look.expiring === 0, look.begunAt)
      all.set(EXPIRING, { ...UNKNOWN, leased: mark(expiring), wholeFrom })
      return unseen
    },

    renewed(leaseEnd) {
      for (const [name, known] of all) all.set(name, { ...known, leaseEnd: Math.min(known.leaseEnd, leaseEnd) })
    },

    failed(look, channels, now) {
      const mark = now === undefined ? undefined : now - Math.max(WINDOW_MS, marginMs)
      const provisional = mark === undefined ? undefined : { ...UNKNOWN, queued: mark, leased: mark }
      const rest = (name: string | typeof EXPIRING, wasWhole: boolean): void => {
        const known = all.get(name) ?? provisional
        if (known) all.set(name, { ...known, wholeFrom: nextWhole(name, wasWhole, look.begunAt) })
      }
      for (const channel of channels) rest(channel, look.from(channel).isWhole)
      rest(EXPIRING, look.expiring === 0)
    },
  }
}
