import type { Place } from '../../../labs/chaos/place.ts'

/** Start settings of a host process. */
export interface KilledHostSettings {
  readonly name: string
  readonly place: Place
  /** SHA-256 of the secret of all callers. */
  readonly sha256: string
}

/** A call of the store during which a host process kills itself. */
export interface Aim {
  /** A read of an approval, a change of it, or the acceptance of the event that reports its end. */
  readonly call: 'read' | 'change' | 'report'
  /** Before it is made, after it is made and before its answer is awaited, or after its answer. */
  readonly moment: 'before' | 'during' | 'after'
  /** Turns of the event loop between the call and the kill. */
  readonly turns: number
}

/** A command to a host process, which answers 204 when it is followed. */
export interface LabOrder {
  readonly aim?: Aim
  /** Clock error in milliseconds. */
  readonly clockOffMs?: number
  /** Does what is due. */
  readonly runDue?: true
}

/** Path of {@link LabOrder}, beside those of Sallyport. */
export const ORDER_PATH = '/order'

export const ADA = 'ada@example.com'
export const BOB = 'bob@example.com'
export const AGENT = 'agent@example.com'
export const ASKS = 'refund.approval'
export const TELLS = 'refund.answered'
/** Each approver gets a question and a reminder, which waits until the end. */
export const REMINDED_AFTER_MS = 60_000
export const EXPIRES_IN_MS = 120_000
