import type { DeliveryReason } from '../../model/dispatch.ts'
import type { Channel, SendOutcome } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClaimedDelivery, DispatchStore, Settlement } from '../../ports/dispatch-store.ts'
import type { Logger } from '../../ports/logger.ts'
import { describeCause } from '../fault.ts'
import { MESSAGE_RETRIES, retryDelay } from './retry-schedule.ts'

/** What an attempt needs. */
export interface AttemptDeps {
  readonly store: Pick<DispatchStore, 'settle'>
  readonly channels: Readonly<Record<string, Channel>>
  readonly clock: Clock
  readonly logger: Logger
}

/** What became of an attempt; `lost`: the lease had gone to another, and nothing was written. */
export type AttemptResult = Settlement['to'] | 'lost'

/** How long a delivery is this worker's. Counted from before it was claimed, so that a slow claim takes nothing from the end. */
export interface Lease {
  /** Epoch milliseconds, by the worker's clock, just before it claimed. */
  readonly since: number
  readonly ms: number
}

/** The part of a lease in which a channel may send; the rest is left for writing down how it went. */
const SENDING_SHARE = 0.9

/**
 * Sends one claimed delivery and writes down how it went. Throws only when the store does.
 *
 * One that has been claimed more often than it may be attempted has taken its workers with it: it is failed unsent.
 */
export async function attemptDelivery(
  claimed: ClaimedDelivery,
  lease: Lease,
  deps: AttemptDeps,
): Promise<AttemptResult> {
  const { deliveryId, channel: name, attempts } = claimed
  const channel = deps.channels[name]
  const schedule = channel?.retrySchedule ?? MESSAGE_RETRIES
  const isPoison = attempts > schedule.length + 1
  const outcome = channel && !isPoison ? await send(channel, claimed, lease, deps) : UNSENT
  const settlement = settlementOf(outcome, claimed, schedule)
  const live = await deps.store.settle(settlement)
  const level = !live || settlement.to === 'failed' ? 'warn' : 'info'
  deps.logger.log(level, `delivery.${live ? settlement.to : 'lease_lost'}`, {
    deliveryId,
    dispatchId: claimed.dispatch.dispatchId,
    channel: name,
    attempt: attempts,
    ...('code' in settlement && { code: settlement.code }),
    ...('delayMs' in settlement && { delayMs: settlement.delayMs }),
  })
  return live ? settlement.to : 'lost'
}

/** A channel's outcome, or what stands for it when the channel threw; `thrown` marks those. */
type Sent = SendOutcome & { readonly thrown?: true }

/** What stands for a channel that is not there, or was not asked. */
const UNSENT: Sent = { outcome: 'retry', code: 'not_attempted' }
const CHANNEL_ERROR: Sent = { outcome: 'retry', code: 'channel_error', thrown: true }

async function send(channel: Channel, claimed: ClaimedDelivery, lease: Lease, deps: AttemptDeps): Promise<Sent> {
  const ms = lease.since + lease.ms * SENDING_SHARE - deps.clock.now()
  if (ms <= 0) return { outcome: 'retry', code: 'lease_ending' }
  const { deliveryId, attempts: attempt, address: to, content, dispatch } = claimed
  const { eventType, dispatchId, tenant, locale, createdAt } = dispatch
  const abort = new AbortController()
  const message = { to, content, eventType, dispatchId, tenant, createdAt, ...(locale !== undefined && { locale }) }
  let calledOff = (): void => {}
  const leaseEnding = new Promise<Sent>((resolve) => {
    calledOff = deps.clock.after(ms, () => {
      abort.abort()
      resolve({ outcome: 'unknown', code: 'lease_ending' })
    })
  })
  try {
    return checkedOutcome(
      await Promise.race([channel.send(message, { deliveryId, attempt, signal: abort.signal }), leaseEnding]),
    )
  } catch (cause) {
    deps.logger.log('error', 'channel.threw', {
      deliveryId,
      channel: claimed.channel,
      attempt,
      ...describeCause(cause),
    })
    return CHANNEL_ERROR
  } finally {
    calledOff()
  }
}

const OUTCOMES: readonly unknown[] = ['sent', 'retry', 'unknown', 'rejected'] satisfies SendOutcome['outcome'][]

const CODE = /^[a-z][a-z0-9_]{0,63}$/
const MAX_PROVIDER_ID = 255

/** What a channel of the host's gave may be anything: an outcome that is none, or text of a provider's in the place of a code. */
function checkedOutcome(given: unknown): Sent {
  if (typeof given !== 'object' || given === null || !('outcome' in given) || !OUTCOMES.includes(given.outcome)) {
    return CHANNEL_ERROR
  }
  const outcome = given as SendOutcome
  if (outcome.outcome === 'sent') {
    const { providerMessageId: id } = outcome
    return typeof id === 'string' && id.length <= MAX_PROVIDER_ID
      ? { outcome: 'sent', providerMessageId: id }
      : { outcome: 'sent' }
  }
  if (typeof outcome.code !== 'string') return CHANNEL_ERROR
  return CODE.test(outcome.code) ? outcome : { ...outcome, code: 'code_invalid' }
}

/** What a channel's outcome means for the delivery, and for those held behind it. */
function settlementOf(outcome: Sent, claimed: ClaimedDelivery, schedule: readonly number[]): Settlement {
  const { deliveryId, fence, attempts, dispatch } = claimed
  const lease = { deliveryId, fence }
  const isFallback = dispatch.route === 'first'
  if (outcome.outcome === 'sent') {
    const { providerMessageId } = outcome
    const told = providerMessageId !== undefined && { providerMessageId }
    return { ...lease, to: 'sent', held: isFallback ? 'skip' : 'keep', ...told }
  }
  const { code } = outcome
  const failed = (reason: DeliveryReason): Settlement => ({
    ...lease,
    to: 'failed',
    reason,
    code,
    held: isFallback ? 'promote' : 'keep',
  })
  if (outcome.outcome === 'rejected') return failed('provider_rejected')
  const asked = outcome.outcome === 'retry' ? outcome.retryAfterMs : undefined
  const delayMs = retryDelay(schedule, attempts, deliveryId, asked)
  if (delayMs !== undefined) return { ...lease, to: 'queued', delayMs, code }
  return failed(outcome.thrown ? 'channel_error' : 'attempts_exhausted')
}
