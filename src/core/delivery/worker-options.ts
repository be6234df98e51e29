/** Limits of a worker on one channel. */
export interface ChannelLimits {
  /** Messages in flight at the same time. Default: 10. */
  readonly concurrency?: number
  /**
   * Messages in flight to one receiver, on a channel that has a `concurrencyKey`: a dead receiver does not occupy the whole channel.
   * Default: a fifth of `concurrency`, at least 1.
   */
  readonly perReceiver?: number
  /** Rate limit of this worker: at most `max` sends start in any `perMs` milliseconds. Default: no limit. */
  readonly rate?: { readonly max: number; readonly perMs: number }
}

/** Options of a worker. `concurrency`, `perReceiver` and `rate` apply to each channel separately. */
export interface WorkerOptions extends ChannelLimits {
  /** Limits of single channels, by name. They replace the limits above. */
  readonly channels?: Readonly<Record<string, ChannelLimits>>
  /**
   * Milliseconds of a lease. It is renewed while the delivery is in flight; when its worker dies, another claims the delivery after this
   * time. Default: 30,000.
   */
  readonly leaseMs?: number
  /**
   * Milliseconds for a channel to send one message. Then its signal aborts; a channel that does not answer within one more second has
   * the outcome `unknown`. Default: 60,000.
   */
  readonly sendTimeoutMs?: number
  /** Milliseconds between polls when nothing wakes the worker. Default: 1,000. */
  readonly pollMs?: number
}
