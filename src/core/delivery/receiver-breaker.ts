import type { AttemptEnd } from '../../model/dispatch.ts'
import type { Clock } from '../../ports/clock.ts'
import type { BusyReceiver, ClaimedDelivery } from '../../ports/dispatch-store.ts'
import type { Logger } from '../../ports/logger.ts'
import { placeOf } from './lease.ts'
import type { BreakerOptions } from './worker-options.ts'

/** One attempt, as the breaker of its receiver watches it. */
export interface WatchedAttempt {
  /** The send begins. */
  begin(): void
  /** Returns the milliseconds left of the receiver's pause; `undefined`: it is not paused. */
  end(end: AttemptEnd): number | undefined
  /** The attempt is over, with or without a send. */
  leave(): void
}

/**
 * Circuit breakers, one per channel, tenant and receiver, of one worker. A receiver that times out several times in a row is paused (the
 * circuit is open): nothing is sent to it. After the pause one delivery is sent as a probe (half-open): if it times out too, the next
 * pause is twice as long; otherwise the receiver is resumed (closed).
 */
export interface ReceiverBreaker {
  /** Receivers that get nothing now, at most 250: they are paused, or their probe is in flight. Claims leave them out. */
  stopped(): readonly BusyReceiver[]
  /** Milliseconds until the first pause ends; `undefined`: no receiver is paused. */
  probesInMs(): number | undefined
  /** Milliseconds until the delivery may be sent, 0 during a probe; `undefined`: now. */
  pausedMs(claimed: ClaimedDelivery): number | undefined
  watch(claimed: ClaimedDelivery): WatchedAttempt
}

interface Receiver {
  readonly place: BusyReceiver
  /** Time-outs in a row. */
  timeouts: number
  /** Pauses in a row; 0: the receiver is not paused. */
  pauses: number
  /** End of the last pause. */
  until: number
  isProbed: boolean
}

/** A failed send counts as a time-out from this duration on, whatever its code: it held its slot as long. */
const SLOW_MS = 5_000
const TIMEOUTS: readonly unknown[] = ['timeout', 'send_timeout']
/** The worker ended these sends; the receiver did not cause them. */
const INTERRUPTED: readonly unknown[] = ['stopped', 'lease_ending']

/** Only receivers that timed out lately are kept. */
const MAX_KEPT = 10_000
/** Keeps a claim small. Deliveries to other paused receivers are claimed, and moved to the end of the pause. */
const MAX_LEFT_OUT = 250

const UNWATCHED: WatchedAttempt = { begin() {}, end: () => undefined, leave() {} }
const OFF: ReceiverBreaker = {
  stopped: () => [],
  probesInMs: () => undefined,
  pausedMs: () => undefined,
  watch: () => UNWATCHED,
}

export function receiverBreaker(
  options: BreakerOptions | false | undefined,
  { clock, logger }: { readonly clock: Pick<Clock, 'now'>; readonly logger: Logger },
): ReceiverBreaker {
  if (options === false) return OFF
  const { timeouts: allowed = 3, pauseMs = 30_000, maxPauseMs = 300_000 } = options ?? {}
  const receivers = new Map<string, Receiver>()

  function open(key: string, place: BusyReceiver): Receiver {
    const opened = { place, timeouts: 0, pauses: 0, until: 0, isProbed: false }
    const [oldest] = receivers.keys()
    if (receivers.size >= MAX_KEPT && oldest !== undefined) receivers.delete(oldest)
    receivers.set(key, opened)
    return opened
  }

  /** @param begunAt Begin of the send. Sends that began before the end of the last pause are no probes: they do not count. */
  function timedOut(key: string, place: BusyReceiver, claimed: ClaimedDelivery, begunAt: number): void {
    const receiver = receivers.get(key) ?? open(key, place)
    if (begunAt < receiver.until) return
    receiver.timeouts++
    if (receiver.timeouts < allowed) return
    receiver.pauses++
    const ms = Math.min(pauseMs * 2 ** (receiver.pauses - 1), Math.max(pauseMs, maxPauseMs))
    receiver.until = clock.now() + ms
    const { timeouts } = receiver
    logger.log('warn', 'delivery.receiver_paused', { ...placeOf(claimed), timeouts, pauseMs: ms })
  }

  function answered(key: string, claimed: ClaimedDelivery): void {
    if ((receivers.get(key)?.pauses ?? 0) > 0) logger.log('info', 'delivery.receiver_resumed', placeOf(claimed))
    receivers.delete(key)
  }

  function isPaused(receiver: Receiver | undefined): boolean {
    return receiver !== undefined && receiver.pauses > 0 && receiver.until > clock.now()
  }

  return {
    stopped() {
      const stopped: BusyReceiver[] = []
      for (const receiver of receivers.values()) {
        if (stopped.length === MAX_LEFT_OUT) break
        if (receiver.isProbed || isPaused(receiver)) stopped.push(receiver.place)
      }
      return stopped
    },

    probesInMs() {
      const ends = [...receivers.values()].filter(isPaused).map(({ until }) => until)
      return ends.length > 0 ? Math.min(...ends) - clock.now() : undefined
    },

    pausedMs(claimed) {
      const receiver = receivers.get(keyOf(placeFor(claimed)) ?? '')
      if (receiver && isPaused(receiver)) return receiver.until - clock.now()
      return receiver?.isProbed ? 0 : undefined
    },

    watch(claimed) {
      const place = placeFor(claimed)
      const key = keyOf(place)
      if (key === undefined || place === undefined) return UNWATCHED
      const paused = receivers.get(key)
      const probed = paused && paused.pauses > 0 && !paused.isProbed ? paused : undefined
      if (probed) probed.isProbed = true
      let begunAt = clock.now()
      return {
        begin() {
          begunAt = clock.now()
        },
        end({ outcome, code }) {
          const hasFailed = outcome === 'retry' || outcome === 'unknown'
          if (INTERRUPTED.includes(code)) return undefined
          const isSlow = TIMEOUTS.includes(code) || clock.now() - begunAt >= SLOW_MS
          if (hasFailed && isSlow) timedOut(key, place, claimed, begunAt)
          else answered(key, claimed)
          const receiver = receivers.get(key)
          return receiver && isPaused(receiver) ? receiver.until - clock.now() : undefined
        },
        leave() {
          if (probed) probed.isProbed = false
        },
      }
    },
  }
}

function placeFor({ channel, concurrencyKey, dispatch }: ClaimedDelivery): BusyReceiver | undefined {
  return concurrencyKey === undefined ? undefined : { channel, concurrencyKey, tenant: dispatch.tenant }
}

function keyOf(place: BusyReceiver | undefined): string | undefined {
  return place && JSON.stringify([place.channel, place.tenant, place.concurrencyKey])
}
