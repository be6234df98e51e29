/** The two things that a caller can ask for. */
export type Operation = 'dispatch' | 'session_run'

/** What a session token may dispatch: only what is listed, exactly as it is written in the request. */
export interface DispatchGrant {
  readonly events: readonly string[]
  readonly channels: readonly string[]
  readonly recipients: readonly string[]
  /** How many events in all, 1 to 1,000, for as long as the token lasts. What is refused, or repeated under its key, counts for nothing. */
  readonly maxDispatches?: number
}

/** Who is calling, as an {@link AuthVerifier} found it to be. */
export interface Principal {
  /** Names the credential in logs and records; never the secret itself. */
  readonly id: string
  /** Everything that is stored and read is scoped to it. `default` where a host has one tenant. */
  readonly tenant: string
  /** Present for a session token: the one session that it may touch. Absent: an application, which may touch all. */
  readonly sessionId?: string
  /** With a `sessionId`: whose runs it records; no other user can be named. Absent: it can name none. */
  readonly userId?: string
  /** With a `sessionId`: what it may dispatch. Absent: nothing. */
  readonly dispatch?: DispatchGrant
}

/** Whether a value can be what a {@link DispatchGrant} counts to. */
export function isMaxDispatches(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1_000
}

/** Whether a value can name a user: 1 to 200 characters that every store can keep. */
export function isUserId(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= 200 && value.isWellFormed() && !value.includes('\0')
  )
}
