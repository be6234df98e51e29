import type { AuthVerifier } from '../../ports/auth-verifier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { type LineLimiter, limitLines } from './line-limiter.ts'

const EVERY_MS = 1_000
const REASON = /^[a-z][a-z0-9_]{0,31}$/

const LIMITERS = /* @__PURE__ */ new WeakMap<AuthVerifier, LineLimiter>()

/** Text of the reason that the core gives too: after `tokens.revoke()`. */
const REVOKED: Readonly<Record<string, string>> = {
  revoked: 'tokens.revoke() or isRevoked() ended the token, or one that it was exchanged from: issue another.',
}

interface RefusalDeps {
  readonly auth: AuthVerifier
  readonly logger: Logger
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Logs `auth.refused` at most once a second for each reason of a verifier.
 *
 * @param given The reason of any verifier. Dropped if it is not a short name.
 */
export function logAuthRefusal(given: unknown, requestId: string, { auth, logger, clock }: RefusalDeps): void {
  const lines = LIMITERS.get(auth) ?? limitLines(EVERY_MS)
  LIMITERS.set(auth, lines)
  const named = typeof given === 'string' && REASON.test(given) ? given : undefined
  const reason = lines.countedAs(named)
  const due = lines.admit(reason, clock.now())
  if (!due) return
  const texts: Readonly<Record<string, unknown>> = reason === 'revoked' ? REVOKED : { ...auth.reasons }
  const detail = reason !== undefined && texts[reason]
  logger.log('warn', 'auth.refused', {
    requestId,
    ...(reason && { reason }),
    ...(typeof detail === 'string' && { detail }),
    ...due,
  })
}
