import type { DispatchHead } from '../../model/dispatch.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { ClaimedDelivery, DispatchStore, Settled, Settlement } from '../../ports/dispatch-store.ts'
import { wake } from '../dispatch/accept-dispatch.ts'
import { type HookDeps, type Hooks, reportDelivery } from './hooks.ts'
import { type Hold, type HoldDeps, type HoldOptions, holdLease, type Lease } from './lease.ts'
import { type RecheckDeps, recheckPolicy } from './recheck-policy.ts'
import { type RenderDeps, renderDigest } from './render-digest.ts'
import { MESSAGE_RETRIES, retryDelay } from './retry-schedule.ts'
import { type Sent, sendMessage } from './send-message.ts'
import { settleLeased } from './settle-leased.ts'
import { ELSEWHERE_MS, endUnsent, placeOf, putBack } from './settlements.ts'

/** What an attempt needs. */
export interface AttemptDeps extends HoldDeps, RecheckDeps, RenderDeps, HookDeps {
  readonly clock: Clock
  readonly store: Pick<DispatchStore, 'settle' | 'renew'>
  readonly channels: Readonly<Record<string, Channel>>
  readonly hooks?: Hooks | undefined
  /** Woken when something that was put back is due, whoever is there by then. */
  readonly queue?: DeliveryQueue
}

/** How an attempt is made. */
export interface AttemptOptions extends HoldOptions {
  /** Called just before the channel is asked to send. */
  readonly onSend?: () => void
}

/**
 * What became of an attempt. `cancelled`: it would have been put back, and nobody wanted that any more. `released`: put back
 * without having been sent. `lost`: the lease had gone to another, and nothing was written.
 */
export type AttemptResult = 'sent' | 'retried' | 'failed' | 'skipped' | 'cancelled' | 'released' | 'lost'

/** An attempt that has ended and is written down. */
export interface Attempted {
  readonly result: AttemptResult
  /** Resolves when the host was told; absent where it wants to hear nothing. */
  readonly reported?: Promise<void>
}

type Change = Parameters<typeof reportDelivery>[0]

/**
 * Sends one claimed delivery, writes down how it went, and begins to tell the host. Throws only when the store does.
 *
 * One that has been claimed more often than it may be attempted has taken its workers with it: it is failed unsent. One that is
 * put back unsent is not put off for longer than it is worth sending, so that it expires when it does.
 */
export async function attemptDelivery(
  claimed: ClaimedDelivery,
  lease: Lease,
  deps: AttemptDeps,
  options: AttemptOptions = {},
): Promise<Attempted> {
  const hold = holdLease(claimed, lease, deps, options)
  const leftMs = (): number => Math.max(0, claimed.expiresInMs - (deps.clock.now() - lease.since))
  const wanted = await settlementFor(claimed, leftMs, hold, deps, options).finally(hold.release)
  const isPutBack = wanted?.to === 'queued' && !wanted.attempt
  const settlement = isPutBack ? { ...wanted, delayMs: Math.min(wanted.delayMs, leftMs()) } : wanted
  const settled: Settled = settlement ? await settleLeased(settlement, hold, deps) : { live: false }
  if (!settlement || !settled.live) {
    logEnd('lease_lost', claimed, undefined, deps)
    return { result: 'lost' }
  }
  const result = settled.cancelled ? 'cancelled' : resultOf(settlement)
  if (settlement.to === 'queued' && !settled.cancelled) wake(deps.queue, deps, settlement.delayMs)
  logEnd(settled.cancelled ? 'cancelled' : settlement.to, claimed, settlement, deps)
  if (!deps.hooks) return { result }
  const own = settled.cancelled ? [] : [changeBy(settlement, claimed)]
  return { result, reported: reportAll([...own, ...settled.others], claimed.dispatch, deps) }
}

function resultOf(settlement: Settlement): AttemptResult {
  if (settlement.to !== 'queued') return settlement.to
  return settlement.attempt ? 'retried' : 'released'
}

async function reportAll(changes: readonly Change[], dispatch: DispatchHead, deps: HookDeps): Promise<void> {
  await Promise.all(changes.map((change) => reportDelivery(change, dispatch, deps)))
}

/** The steps of an attempt, each of which may be the last. `undefined`: the lease was lost. */
async function settlementFor(
  claimed: ClaimedDelivery,
  leftMs: () => number,
  hold: Hold,
  deps: AttemptDeps,
  { onSend }: AttemptOptions,
): Promise<Settlement | undefined> {
  const channel = deps.channels[claimed.channel]
  if (!channel) {
    deps.logger.log('warn', 'delivery.channel_unknown', placeOf(claimed))
    return putBack(claimed, ELSEWHERE_MS)
  }
  const schedule = channel.retrySchedule ?? MESSAGE_RETRIES
  const tries = claimed.attempts - (claimed.attemptsBefore ?? 0)
  if (tries > schedule.length + 1) return endUnsent(claimed, 'failed', 'attempts_exhausted')
  const held = await recheckPolicy(claimed, hold, deps)
  if (held) return held
  if (!claimed.content) return renderDigest(claimed, hold, deps)
  if (hold.aborted) return putBack(claimed, 0)
  onSend?.()
  const sent = await sendMessage(channel, claimed, hold, deps)
  if (!sent) return undefined
  const { retryAfterMs } = sent
  return settlementOf(
    sent,
    claimed,
    retryDelay(schedule, tries, claimed.deliveryId, { leftMs: leftMs(), retryAfterMs }),
  )
}

/** What a send means for the delivery. `delayMs`: until the next attempt, if there is one in which it is still worth sending. */
function settlementOf(
  { end: attempt, broken }: Sent,
  { deliveryId, fence }: ClaimedDelivery,
  delayMs: number | undefined,
): Settlement {
  const tried = { deliveryId, fence, attempt }
  if (attempt.outcome === 'sent') return { to: 'sent', ...tried }
  if (attempt.outcome === 'rejected') return { to: 'failed', reason: 'provider_rejected', ...tried }
  if (delayMs !== undefined) return { to: 'queued', delayMs, ...tried }
  return { to: 'failed', reason: broken ? 'channel_error' : 'attempts_exhausted', ...tried }
}

function logEnd(
  end: Settlement['to'] | 'cancelled' | 'lease_lost',
  claimed: ClaimedDelivery,
  settlement: Settlement | undefined,
  { logger }: AttemptDeps,
): void {
  logger.log(end === 'failed' || end === 'lease_lost' ? 'warn' : 'info', `delivery.${end}`, {
    attempt: claimed.attempts,
    ...placeOf(claimed),
    ...(settlement?.attempt?.code !== undefined && { code: settlement.attempt.code }),
    ...(settlement && 'reason' in settlement && { reason: settlement.reason }),
    ...(settlement && end === 'queued' && 'delayMs' in settlement && { delayMs: settlement.delayMs }),
  })
}

/** The delivery as it is now, for the host. */
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
