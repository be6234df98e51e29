import type { RefusedAddress } from '../model/suppression.ts'

/** A message to one address that is about to be planned or sent. */
export interface GuardedMessage {
  readonly tenant: string
  readonly eventType: string
  /** Category of the event. */
  readonly category: string
  /** Preferences do not apply. */
  readonly critical: boolean
  readonly channel: string
  readonly address: string
  /** Id of the recipient, as in the dispatch. Absent: the address is that of a copy, whose owner is not known. */
  readonly recipient?: string
}

/** Reason of a guard against a message. */
export type Objection = 'suppressed' | 'opted_out'

/**
 * Checks each address of a message: while planning, and last before each attempt, also the first. Unlike a policy it knows the address, is asked
 * about copies too, and needs no directory.
 */
export interface MessageGuard {
  /**
   * Must have no side effects: dry runs call it. A throw, another value, or none within five seconds: 503 `guard_unavailable` in planning;
   * later, the delivery waits.
   *
   * @returns Why the message must not go to this address; `undefined`: it may.
   */
  check(message: GuardedMessage): Promise<Objection | undefined>
  /**
   * A provider has refused the address for good. Awaited before the attempt is stored, and may be repeated. An error is only logged.
   *
   * @param about `bounced`: the address does not exist. `unsubscribed`: its owner has opted out.
   */
  learned?(message: GuardedMessage, about: RefusedAddress): Promise<void>
}
