import type { RefusedAddress } from '../../model/suppression.ts'
import { isThrown } from '../../model/thrown.ts'
import type { Channel } from '../../ports/channel.ts'
import type { ClaimedDelivery, Settlement } from '../../ports/dispatch-store.ts'
import type { EventCatalog } from '../../ports/event-catalog.ts'
import type { GuardedMessage, MessageGuard } from '../../ports/message-guard.ts'
import { HostFault } from '../answers/fault.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'
import { askGuard } from '../message/ask-guard.ts'
import { categoryOf } from '../message/category-of.ts'
import { copiesOf } from '../message/copies.ts'
import { type Hold, Interrupted, wasStopped } from './lease.ts'
import { deliveryFields, faultFields } from './log-fields.ts'
import { reportThrown } from './send-message.ts'
import { endUnsent, putBack, UNAVAILABLE_MS } from './settlement.ts'

export interface GuardDeps extends FaultDeps {
  readonly events: Pick<EventCatalog, 'find'>
  /** Absent: every address may be sent to. */
  readonly guard?: MessageGuard | undefined
  /** Names of the guards and links of plugins. Default: none. */
  readonly protection?: readonly string[] | undefined
}

/** Copies to leave out. Absent: the channel threw. */
interface Allowed {
  readonly omitted?: readonly string[]
}

/**
 * Asks the guard about the address, then about those of copies. A settlement ends the attempt, after an error too: the delivery waits.
 * `undefined`: the lease was lost.
 */
export async function guardMessage(
  channel: Channel,
  claimed: ClaimedDelivery,
  guard: MessageGuard,
  hold: Hold,
  deps: GuardDeps,
): Promise<Settlement | Allowed | undefined> {
  try {
    return await hold.during(() => ask(channel, claimed, guard, deps))
  } catch (cause) {
    if (wasStopped(cause)) return putBack(claimed, 0)
    if (isThrown(cause, Interrupted))
      return cause.code === 'lease_lost' ? undefined : putBack(claimed, UNAVAILABLE_MS, 'unavailable')
    const line = { level: 'error', event: 'delivery.guard_unavailable' } as const
    const { operation, cause: thrown } = faultOf(cause)
    reportFault(thrown, { operation, ...faultFields(claimed) }, line, deps)
    return putBack(claimed, UNAVAILABLE_MS, 'unavailable')
  }
}

async function ask(
  channel: Channel,
  claimed: ClaimedDelivery,
  guard: MessageGuard,
  deps: GuardDeps,
): Promise<Settlement | Allowed> {
  const message = messageOf(claimed, deps)
  const reason = await askGuard(guard, { ...message, recipient: claimed.dispatch.recipient })
  if (reason !== undefined) return endUnsent(claimed, 'skipped', reason)
  let copies: readonly string[]
  try {
    copies = copiesOf(channel, claimed.content ?? {})
  } catch (cause) {
    reportThrown(cause, claimed, deps)
    return {}
  }
  if (copies.length === 0) return { omitted: copies }
  const objections = await Promise.all(copies.map((address) => askGuard(guard, { ...message, address })))
  return { omitted: copies.filter((_, index) => objections[index] !== undefined) }
}

/** Reports to the guard that the provider has refused the address. An error is only logged: the next refusal is reported again. */
export async function reportRefused(reason: RefusedAddress, claimed: ClaimedDelivery, deps: GuardDeps): Promise<void> {
  const { guard } = deps
  if (!guard?.learned) return
  try {
    await guard.learned({ ...messageOf(claimed, deps), recipient: claimed.dispatch.recipient }, reason)
    deps.logger.log('info', 'delivery.address_suppressed', { ...deliveryFields(claimed), reason })
  } catch (cause) {
    const line = { level: 'error', event: 'delivery.suppress_failed' } as const
    const { operation, cause: thrown } = faultOf(cause)
    reportFault(thrown, { operation, ...faultFields(claimed) }, line, deps)
  }
}

/** A guard may name the port that failed. */
function faultOf(cause: unknown): Pick<HostFault, 'operation' | 'cause'> {
  return isThrown(cause, HostFault) ? cause : { operation: 'guard', cause }
}

function messageOf({ channel, address, dispatch }: ClaimedDelivery, { events }: GuardDeps): GuardedMessage {
  const { tenant, eventType, critical = false } = dispatch
  return { tenant, eventType, category: categoryOf(eventType, events), critical, channel, address }
}
