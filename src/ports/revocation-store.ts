/** Tokens that a revocation covers: one and its descendants, or all of a session or user that were issued by then. */
export interface RevokedTokens {
  readonly tenant: string
  readonly by: 'jti' | 'sessionId' | 'userId'
  /** The id of the token, session or user. */
  readonly value: string
  /** Epoch milliseconds, by the clock of the host that revoked. */
  readonly revokedAt: number
}

/** A revocation to store. */
export interface NewRevocation extends RevokedTokens {
  /** Milliseconds until every covered token has expired. */
  readonly keptForMs: number
}

/** A stored revocation. */
export interface Revocation extends RevokedTokens {
  /** Its place in the order of commits: 1 for the first one, then always higher, also after removals. */
  readonly sequence: number
  /** Milliseconds until it expires, by the store's clock. */
  readonly endsInMs: number
}

/** Stores revocations of session tokens. Every method throws when the store is unavailable and must then have made all of its changes or none. */
export interface RevocationStore {
  /** Stores a revocation and removes expired ones. Once the promise resolves, {@link listRevocations} returns it in every process. */
  revokeTokens(revocation: NewRevocation): Promise<void>
  /**
   * Lists revocations that have not expired, in the order of `sequence`. A revocation that commits later never has a lower `sequence`
   * than a listed one, so a process that continues after the last one misses none.
   *
   * @param after Only higher sequences.
   */
  listRevocations(after: number, limit: number): Promise<readonly Revocation[]>
}
