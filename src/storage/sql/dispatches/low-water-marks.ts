/** Where one claim begins to look. */
export interface ClaimLook {
  /** By the clock of this process. */
  readonly begunAt: number
  /** In what is queued in a channel, and in its leases. */
  from(channel: string): ChannelLook
  /** From which instant on in what has expired. */
  readonly expiring: number
}

/** From which instants on a claim looks, by the database's clock: no live entry was before these. */
export interface ChannelLook {
  readonly queued: number
  readonly leased: number
  /** From the start, and at leases that have not ended. */
  readonly isWhole: boolean
}

/** The first live entries that a claim saw after all that it changed. */
export interface SeenEntries {
  /** When the claim was, by the database's clock. */
  readonly now: number
  readonly channels: readonly SeenChannel[]
  /** Of what has expired by then. */
  readonly expiring: number | undefined
}

export interface SeenChannel {
  readonly channel: string
  readonly queued: number | undefined
  /** Of a look that is not whole only leases that have ended. */
  readonly leased: number | undefined
}

/**
 * Low-water marks of the indexes that claims read. What was claimed, settled or expired leaves dead entries there for as long as
 * any transaction may still see the rows, in front of all that is due: a claim that began at the start would read them again.
 *
 * So a process remembers the first live entry that its last claim saw, and the next one begins there. The invariant: when that
 * claim was made, no live entry was before the mark, and the mark was at least a margin old. Nothing is written down as
 * due earlier than now. So entries come before the mark only in transactions that took longer than that to commit, and when a
 * clock was set back. Whole looks find these, from the start: one a second in each channel that is asked for or, where that takes
 * long, in a twentieth of the time, and every {@link WHOLE_WITHIN_MS} at the latest.
 *
 * A provisional mark stands in where the first whole look failed: {@link WINDOW_MS} before now. Otherwise each next look would be
 * whole again, and a process that starts while a whole look takes longer than a statement may would never claim anything. Live
 * entries may be before a provisional mark; the next whole look that succeeds finds them.
 */
export interface LowWaterMarks {
  /** To be asked right before a claim. */
  begin(): ClaimLook
  /**
   * Takes in what a claim saw.
   *
   * @param leaseEnd Until when it leased something.
   * @returns When another claim may find what this one did not look at; `Infinity`: it looked at everything.
   */
  learn(look: ClaimLook, seen: SeenEntries, leaseEnd: number | undefined): number
  /** A lease was renewed, and may end sooner than it would have: then the next claim is due by then. */
  renewed(leaseEnd: number): void
  /**
   * The claim failed: it is not known what it saw.
   *
   * @param now The time of the database, epoch milliseconds; absent: it is not known.
   */
  failed(look: ClaimLook, channels: readonly string[], now: number | undefined): void
}

const LEAST_MARGIN_MS = 2_000
/** A provisional mark is so long before now. */
const WINDOW_MS = 60_000
/** The database's clock was set back when it is more than this behind the latest time that a claim saw. */
const STEP_MS = 1_000
const WHOLE_EVERY_MS = 1_000
/** Whole looks take one part in so many of the time, */
const SHARE = 20
/** but no two are further apart than this. */
const WHOLE_WITHIN_MS = 30_000

interface Known {
  readonly queued: number
  readonly leased: number
  /** From then on, by the clock of this process, a look is whole. */
  readonly wholeFrom: number
  /** When the first lease ends that has not ended, as far as it was seen. */
  readonly leaseEnd: number
}

const UNKNOWN: Known = {
  queued: 0,
  leased: 0,
  wholeFrom: Number.NEGATIVE_INFINITY,
  leaseEnd: Number.POSITIVE_INFINITY,
}
/** What expires is of no channel. */
const EXPIRING = Symbol('expiring')

/**
 * @param time Milliseconds of a clock that only runs forward.
 * @param timeoutMs How long a statement may take.
 */
export function lowWaterMarks(time: () => number, timeoutMs: number): LowWaterMarks {
  // An acceptance may wait for a statement's time to be begun, and for another one to be written.
  const marginMs = Math.max(LEAST_MARGIN_MS, 2 * timeoutMs)
  const all = new Map<string | typeof EXPIRING, Known>()
  let seenAt = Number.NEGATIVE_INFINITY

  /** Whole looks take no more than their share of the time, those that fail neither. */
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
        // The database's clock was set back: what is due from now on is before the marks.
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
