/** One of several providers, in one attempt. */
export interface ProviderEnd {
  readonly name: string
  /** Why it did not send the message. Absent: it sent it. `cooling_down` and `provider_waiting`: it was not asked. */
  readonly code?: string
}

/** Outcome of one attempt. */
export interface AttemptEnd {
  /** `retry`: not sent. `unknown`: may have been sent. */
  readonly outcome: 'sent' | 'retry' | 'unknown' | 'rejected'
  readonly code?: string
  /** The provider used, if the channel has several. */
  readonly provider?: string
  /** All providers of the attempt, in the order in which they were asked, if the channel has several. At most 16. */
  readonly providers?: readonly ProviderEnd[]
  readonly providerMessageId?: string
  /** Enhanced status code of a mail server (RFC 3463), such as `5.1.1`. */
  readonly enhancedStatus?: string
  /** Copies that the message did not go to, because their addresses are suppressed. Absent: none. */
  readonly omittedCopies?: number
}

/** A stored attempt. Without `outcome` it is in flight, or its worker died and it may have been sent. */
export interface Attempt extends Partial<AttemptEnd> {
  /** 1-based. */
  readonly attempt: number
  /** Time of the claim, epoch milliseconds by the store's clock. */
  readonly startedAt: number
  /** Time when the end was stored, by the store's clock. Never before `startedAt`. */
  readonly endedAt?: number
}

/** Public view of an attempt. Instants are RFC 3339. */
export interface AttemptView {
  readonly attempt: number
  readonly startedAt: string
  readonly endedAt?: string
  /** `lost`: its worker died and it may have been sent. Absent: in flight. */
  readonly outcome?: AttemptEnd['outcome'] | 'lost'
  readonly code?: string
  /** The provider used, if the channel has several. */
  readonly provider?: string
  /** All providers of the attempt, in the order in which they were asked, if the channel has several. */
  readonly providers?: readonly ProviderEnd[]
  /** Enhanced status code of a mail server (RFC 3463), such as `5.1.1`. */
  readonly enhancedStatus?: string
  /** Copies that the message did not go to, because their addresses are suppressed. Absent: none. */
  readonly omittedCopies?: number
}
