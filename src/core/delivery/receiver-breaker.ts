import type { AttemptEnd } from '../../model/attempt.ts'
import type { Clock } from '../../ports/clock.ts'
import type { BusyReceiver, ClaimedDelivery } from '../../ports/dispatch-store.ts'
import type { Logger } from '../../ports/logger.ts'
import { deliveryFields } from './log-fields.ts'
import type { BreakerOptions } from './worker-options.ts'

/** One attempt, as the breakers of its address and its receiver watch it. */
export interface WatchedAttempt {
  /** The send begins. */
  begin(): void
  /** Returns the milliseconds left of the pause of its address or receiver; `undefined`: neither is paused. */
  end(end: AttemptEnd): number | undefined
  /** The attempt is over, with or without a send. */
  leave(): void
}

/**
 * Circuit breakers of one worker, on channels with a `concurrencyKey`: one per channel, tenant and address, such as a URL, and one per
 * channel, tenant and receiver, such as the origin of many URLs.
 *
 * An address that times out several times in a row is paused (the circuit is open): nothing is sent to it. After the pause one delivery is
 * sent as a probe (half-open): if it times out too, the next pause is twice as long; otherwise the address is resumed (closed).
 *
 * One hanging address is not its receiver. A receiver is paused when five of its addresses timed out in a row, without an answer of any
 * other between. Meanwhile one delivery at a time to an address that was not among them is sent at once, and its answer resumes the
 * receiver. So an address that hangs delays deliveries to others only while they share slots.
 */
export interface ReceiverBreaker {
  /** Receivers that get nothing now, at most 250. Claims leave them out: a probe is in flight, or the only address is paused. */
  stopped(): readonly BusyReceiver[]
  /** Milliseconds until the first pause ends; `undefined`: nothing is paused. */
  probesInMs(): number | undefined
  /** Milliseconds until the delivery may be sent, 0 while claims leave it out; `undefined`: now. */
  pausedMs(claimed: ClaimedDelivery): number | undefined
  watch(claimed: ClaimedDelivery): WatchedAttempt
}

/** State of one address or receiver. */
interface Circuit {
  /** Pauses in a row; 0: it is not paused. */
  pauses: number
  /** End of the last pause. */
  until: number
  isProbed: boolean
}

interface Address extends Circuit {
  readonly place: BusyReceiver
  /** True if its receiver has no other address. */
  readonly isReceiver: boolean
  /** Time-outs in a row. */
  timeouts: number
}

interface Receiver extends Circuit {
  readonly place: BusyReceiver
  /** Addresses that timed out since the last answer, oldest first. */
  readonly timedOut: Set<string>
}

interface Keys {
  readonly place: BusyReceiver
  readonly address: string
  readonly receiver: string
  readonly isReceiver: boolean
}

/** A failed send counts as a time-out from this duration on, whatever its code: it held its slot as long. */
const SLOW_MS = 5_000
const TIMEOUTS: readonly unknown[] = ['timeout', 'send_timeout']
/** The worker ended these sends; the receiver did not cause them. */
const INTERRUPTED: readonly unknown[] = ['stopped', 'lease_ending']

/** Addresses that time out in a row before their receiver is paused. */
const ADDRESSES = 5
/** Only addresses and receivers that timed out lately are kept. */
const MAX_KEPT = 10_000
/** Keeps a claim small. Other deliveries to paused receivers are claimed, and moved to the end of the pause. */
const MAX_LEFT_OUT = 250
/** Wait of deliveries that are claimed while their address is probed: about as long as a probe that times out. */
const PROBE_MS = 5_000

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
  const addresses = new Map<string, Address>()
  const receivers = new Map<string, Receiver>()

  /** @returns Milliseconds of the pause, twice as long as the one before. */
  function pause(circuit: Circuit): number {
    const ms = Math.min(pauseMs * 2 ** circuit.pauses, Math.max(pauseMs, maxPauseMs))
    circuit.pauses++
    circuit.until = clock.now() + ms
    return ms
  }

  function isPaused(circuit: Circuit): boolean {
    return circuit.pauses > 0 && circuit.until > clock.now()
  }

  function leftMs(circuit: Circuit | undefined): number {
    return circuit && isPaused(circuit) ? circuit.until - clock.now() : 0
  }

  /** @param begunAt Begin of the send. Sends that began before the end of the last pause are no probes: they do not count. */
  function addressTimedOut({ address: key, place, isReceiver }: Keys, claimed: ClaimedDelivery, begunAt: number): void {
    const address = addresses.get(key) ?? keep(addresses, key, { ...NEW, place, isReceiver, timeouts: 0 })
    if (begunAt < address.until) return
    address.timeouts++
    if (address.timeouts < allowed) return
    const { timeouts } = address
    logPause(claimed, { of: 'address', timeouts, pauseMs: pause(address) })
  }

  /** @param isProbe The send was allowed during a pause of the receiver, or ended one. */
  function receiverTimedOut({ address, receiver: key, place }: Keys, claimed: ClaimedDelivery, isProbe: boolean): void {
    const receiver = receivers.get(key) ?? keep(receivers, key, { ...NEW, place, timedOut: new Set<string>() })
    keepNewest(receiver.timedOut, address)
    const isNext = receiver.pauses > 0 ? isProbe : receiver.timedOut.size >= ADDRESSES
    if (isNext) logPause(claimed, { of: 'receiver', addresses: receiver.timedOut.size, pauseMs: pause(receiver) })
  }

  function logPause(claimed: ClaimedDelivery, fields: Readonly<Record<string, unknown>>): void {
    logger.log('warn', 'delivery.receiver_paused', { ...deliveryFields(claimed), ...fields })
  }

  function answered({ address, receiver }: Keys, claimed: ClaimedDelivery): void {
    const paused = [addresses.get(address), receivers.get(receiver)].some((circuit) => (circuit?.pauses ?? 0) > 0)
    if (paused) logger.log('info', 'delivery.receiver_resumed', deliveryFields(claimed))
    addresses.delete(address)
    receivers.delete(receiver)
  }

  return {
    stopped() {
      const stopped: BusyReceiver[] = []
      for (const { isProbed, place } of receivers.values()) if (isProbed) stopped.push(place)
      for (const address of addresses.values()) {
        if (stopped.length >= MAX_LEFT_OUT) break
        if (address.isReceiver && (address.isProbed || isPaused(address))) stopped.push(address.place)
      }
      return stopped.slice(0, MAX_LEFT_OUT)
    },

    probesInMs() {
      const ends = [...addresses.values(), ...receivers.values()].filter(isPaused).map(({ until }) => until)
      return ends.length > 0 ? Math.min(...ends) - clock.now() : undefined
    },

    pausedMs(claimed) {
      const keys = keysOf(claimed)
      const address = addresses.get(keys?.address ?? '')
      const receiver = receivers.get(keys?.receiver ?? '')
      if (address && isPaused(address)) return address.until - clock.now()
      if (address?.isProbed) return address.isReceiver ? 0 : PROBE_MS
      if (receiver?.isProbed) return 0
      const wasAmong = receiver && isPaused(receiver) && receiver.timedOut.has(keys?.address ?? '')
      return wasAmong ? receiver.until - clock.now() : undefined
    },

    watch(claimed) {
      const keys = keysOf(claimed)
      if (!keys) return UNWATCHED
      const probed = [addresses.get(keys.address), receivers.get(keys.receiver)].map((circuit) =>
        circuit && circuit.pauses > 0 && !circuit.isProbed ? circuit : undefined,
      )
      for (const circuit of probed) if (circuit) circuit.isProbed = true
      let begunAt = clock.now()
      return {
        begin() {
          begunAt = clock.now()
        },
        end({ outcome, code }) {
          if (INTERRUPTED.includes(code)) return undefined
          const hasFailed = outcome === 'retry' || outcome === 'unknown'
          const isSlow = TIMEOUTS.includes(code) || clock.now() - begunAt >= SLOW_MS
          if (hasFailed && isSlow) {
            addressTimedOut(keys, claimed, begunAt)
            if (!keys.isReceiver) receiverTimedOut(keys, claimed, probed[1] !== undefined)
          } else answered(keys, claimed)
          const pausedMs = Math.max(leftMs(addresses.get(keys.address)), leftMs(receivers.get(keys.receiver)))
          return pausedMs > 0 ? pausedMs : undefined
        },
        leave() {
          for (const circuit of probed) if (circuit) circuit.isProbed = false
        },
      }
    },
  }
}

const NEW: Circuit = { pauses: 0, until: 0, isProbed: false }

/** Adds a circuit; the oldest one is dropped for it. */
function keep<Kept>(circuits: Map<string, Kept>, key: string, circuit: Kept): Kept {
  const [oldest] = circuits.keys()
  if (circuits.size >= MAX_KEPT && oldest !== undefined) circuits.delete(oldest)
  circuits.set(key, circuit)
  return circuit
}

/** Addresses of a receiver that are remembered as timed out. */
const MAX_TIMED_OUT = 1_000

function keepNewest(timedOut: Set<string>, address: string): void {
  timedOut.delete(address)
  const [oldest] = timedOut
  if (timedOut.size >= MAX_TIMED_OUT && oldest !== undefined) timedOut.delete(oldest)
  timedOut.add(address)
}

/** The address is in memory only, and in no log. */
function keysOf({ channel, concurrencyKey, address, dispatch }: ClaimedDelivery): Keys | undefined {
  if (concurrencyKey === undefined) return undefined
  const place = { channel, concurrencyKey, tenant: dispatch.tenant }
  const receiver = JSON.stringify([channel, dispatch.tenant, concurrencyKey])
  return { place, receiver, address: JSON.stringify([receiver, address]), isReceiver: address === concurrencyKey }
}
