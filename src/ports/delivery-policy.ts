import type { Recipient } from '../model/recipient.ts'

/** A planned message and its send time. */
export interface PolicyQuestion {
  readonly tenant: string
  readonly eventType: string
  /** Category of the event. */
  readonly category: string
  /** Preferences and quiet hours do not apply. */
  readonly critical: boolean
  readonly channel: string
  readonly recipient: Recipient
  /** Session of the token that dispatched the event, or whose post caused the run event. Set during planning; otherwise absent. */
  readonly sessionId?: string
  /** Planned send time, epoch milliseconds. */
  readonly at: number
}

/** A sliding window: at most `max` messages under one key in any `windowMs`. The store counts atomically. */
export interface SendLimit {
  /** Unique within the tenant, 1-512 characters. Counts once for a message that names it twice. */
  readonly key: string
  /** 1-1,000. */
  readonly max: number
  /** More than 0. */
  readonly windowMs: number
}

/** Decision about a message. */
export type Verdict =
  /** Send it. When one of `limits` is spent, it is skipped as `throttled`. */
  | { readonly verdict: 'send'; readonly limits?: readonly SendLimit[] }
  | { readonly verdict: 'skip'; readonly reason: 'opted_out' | 'throttled' }
  /** Send it at this instant or later, epoch milliseconds. The delivery shows that it waits for `for`. Default: `policy`. */
  | {
      readonly verdict: 'defer'
      readonly until: number
      readonly for?: 'quiet_hours' | 'policy'
      readonly limits?: readonly SendLimit[]
    }

/** Channels and events that a policy refers to by name. */
export interface PolicyNames {
  readonly channels?: readonly string[]
  readonly events?: readonly string[]
}

/**
 * Decides whether and when a message is sent. `sallyport/policy` has `preferences`, `quietHours`, `throttle` and `allOf`.
 *
 * Called during planning, and again before a send that does not follow at once (after a delay, a deferral, a digest, a fallback, a
 * failed attempt, or more than a minute without a worker), so that changed preferences apply. `limits` count the first time only.
 */
export interface DeliveryPolicy {
  /**
   * Must have no side effects: dry runs call it. A throw, no verdict, or none within five seconds: 503
   * `policy_unavailable` in planning; later, the delivery waits.
   */
  decide(question: PolicyQuestion): Verdict | Promise<Verdict>
  /** Names that `createSallyport` checks against its channels and events. Default: no check. */
  readonly names?: PolicyNames
}
