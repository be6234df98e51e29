/** The two things that a caller can ask for. */
export type Operation = 'dispatch' | 'session_run'

/** What a session token may dispatch: only what is listed, exactly as it is written in the request. */
export interface DispatchGrant {
  readonly events: readonly string[]
  readonly channels: readonly string[]
  readonly recipients: readonly string[]
}

/** Who is calling, as an {@link AuthVerifier} found it to be. */
export interface Principal {
  /** Names the credential in logs and records; never the secret itself. */
  readonly id: string
  /** Everything that is stored and read is scoped to it. `default` where a host has one tenant. */
  readonly tenant: string
  /** Present for a session token: the one session that it may touch. Absent: an application, which may touch all. */
  readonly sessionId?: string
  /** With a `sessionId`: what it may dispatch. Absent: nothing. */
  readonly dispatch?: DispatchGrant
}
