import type { AttemptEnd } from '../../model/attempt.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedDelivery, Settled, Settlement } from '../../ports/dispatch-store.ts'
import type { Logger } from '../../ports/logger.ts'
import type { LineLimiter } from '../answers/line-limiter.ts'
import { type HookDeps, reportDelivery } from '../hooks.ts'
import { measureAttempt, measureChanges } from '../measure.ts'
import { attemptFields, deliveryFields } from './log-fields.ts'

/** `released`: queued again, unsent. `cancelled`: cancelled instead of queued again. `lost`: another worker holds the lease. */
export type AttemptResult = 'sent' | 'retried' | 'failed' | 'skipped' | 'cancelled' | 'released' | 'lost'

export interface Attempted {
  readonly result: AttemptResult
  /** Resolves when the hooks have ended; absent without hooks. */
  readonly reported?: Promise<void>
}

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
    logger.log('warn', 'provider.failed', { ...attemptFields(claimed), provider: name, code })
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
  const fields = { ...attemptFields(claimed), ...(provider !== undefined && { provider }) }
  logger.log('warn', 'channel.unreachable', { ...fields, code, detail, ...due })
}

/** Logs that this worker lacks a guard or a link that the dispatch was accepted under: the first time, and then as `lines` admits. */
export function logMissingPlugin(
  plugin: string,
  claimed: ClaimedDelivery,
  lines: LineLimiter | undefined,
  { logger, clock }: { readonly logger: Logger; readonly clock: Pick<Clock, 'now'> },
): void {
  const due = lines ? lines.admit(plugin, clock.now()) : {}
  if (due) logger.log('warn', 'delivery.plugin_missing', { ...deliveryFields(claimed), plugin, ...due })
}

/** Reports an attempt whose settlement could not be stored, because another worker holds the lease. */
export function reportLost(claimed: ClaimedDelivery, logger: Logger): Attempted {
  logger.log('warn', 'delivery.lease_lost', attemptFields(claimed))
  return { result: 'lost' }
}

/**
 * Logs and measures an attempt whose settlement is stored, and starts the hooks, also for the deliveries that changed with it.
 *
 * @param tookMs Milliseconds since the claim.
 */
export function reportAttempt(
  settlement: Settlement,
  { cancelled, others }: Extract<Settled, { live: true }>,
  claimed: ClaimedDelivery,
  tookMs: number,
  deps: HookDeps,
): Attempted {
  const result = cancelled ? 'cancelled' : resultOf(settlement)
  logEnd(result, settlement, claimed, deps.logger)
  measureAttempt(result, settlement, claimed, tookMs, deps)
  measureChanges(others, claimed.dispatch, deps)
  if (!deps.hooks) return { result }
  const own = cancelled ? [] : [changeBy(settlement, claimed)]
  return { result, reported: callHooks([...own, ...others], claimed, deps) }
}

function resultOf(settlement: Settlement): AttemptResult {
  if (settlement.to !== 'queued') return settlement.to
  return settlement.attempt ? 'retried' : 'released'
}

function logEnd(result: AttemptResult, settlement: Settlement, claimed: ClaimedDelivery, logger: Logger): void {
  const isCancelled = result === 'cancelled'
  const { to, attempt } = settlement
  logger.log(to === 'failed' ? 'warn' : 'info', isCancelled ? 'delivery.cancelled' : `delivery.${to}`, {
    ...attemptFields(claimed),
    ...(attempt?.code !== undefined && { code: attempt.code }),
    ...('reason' in settlement && { reason: settlement.reason }),
    ...(to === 'queued' && settlement.waitsFor !== undefined && { reason: settlement.waitsFor }),
    ...(to === 'queued' && !isCancelled && { delayMs: settlement.delayMs }),
  })
}

function changeBy(settlement: Settlement, claimed: ClaimedDelivery): Change {
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

async function callHooks(changes: readonly Change[], { dispatch }: ClaimedDelivery, deps: HookDeps): Promise<void> {
  await Promise.all(changes.map((change) => reportDelivery(change, dispatch, deps)))
}
