/** How much a worker sends on one channel. */
export interface ChannelLimits {
  /** Messages that are sent at the same time. Default: 10. */
  readonly concurrency?: number
  /**
   * Of these, how many to one receiver, on a channel that tells receivers apart: one that has died takes no more places.
   * Default: a fifth of `concurrency`, at least 1.
   */
  readonly perReceiver?: number
  /** At most `max` sends are begun in any `perMs` milliseconds, by this worker. Default: no limit. */
  readonly rate?: { readonly max: number; readonly perMs: number }
}

/** How a worker works. `concurrency`, `perReceiver` and `rate` are each channel's own. */
export interface WorkerOptions extends ChannelLimits {
  /** Channels that differ from the others, by their names. */
  readonly channels?: Readonly<Record<string, ChannelLimits>>
  /** Milliseconds after which a delivery whose worker died is taken up again; renewed while it is being sent. Default: 30,000. */
  readonly leaseMs?: number
  /**
   * Milliseconds that a channel may take to send one message: then its signal is aborted, and a second later it may have been
   * sent. Default: 60,000.
   */
  readonly sendTimeoutMs?: number
  /** Milliseconds between looks when nothing wakes it. Default: 1,000. */
  readonly pollMs?: number
}
