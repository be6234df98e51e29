import type { AttemptEnd } from '../../model/attempt.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { ClaimedDelivery, DispatchStore, Settled, Settlement } from '../../ports/dispatch-store.ts'
import type { LineLimiter } from '../answers/line-limiter.ts'
import type { HookDeps, Hooks } from '../hooks.ts'
import { measureAttempt, measureChanges } from '../statistics/measure.ts'
import { wake } from '../wake.ts'
import { changeBy, logEnd, logFailedProviders, logUnreachable, reportAll } from './attempt-report.ts'
import { Hold, type HoldDeps, type HoldOptions, type Lease, settleLeased } from './lease.ts'
import { placeOf } from './log-fields.ts'
import { isUnreadable, type Sent } from './read-outcome.ts'
import { type RecheckDeps, recheckPolicy } from './recheck-policy.ts'
import { type RenderDeps, renderDigest } from './render-digest.ts'
import { MESSAGE_RETRIES, retryDelay } from './retry-schedule.ts'
import { type SendDeps, sendMessage, THROWN } from './send-message.ts'
import { endUnsent, putBack, UNKNOWN_MS } from './settlement.ts'
import { isSuppressed, type SuppressionDeps, suppressedCopies, suppressRefused } from './suppressed.ts'

export interface AttemptDeps extends HoldDeps, RecheckDeps, RenderDeps, SuppressionDeps, SendDeps, HookDeps {
  readonly clock: Clock
  readonly store: Pick<DispatchStore, 'settle' | 'renew'>
  readonly channels: Readonly<Record<string, Channel>>
  readonly hooks?: Hooks | undefined
  /** Wakes a worker when a delivery that was queued again is due. */
  readonly queue?: DeliveryQueue
}

export interface AttemptOptions extends HoldOptions {
  readonly onSend?: () => void
  /** Receives the end of the send; not called when the lease was lost. Returns the milliseconds left of its receiver's pause. */
  readonly onEnd?: (end: AttemptEnd) => number | undefined
  /** Limits `channel.unreachable`. Absent: it is not logged. */
  readonly unreachable?: LineLimiter
}

/** `released`: queued again, unsent. `cancelled`: cancelled instead of queued again. `lost`: another worker holds the lease. */
export type AttemptResult = 'sent' | 'retried' | 'failed' | 'skipped' | 'cancelled' | 'released' | 'lost'

export interface Attempted {
  readonly result: AttemptResult
  /** Resolves when the hooks have ended; absent without hooks. */
  readonly reported?: Promise<void>
}

/**
 * Sends one claimed delivery, stores the result, and starts the hooks. Throws only errors of the store. A delivery with more claims
 * than allowed attempts has crashed its workers: it fails unsent.
 */
export async function attemptDelivery(
  claimed: ClaimedDelivery,
  lease: Lease,
  deps: AttemptDeps,
  options: AttemptOptions = {},
): Promise<Attempted> {
  const hold = new Hold(claimed, lease, deps, options)
  const leftMs = (): number => Math.max(0, claimed.expiresInMs - (deps.clock.now() - lease.since))
  const wanted = await settlementFor(claimed, leftMs, hold, deps, options).finally(() => hold.release())
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
  measureAttempt(result, settlement, claimed, deps.clock.now() - lease.since, deps)
  measureChanges(settled.others, claimed.dispatch, deps)
  if (!deps.hooks) return { result }
  const own = settled.cancelled ? [] : [changeBy(settlement, claimed)]
  return { result, reported: reportAll([...own, ...settled.others], claimed.dispatch, deps) }
}

function resultOf(settlement: Settlement): AttemptResult {
  if (settlement.to !== 'queued') return settlement.to
  return settlement.attempt ? 'retried' : 'released'
}

/** Runs the steps of an attempt until one of them ends it. `undefined`: the lease was lost. */
async function settlementFor(
  claimed: ClaimedDelivery,
  leftMs: () => number,
  hold: Hold,
  deps: AttemptDeps,
  { onSend, onEnd, unreachable }: AttemptOptions,
): Promise<Settlement | undefined> {
  const channel = deps.channels[claimed.channel]
  if (!channel) {
    deps.logger.log('warn', 'delivery.channel_unknown', placeOf(claimed))
    return putBack(claimed, UNKNOWN_MS, 'unknown_here')
  }
  const schedule = channel.retrySchedule ?? MESSAGE_RETRIES
  const tries = claimed.attempts - (claimed.attemptsBefore ?? 0)
  if (tries > schedule.length + 1) return endUnsent(claimed, 'failed', 'attempts_exhausted')
  const ended = deps.policy && !isFresh(claimed) ? await recheckPolicy(claimed, deps.policy, hold, deps) : undefined
  if (ended) return ended
  if (!claimed.content) return renderDigest(claimed, hold, deps)
  if (await isSuppressed(claimed, deps)) return endUnsent(claimed, 'skipped', 'suppressed')
  const omitted = await suppressedCopies(channel, claimed, deps)
  if (hold.aborted) return putBack(claimed, 0)
  onSend?.()
  const sent = omitted ? await sendMessage(channel, claimed, omitted, hold, deps) : THROWN
  if (!sent) return undefined
  logFailedProviders(sent.end, claimed, deps.logger)
  logUnreachable(sent.end, claimed, unreachable, deps)
  if (sent.suppress) await suppressRefused(sent.suppress, claimed, deps)
  const pausedMs = onEnd?.(sent.end)
  const { retryAfterMs } = sent
  const delayMs = retryDelay(schedule, tries, claimed.deliveryId, { leftMs: leftMs(), retryAfterMs })
  return settlementOf(sent, claimed, delayMs, pausedMs && Math.min(pausedMs, leftMs()))
}

const FRESH_MS = 60_000

/** True if the policy's decision at acceptance is still valid. */
function isFresh({ deferred, attempts, waitedMs }: ClaimedDelivery): boolean {
  return !deferred && attempts === 1 && waitedMs <= FRESH_MS
}

/**
 * @param delayMs Time until the next attempt; `undefined` when none is left before the expiry.
 * @param pausedMs Time until the end of its receiver's pause; `undefined`: not paused.
 */
function settlementOf(
  { end: attempt, byChannel, thrown }: Sent,
  { deliveryId, fence }: ClaimedDelivery,
  delayMs: number | undefined,
  pausedMs: number | undefined,
): Settlement {
  const tried = { deliveryId, fence, attempt }
  if (attempt.outcome === 'sent') return { to: 'sent', ...tried }
  if (attempt.outcome === 'rejected')
    return { to: 'failed', reason: byChannel ? 'channel_rejected' : 'provider_rejected', ...tried }
  if (isUnreadable(attempt)) return { to: 'failed', reason: 'channel_error', ...tried }
  if (delayMs !== undefined && pausedMs !== undefined && pausedMs >= delayMs)
    return { to: 'queued', delayMs: pausedMs, waitsFor: 'receiver_paused', ...tried }
  if (delayMs !== undefined) return { to: 'queued', delayMs, ...tried }
  return { to: 'failed', reason: thrown ? 'channel_error' : 'attempts_exhausted', ...tried }
}
