import type { AttemptEnd } from '../../model/attempt.ts'
import type { DispatchHead } from '../../model/dispatch.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedDelivery, Settlement } from '../../ports/dispatch-store.ts'
import type { Logger } from '../../ports/logger.ts'
import type { LineLimiter } from '../answers/line-limiter.ts'
import { type HookDeps, reportDelivery } from '../hooks.ts'
import { placeOf } from './log-fields.ts'

type Change = Parameters<typeof reportDelivery>[0]

/** Codes of providers that were not asked. */
const NOT_ASKED: readonly unknown[] = ['cooling_down', 'provider_waiting']

/** Logs each provider that did not send while the attempt continued with another. */
export function logFailedProviders(
  { provider, providers = [] }: AttemptEnd,
  claimed: ClaimedDelivery,
  logger: Logger,
): void {
  for (const { name, code } of providers) {
    if (code === undefined || name === provider || NOT_ASKED.includes(code)) continue
    logger.log('warn', 'provider.failed', { attempt: claimed.attempts, ...placeOf(claimed), provider: name, code })
  }
}

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

export function logEnd(
  end: Settlement['to'] | 'cancelled' | 'lease_lost',
  claimed: ClaimedDelivery,
  settlement: Settlement | undefined,
  { logger }: { readonly logger: Logger },
): void {
  logger.log(end === 'failed' || end === 'lease_lost' ? 'warn' : 'info', `delivery.${end}`, {
    attempt: claimed.attempts,
    ...placeOf(claimed),
    ...(settlement?.attempt?.code !== undefined && { code: settlement.attempt.code }),
    ...(settlement && 'reason' in settlement && { reason: settlement.reason }),
    ...(settlement?.to === 'queued' && settlement.waitsFor !== undefined && { reason: settlement.waitsFor }),
    ...(settlement?.to === 'queued' && end === 'queued' && { delayMs: settlement.delayMs }),
  })
}

export async function reportAll(changes: readonly Change[], dispatch: DispatchHead, deps: HookDeps): Promise<void> {
  await Promise.all(changes.map((change) => reportDelivery(change, dispatch, deps)))
}

export function changeBy(settlement: Settlement, claimed: ClaimedDelivery): Change {
  const { deliveryId, channel, attempts, history } = claimed
  const { to: status, attempt } = settlement
  const lastCode = attempt?.code ?? history.findLast(({ code }) => code !== undefined)?.code
  return {
    deliveryId,
    channel,
    status,
    attempts: attempt ? attempts : attempts - 1,
    ...('reason' in settlement && { reason: settlement.reason }),
    ...(lastCode !== undefined && { lastCode }),
    ...(attempt?.providerMessageId !== undefined && { providerMessageId: attempt.providerMessageId }),
  }
}
