import { isStorable } from './json.ts'

/** An operation that a caller can request. */
export type Operation = 'dispatch' | 'session_run'

/** The dispatches that a session token allows: only listed values, compared exactly with those of the request. */
export interface DispatchGrant {
  readonly events: readonly string[]
  readonly channels: readonly string[]
  readonly recipients: readonly string[]
  /** The most events over the life of the token, 1 to 1,000. Refused requests and repeated idempotency keys do not count. */
  readonly maxDispatches?: number
}

/** The authenticated caller, as an {@link AuthVerifier} gives it. */
export interface Principal {
  /** Names the credential in logs and records; never the secret itself. */
  readonly id: string
  /** Scopes all data that is stored and read. `default` for a host with one tenant. */
  readonly tenant: string
  /** Present for a session token: the only session that it can access. Absent: an application, which can access all. */
  readonly sessionId?: string
  /** With a `sessionId`: the only user whose runs it can record. Absent: its runs name no user. */
  readonly userId?: string
  /** With a `sessionId`: the dispatches that it allows. Absent: none. */
  readonly dispatch?: DispatchGrant
}

/** Whether a value can be `maxDispatches` of a {@link DispatchGrant}. */
export function isMaxDispatches(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1_000
}

/** Whether a value can be a user id: 1 to 200 characters that every store can keep. */
export function isUserId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 200 && isStorable(value)
}
