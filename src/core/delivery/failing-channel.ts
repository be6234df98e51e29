import type { AttemptEnd } from '../../model/attempt.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedDelivery } from '../../ports/dispatch-store.ts'
import type { Logger } from '../../ports/logger.ts'
import type { LineLimiter } from '../answers/line-limiter.ts'
import { placeOf } from './lease.ts'

/** Codes of attempts that sent nothing because the provider of the channel was not reached, or refused the host. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  connection_failed: 'No connection was made: check host and port, TLS, and the way through firewalls.',
  smtp_auth: 'The mail server refused the login: check user and password of the transport.',
  provider_auth: 'The provider refused the credentials of the channel: check them.',
  transport_misconfigured: 'The transport cannot work with its options: check them.',
}

/** Logs `channel.unreachable` after an attempt with such a code: the first time, and then as `lines` admits. */
export function logUnreachable(
  { code, provider }: AttemptEnd,
  claimed: ClaimedDelivery,
  lines: LineLimiter | undefined,
  { logger, clock }: { readonly logger: Logger; readonly clock: Pick<Clock, 'now'> },
): void {
  const detail = code !== undefined && Object.hasOwn(UNREACHABLE, code) ? UNREACHABLE[code] : undefined
  if (code === undefined || detail === undefined) return
  const due = lines?.admit(`${claimed.channel} ${code}`, clock.now())
  if (!due) return
  const place = { attempt: claimed.attempts, ...placeOf(claimed), ...(provider !== undefined && { provider }) }
  logger.log('warn', 'channel.unreachable', { ...place, code, detail, ...due })
}
