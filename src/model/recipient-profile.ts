import type { PreferenceSet } from './preference-set.ts'
import type { SuppressionView } from './suppression.ts'

/** Preferences and suppressions that decide whether messages reach a recipient. */
export interface RecipientProfile {
  /** Stored preferences. Absent: none, so that everything is allowed. */
  readonly preferences?: PreferenceSet
  /** Addresses of its newest 50 dispatches, and the recipient itself where it is a suppressed address. At most 100. */
  readonly addresses: readonly RecipientAddress[]
}

/** An address of a recipient on one channel. */
export interface RecipientAddress {
  readonly channel: string
  /** Masked: recognisable, but not usable. */
  readonly address: string
  /** Suppressions that hold now, oldest first. Absent: the host has no keys for addresses, and stores none. */
  readonly suppressions?: readonly SuppressionView[]
}
