import type { Recipient } from '../model/recipient.ts'

/** One message that would go out, and when. */
export interface PolicyQuestion {
  readonly tenant: string
  readonly eventType: string
  /** Preferences and quiet hours do not hold it back. */
  readonly critical: boolean
  readonly channel: string
  readonly recipient: Recipient
  /** While an event is planned: the session whose token asks for it. Absent: an application does. */
  readonly sessionId?: string
  /** When it would be sent, epoch milliseconds. */
  readonly at: number
}

/** At most `max` messages under one key in any `windowMs`; one that is `windowMs` old counts no longer. The store counts, so that no two count the same place. */
export interface SendLimit {
  /** Unique within the tenant, 1-512 characters. Named twice for one message, it counts once. */
  readonly key: string
  /** 1-1,000. */
  readonly max: number
  /** More than 0. */
  readonly windowMs: number
}

/** What is to become of a message. */
export type Verdict =
  /** Send it, unless one of `limits` is spent: then it is skipped as `throttled`. */
  | { readonly verdict: 'send'; readonly limits?: readonly SendLimit[] }
  | { readonly verdict: 'skip'; readonly reason: 'opted_out' | 'throttled' }
  /** Send it then, and no sooner; epoch milliseconds. */
  | { readonly verdict: 'defer'; readonly until: number; readonly limits?: readonly SendLimit[] }

/** Channels and events that a policy knows by name. */
export interface PolicyNames {
  readonly channels?: readonly string[]
  readonly events?: readonly string[]
}

/**
 * Says whether a message may go out, and when. `preferences`, `quietHours`, `throttle` and `allOf` from `sallyport/policy`
 * are these.
 *
 * It is asked when an event is planned, and again before each send that does not follow at once (after a delay, a deferral, a
 * digest, a fallback, a failed attempt, or over a minute without a worker), so that a change of mind counts; `limits` count
 * only the first time.
 */
export interface DeliveryPolicy {
  /**
   * Must change nothing: it is asked for dry runs too. A throw means that the policy is unavailable: while planning 503
   * `policy_unavailable` and nothing is stored, before a send the delivery waits.
   */
  decide(question: PolicyQuestion): Verdict | Promise<Verdict>
  /** What it is about by name, for `createSallyport` to hold against its channels and events. Default: nothing is held. */
  readonly names?: PolicyNames
}
