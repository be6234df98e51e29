/** Limits of a worker on one channel. */
export interface ChannelLimits {
  /**
   * Messages in flight at the same time. Default: 10. One tenant alone may use all. When all are taken, sends of over a second count
   * only up to their tenant's equal share, so that others are not delayed: then up to twice as many are in flight.
   */
  readonly concurrency?: number
  /** Messages in flight to one receiver, on a channel with a `concurrencyKey`. Default: a fifth of `concurrency`, at least 1. */
  readonly perReceiver?: number
  /** Rate limit of this worker: at most `max` sends start in any `perMs` milliseconds. Default: no limit. */
  readonly rate?: { readonly max: number; readonly perMs: number }
}

/**
 * Circuit breakers per tenant and address, and per tenant and receiver, on channels with a `concurrencyKey`. Each worker decides and
 * probes alone.
 */
export interface BreakerOptions {
  /**
   * Time-outs in a row that pause an address; five addresses in a row pause their receiver. A time-out is a code `timeout` or
   * `send_timeout`, or a failure after five seconds. Default: 3.
   */
  readonly timeouts?: number
  /** Milliseconds of the first pause. Then one delivery is sent; if it times out too, the next pause is twice as long. Default: 30,000. */
  readonly pauseMs?: number
  /** Milliseconds of the longest pause. Default: 300,000. */
  readonly maxPauseMs?: number
}

/** Options of a worker. `concurrency`, `perReceiver` and `rate` apply to each channel separately. */
export interface WorkerOptions extends ChannelLimits {
  /** Limits of single channels, by name. They replace the limits above. */
  readonly channels?: Readonly<Record<string, ChannelLimits>>
  /** Milliseconds of a lease, renewed while in flight. After it ends, another worker claims the delivery. Default: 30,000. */
  readonly leaseMs?: number
  /** Milliseconds for one send. Then its signal aborts, and one second later the outcome is `unknown`. Default: 60,000. */
  readonly sendTimeoutMs?: number
  /**
   * Pauses addresses that keep timing out, and receivers most of whose addresses do: until the end of the pause, their deliveries are moved
   * behind it when they are claimed, never past their expiry, which counts as no attempt. They and the delivery whose time-out began the
   * pause, if its next attempt would come earlier, wait for `receiver_paused`. `false`: never. Default: see {@link BreakerOptions}.
   */
  readonly breaker?: BreakerOptions | false
  /**
   * Milliseconds between polls without a wake-up. Default: 1,000; while the queue is connected 5,000, or `leaseMs` if that is shorter. A
   * delivery that is known to be due earlier is polled for when it is due.
   */
  readonly pollMs?: number
}
