import type { AuthVerifier } from '../../ports/auth-verifier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

const EVERY_MS = 1_000
/** Further reasons are logged without their names. */
const MAX_REASONS = 50
const REASON = /^[a-z][a-z0-9_]{0,31}$/

interface Refusals {
  readonly loggedAt: number
  /** Refusals since, which are not logged. */
  omitted: number
}

const LOGGED = /* @__PURE__ */ new WeakMap<AuthVerifier, Map<string | undefined, Refusals>>()

interface RefusalDeps {
  readonly auth: AuthVerifier
  readonly logger: Logger
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Logs `auth.refused` at most once a second for each reason of a verifier, with the number of refusals that were omitted since the last
 * line: strangers must not fill the log.
 *
 * @param given The reason of any verifier. Dropped if it is not a short name.
 */
export function logAuthRefusal(given: unknown, requestId: string, { auth, logger, clock }: RefusalDeps): void {
  const reasons = LOGGED.get(auth) ?? new Map<string | undefined, Refusals>()
  LOGGED.set(auth, reasons)
  const named = typeof given === 'string' && REASON.test(given) ? given : undefined
  const reason = reasons.has(named) || reasons.size < MAX_REASONS ? named : undefined
  const now = clock.now()
  const last = reasons.get(reason)
  if (last && Math.abs(now - last.loggedAt) < EVERY_MS) {
    last.omitted++
    return
  }
  reasons.set(reason, { loggedAt: now, omitted: 0 })
  const fields = { requestId, ...(reason && { reason }), ...(last?.omitted && { omitted: last.omitted }) }
  logger.log('warn', 'auth.refused', fields)
}
