import type { Clock } from '../ports/clock.ts'

/** The secret of an endpoint; several while one takes over from another: each signs. */
export type WebhookSecret = string | readonly string[]

/** How `webhook()` sends. */
export interface WebhookOptions {
  /**
   * `whsec_` and base64 of 24 to 64 random bytes, known to the receiver: one for all endpoints, or a function that finds
   * that of an endpoint, which keeps one receiver from signing in your name to another. When the function gives nothing,
   * nothing is sent and the delivery is tried again (`secret_missing`).
   */
  readonly secret:
    | WebhookSecret
    | ((url: string, tenant: string) => WebhookSecret | undefined | Promise<WebhookSecret | undefined>)
  /** Also take `http:` URLs, where anyone on the way can read the event. Default: `false`. */
  readonly allowHttp?: boolean
  /**
   * **Turns off the guard against server-side request forgery**: whoever chooses a webhook URL can then have this server
   * post to itself, to its neighbours and to cloud metadata. For tests, for development, and where an egress proxy or a
   * firewall does that work. Default: `false`.
   */
  readonly allowPrivateNetworks?: boolean
  /** Ports to allow beside 443, and beside 80 with `allowHttp`. Default: none; any with `allowPrivateNetworks`. */
  readonly ports?: readonly number[]
  /** For the whole attempt, from resolving the name to the end of the answer, in milliseconds: 1 to 3,600,000. Default: 15,000. */
  readonly timeoutMs?: number
  /** Milliseconds before each further attempt. Default: 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h. */
  readonly retrySchedule?: readonly number[]
  /** Default: the machine's time. */
  readonly clock?: Clock
}
