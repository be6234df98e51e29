/** Cause of a wait that the record does not tell otherwise. It is stored with the delivery until a worker takes it. */
export type StoredWait =
  /** The recipient's quiet hours. */
  | 'quiet_hours'
  /** Any other policy. */
  | 'policy'
  /** Its receiver timed out several times in succession. */
  | 'receiver_paused'
  /** The policy, the directory or a schema failed. */
  | 'unavailable'
  /** The worker lacks its channel or event: another deployment. */
  | 'unknown_here'

/**
 * Cause of a delivery's wait. `delay`: the time that was asked for. `digest`: the end of its window. `retry`: the next attempt.
 * `fallback`: the failure of the channel before it. Others: see {@link StoredWait}.
 */
export type WaitCause = 'delay' | 'digest' | 'retry' | 'fallback' | StoredWait

/** A wait of a delivery, as views show it. */
export interface DeliveryWaiting {
  readonly for: WaitCause
  /** End of the wait, RFC 3339. Absent for `fallback`. */
  readonly until?: string
}

const STORED_WAITS: Readonly<Record<StoredWait, true>> = {
  quiet_hours: true,
  policy: true,
  receiver_paused: true,
  unavailable: true,
  unknown_here: true,
}

export function isStoredWait(word: unknown): word is StoredWait {
  return typeof word === 'string' && Object.hasOwn(STORED_WAITS, word)
}
