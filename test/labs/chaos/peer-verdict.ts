import type { Accepted } from './load.ts'
import type { JobState, PeerName } from './peer.ts'
import type { Sink } from './sink.ts'

/** Counts of a trial. Each accepted job is delivered, lost, failed or late. */
export interface PeerCounts {
  readonly accepted: number
  readonly delivered: number
  /** Not delivered, and not in the store as a job that is run or failed. */
  readonly lost: number
  /** Not delivered, and in the store as failed: it is not run again. */
  readonly failed: number
  /** Not delivered, and in the store to be run. */
  readonly late: number
  /** Arrivals beyond the first of each job. */
  readonly twice: number
  /** Delivered, and in the store to be run again. */
  readonly again: number
  /** Sends that a kill cut before the sink had accepted the message, and after. */
  readonly cut: number
  /** Longest time from a kill until the sink had an accepted message that it did not have yet. 0: there was none. */
  readonly recoveryMs: number
}

/** Result of a trial. */
export interface PeerVerdict extends PeerCounts {
  readonly peer: PeerName
  readonly seed: number
  /** Sends that failed although no kill had cut them: a fault of the test. */
  readonly unsent: number
}

/** The records that are compared. */
export interface PeerRecords extends Pick<Sink, 'arrivals' | 'cut'> {
  readonly accepted: readonly Accepted[]
  /** Time of each kill, by host. */
  readonly killedAt: ReadonlyMap<string, number>
  readonly states: ReadonlyMap<string, JobState>
}

/** Whether no accepted job is going to be run, and each is delivered or failed. */
export function isFinished({ accepted, arrivals, states }: PeerRecords): boolean {
  const arrived = new Set(arrivals.map(({ deliveryId }) => deliveryId))
  return accepted.every(({ deliveryId: id }) => !isOpen(states.get(id)) && (arrived.has(id) || states.has(id)))
}

export function judge({ accepted, arrivals, cut, killedAt, states }: PeerRecords): PeerCounts {
  const firstAt = new Map<string, number>()
  for (const { deliveryId, at } of arrivals) if (!firstAt.has(deliveryId)) firstAt.set(deliveryId, at)
  const [delivered, missing] = parted(accepted, ({ deliveryId }) => firstAt.has(deliveryId))
  const [late, over] = parted(missing, ({ deliveryId }) => isOpen(states.get(deliveryId)))
  const [failed, lost] = parted(over, ({ deliveryId }) => states.get(deliveryId) === 'failed')
  const again = delivered.filter(({ deliveryId }) => isOpen(states.get(deliveryId)))
  const killed = cut.filter(({ host }) => killedAt.has(host))
  return {
    ...{ accepted: accepted.length, delivered: delivered.length, lost: lost.length, failed: failed.length },
    ...{ late: late.length, twice: arrivals.length - firstAt.size, again: again.length, cut: killed.length },
    recoveryMs: Math.max(0, ...recoveries({ accepted, killedAt, cut: killed }, firstAt)),
  }
}

/** Times from a kill until a message arrived for the first time: from the kill that cut its send, if it was being sent. */
function recoveries(
  { accepted, killedAt, cut }: Pick<PeerRecords, 'accepted' | 'killedAt' | 'cut'>,
  firstAt: ReadonlyMap<string, number>,
): readonly number[] {
  const cutAt = new Map([...cut].reverse().map(({ deliveryId, host }) => [deliveryId, killedAt.get(host)]))
  const kills = [...killedAt.values()]
  return accepted.flatMap(({ deliveryId, at }) => {
    const arrivedAt = firstAt.get(deliveryId)
    const killAt = cutAt.get(deliveryId) ?? kills.find((kill) => kill >= at)
    return arrivedAt === undefined || killAt === undefined ? [] : [arrivedAt - killAt]
  })
}

function isOpen(state: JobState | undefined): boolean {
  return state === 'waiting' || state === 'active'
}

function parted<T>(list: readonly T[], isFirst: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [list.filter(isFirst), list.filter((one) => !isFirst(one))]
}
