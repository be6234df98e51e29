import type { TokenUse } from '../model/token-use.ts'
import type { Page } from './dispatch-query.ts'

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

/** Uses to store. */
export interface NewTokenUse extends Omit<TokenUse, 'at'> {
  /** Milliseconds since the use. */
  readonly agoMs: number
}

/** Query for uses that match every given member, newest first. */
export interface TokenUseQuery {
  readonly tenant: string
  readonly jti?: string | undefined
  readonly sessionId?: string | undefined
  readonly outcome?: TokenUse['outcome'] | undefined
  readonly limit: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** Filter of {@link TokenStore.removeTokenUses}. */
export interface TokenUseRemoval {
  /** Default: all tenants. */
  readonly tenant?: string | undefined
  /** Used more than this many milliseconds ago, by the store's clock. */
  readonly usedForMs: number
  readonly limit: number
}

/**
 * Stores revocations of session tokens and the log of their uses. Every method throws when the store is unavailable and must then have
 * made all of its changes or none.
 */
export interface TokenStore {
  /** Stores a revocation and removes expired ones. Once the promise resolves, {@link listRevocations} returns it in every process. */
  revokeTokens(revocation: NewRevocation): Promise<void>
  /**
   * Lists revocations that have not expired, in the order of `sequence`. A revocation that commits later never has a lower `sequence`
   * than a listed one, so a process that continues after the last one misses none.
   *
   * @param after Only higher sequences.
   */
  listRevocations(after: number, limit: number): Promise<readonly Revocation[]>
  /**
   * Stores uses, each `useId` once: a stored use stays as it is. A caller that got no answer may repeat the call.
   *
   * @param uses At most 100.
   */
  recordTokenUses(uses: readonly NewTokenUse[]): Promise<void>
  listTokenUses(query: TokenUseQuery): Promise<Page<TokenUse>>
  /** Removes old uses. Resolves to their number: fewer than `limit` means that none is left to remove. */
  removeTokenUses(removal: TokenUseRemoval): Promise<number>
}
