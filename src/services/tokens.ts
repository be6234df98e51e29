import { type Revocations, revocationList } from '../core/tokens/revocations.ts'
import { tokenUseLog, type UseLog, type UseLogDeps } from '../core/tokens/use-log.ts'
import { writeInstant } from '../model/instants.ts'
import { isUserId, isVisibleAscii } from '../model/principal.ts'
import type { TokenUse, TokenUseView } from '../model/token-use.ts'
import { matching, oneOf } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { Page } from '../ports/dispatch-query.ts'
import type { RevokedTokens, TokenStore } from '../ports/token-store.ts'
import { age, storedText, type TenantScope, tenant, tenantOf } from './call-checks.ts'
import { type ListOptions, listQuery, MAX_PAGE, pageChecks, pruneAll, viewPage } from './pagination.ts'

/** Filter of uses: those that match all given options. */
export interface TokenUseListOptions extends ListOptions {
  /** The token's id. Uses of tokens that were exchanged from it are listed under their own. */
  readonly jti?: string | undefined
  readonly outcome?: TokenUse['outcome'] | undefined
}

/** Filter of uses to remove. */
export interface TokenUsePruneOptions {
  /** Milliseconds since the use, up to 20 years. */
  readonly olderThan: number
  /** Default: every tenant. */
  readonly tenant?: string | undefined
}

/** Session tokens of a host. Every method throws errors of the store, and `option_invalid` with all problems of its options at once. */
export interface Tokens {
  /**
   * Revokes a token, or all tokens of a session or user that were issued until now; and all that were or will be exchanged from them.
   * At once in this process and within one second in the others: their tokens are answered 401 `invalid_token`. A token issued later
   * is valid. Clocks of hosts that issue and revoke must agree. By session or user, a JWT of another library without `since` counts as
   * issued at its `iat`, whole seconds: one that is issued in the second of the revocation is refused too. A revocation by `jti` is
   * kept for a year, others for 25 hours, longer than any token lives.
   */
  revoke(
    of: { readonly jti: string } | { readonly sessionId: string } | { readonly userId: string },
    scope?: TenantScope,
  ): Promise<void>
  /**
   * Uses of session tokens that were authenticated, newest first. Each process stores them once a second, and at `stop()`; a crash loses
   * at most those of its last second, and the counts of repeated refusals and posts of its last minute. A request that was refused before its
   * body was complete is not in it. Uses are removed after a week.
   */
  uses(options?: TokenUseListOptions): Promise<Page<TokenUseView>>
  /** Removes old uses. */
  prune(options: TokenUsePruneOptions): Promise<{ readonly pruned: number }>
}

export interface TokenServices {
  readonly tokens: Tokens
  readonly revocations: Revocations
  readonly uses: UseLog
}

/** Longest lifetime of a session token, a day, and the tolerance of clocks. */
const KEPT_FOR_MS = 25 * 3_600_000

/** A verifier of the host may give a principal without an end: the revocation of one token lasts. */
const JTI_KEPT_FOR_MS = 365 * 86_400_000

const LIST = 'token uses'

const visible = matching(isVisibleAscii, 'must be 1-200 visible ASCII characters')

interface Revoked {
  readonly jti?: string
  readonly sessionId?: string
  readonly userId?: string
}

const REVOKE_CHECKS: Checks<Revoked> = {
  jti: visible,
  sessionId: visible,
  userId: matching(isUserId, 'must be 1 to 200 characters'),
}
const LIST_CHECKS: Checks<TokenUseListOptions> = {
  ...pageChecks(LIST),
  jti: storedText,
  sessionId: storedText,
  outcome: oneOf(['accepted', 'refused'] satisfies TokenUse['outcome'][]),
}
const PRUNE_CHECKS: Checks<TokenUsePruneOptions> = { olderThan: required(age), tenant }

export function tokenServices(deps: UseLogDeps & { readonly store: TokenStore; readonly clock: Clock }): TokenServices {
  const { store, clock } = deps
  const revocations = revocationList(store, clock)
  const uses = tokenUseLog(deps)
  return {
    revocations,
    uses,
    tokens: {
      async revoke(of, scope) {
        const revoked = { tenant: tenantOf('tokens.revoke', scope), ...oneOfThem(of), revokedAt: clock.now() }
        await store.revokeTokens({ ...revoked, keptForMs: revoked.by === 'jti' ? JTI_KEPT_FOR_MS : KEPT_FOR_MS })
        // It is stored: if this read fails, the next request reads it.
        await revocations.refresh().catch(() => {})
      },
      async uses(options = {}) {
        const query = listQuery(LIST, readOptions('tokens.uses', options, LIST_CHECKS))
        await uses.flush()
        return viewPage(LIST, await store.listTokenUses(query), viewUse)
      },
      async prune(options) {
        const { olderThan, tenant } = readOptions('tokens.prune', options, PRUNE_CHECKS)
        const removal = { tenant, usedForMs: olderThan, limit: MAX_PAGE }
        return { pruned: await pruneAll(() => store.removeTokenUses(removal), removal.limit, clock) }
      },
    },
  }
}

function oneOfThem(of: Revoked): Pick<RevokedTokens, 'by' | 'value'> {
  const read = readOptions('tokens.revoke', of, REVOKE_CHECKS, (given) =>
    Object.keys(given).length === 1 ? [] : [{ detail: 'takes one of jti, sessionId and userId' }],
  )
  const [entry] = Object.entries(read) as [RevokedTokens['by'], string][]
  const [by, value] = entry as [RevokedTokens['by'], string]
  return { by, value }
}

function viewUse({ useId: _, tenant: __, at, ...use }: TokenUse): TokenUseView {
  return { ...use, time: writeInstant(at) }
}
