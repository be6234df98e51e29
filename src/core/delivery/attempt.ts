import type { AttemptEnd } from '../../model/attempt.ts'
import type { Channel } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { ClaimedDelivery, DispatchStore, Settlement } from '../../ports/dispatch-store.ts'
import type { LineLimiter } from '../answers/line-limiter.ts'
import type { HookDeps, Hooks } from '../hooks.ts'
import { wake } from '../wake.ts'
import {
  type Attempted,
  logFailedProviders,
  logMissingPlugin,
  logUnreachable,
  reportAttempt,
  reportLost,
} from './attempt-report.ts'
import { type GuardDeps, guardMessage, reportRefused } from './guarded.ts'
import { Hold, type HoldDeps, type HoldOptions, type Lease, settleLeased } from './lease.ts'
import { deliveryFields } from './log-fields.ts'
import { type RecheckDeps, recheckPolicy } from './recheck-policy.ts'
import { type RenderDeps, renderDigest } from './render-digest.ts'
import { MESSAGE_RETRIES, retryDelay } from './retry-schedule.ts'
import { type SendDeps, sendMessage, THROWN } from './send-message.ts'
import { endUnsent, putBack, settleSend, UNKNOWN_MS } from './settlement.ts'

export interface AttemptDeps extends HoldDeps, RecheckDeps, RenderDeps, GuardDeps, SendDeps, HookDeps {
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
  /** Limits `delivery.plugin_missing`. Absent: it is logged each time. */
  readonly missingPlugins?: LineLimiter
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
  const tookMs = (): number => deps.clock.now() - lease.since
  const untilExpiryMs = (): number => Math.max(0, claimed.expiresInMs - tookMs())
  const hold = new Hold(claimed, lease, deps, options)
  const reached = await takeSteps(claimed, untilExpiryMs, hold, deps, options).finally(() => hold.release())
  if (!reached) return reportLost(claimed, deps.logger)
  const settlement = dueBeforeExpiry(reached, untilExpiryMs())
  const settled = await settleLeased(settlement, hold, deps)
  if (!settled.live) return reportLost(claimed, deps.logger)
  if (settlement.to === 'queued' && !settled.cancelled) wake(deps.queue, deps, settlement.delayMs)
  return reportAttempt(settlement, settled, claimed, tookMs(), deps)
}

/** Takes the steps of an attempt until one of them ends it. `undefined`: the lease was lost. */
async function takeSteps(
  claimed: ClaimedDelivery,
  untilExpiryMs: () => number,
  hold: Hold,
  deps: AttemptDeps,
  { onSend, onEnd, unreachable, missingPlugins }: AttemptOptions,
): Promise<Settlement | undefined> {
  const channel = deps.channels[claimed.channel]
  if (!channel) {
    deps.logger.log('warn', 'delivery.channel_unknown', deliveryFields(claimed))
    return putBack(claimed, UNKNOWN_MS, 'unknown_here')
  }
  const missing = claimed.dispatch.plugins?.find((name) => !deps.protection?.includes(name))
  if (missing !== undefined) {
    logMissingPlugin(missing, claimed, missingPlugins, deps)
    return putBack(claimed, UNKNOWN_MS, 'unknown_here')
  }
  const schedule = channel.retrySchedule ?? MESSAGE_RETRIES
  const tries = claimed.attempts - (claimed.attemptsBefore ?? 0)
  if (tries > schedule.length + 1) return endUnsent(claimed, 'failed', 'attempts_exhausted')

  const forbidden = deps.policy && !isFresh(claimed) ? await recheckPolicy(claimed, deps.policy, hold, deps) : undefined
  if (forbidden) return forbidden
  if (!claimed.content) return renderDigest(claimed, hold, deps)
  const guarded = deps.guard ? await guardMessage(channel, claimed, deps.guard, hold, deps) : UNGUARDED
  if (!guarded || 'to' in guarded) return guarded
  if (hold.aborted) return putBack(claimed, 0)

  onSend?.()
  const { omitted } = guarded
  const sent = omitted ? await sendMessage(channel, claimed, omitted, hold, deps) : THROWN
  if (!sent) return undefined
  logFailedProviders(sent.end, claimed, deps.logger)
  logUnreachable(sent.end, claimed, unreachable, deps)
  if (sent.suppress) await reportRefused(sent.suppress, claimed, deps)

  const pausedMs = onEnd?.(sent.end)
  const leftMs = untilExpiryMs()
  const delayMs = retryDelay(schedule, tries, claimed.deliveryId, { leftMs, retryAfterMs: sent.retryAfterMs })
  return settleSend(sent, claimed, delayMs, pausedMs && Math.min(pausedMs, leftMs))
}

const UNGUARDED = { omitted: [] } as const

const FRESH_MS = 60_000

/** True if the policy's decision at acceptance is still valid. */
function isFresh({ deferred, attempts, waitedMs }: ClaimedDelivery): boolean {
  return !deferred && attempts === 1 && waitedMs <= FRESH_MS
}

/** An unsent delivery that is queued again waits no longer than until its expiry. */
function dueBeforeExpiry(settlement: Settlement, untilExpiryMs: number): Settlement {
  if (settlement.to !== 'queued' || settlement.attempt) return settlement
  return { ...settlement, delayMs: Math.min(settlement.delayMs, untilExpiryMs) }
}
