import { type Revocations, revocationList } from '../core/tokens/revocations.ts'
import { isUserId, isVisibleAscii } from '../model/principal.ts'
import { matching } from '../options/checks.ts'
import { type Checks, readOptions } from '../options/read-options.ts'
import type { Clock } from '../ports/clock.ts'
import type { RevocationStore, RevokedTokens } from '../ports/revocation-store.ts'
import { type TenantScope, tenantOf } from './call-checks.ts'

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
}

export interface TokenServices {
  readonly tokens: Tokens
  readonly revocations: Revocations
}

/** Longest lifetime of a session token, a day, and the tolerance of clocks. */
const KEPT_FOR_MS = 25 * 3_600_000

/** A verifier of the host may give a principal without an end: the revocation of one token lasts. */
const JTI_KEPT_FOR_MS = 365 * 86_400_000

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

export function tokenServices({
  store,
  clock,
}: {
  readonly store: RevocationStore
  readonly clock: Clock
}): TokenServices {
  const revocations = revocationList(store, clock)
  return {
    revocations,
    tokens: {
      async revoke(of, scope) {
        const revoked = { tenant: tenantOf('tokens.revoke', scope), ...oneOfThem(of), revokedAt: clock.now() }
        await store.revokeTokens({ ...revoked, keptForMs: revoked.by === 'jti' ? JTI_KEPT_FOR_MS : KEPT_FOR_MS })
        // It is stored: if this read fails, the next request reads it.
        await revocations.refresh().catch(() => {})
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
