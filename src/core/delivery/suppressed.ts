import type { RefusedAddress } from '../../model/suppression.ts'
import type { Channel } from '../../ports/channel.ts'
import type { ClaimedDelivery } from '../../ports/dispatch-store.ts'
import type { EventCatalog } from '../../ports/event-catalog.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'
import { categoryOf } from '../message/category-of.ts'
import { copiesOf } from '../message/copies.ts'
import type { SuppressionCheck } from '../suppression/suppression-check.ts'
import { deliveryFields, faultFields } from './log-fields.ts'
import { reportThrown } from './send-message.ts'

export interface SuppressionDeps extends FaultDeps {
  readonly events: Pick<EventCatalog, 'find'>
  /** Absent: no address is suppressed. */
  readonly suppressions?: SuppressionCheck
}

/** Reads the store before each attempt: no attempt begins after a complaint was stored. */
export async function isSuppressed(claimed: ClaimedDelivery, deps: SuppressionDeps): Promise<boolean> {
  return deps.suppressions !== undefined && check(claimed.address, claimed, deps.suppressions, deps)
}

/** Copies to leave out. `undefined`: the channel threw. */
export async function suppressedCopies(
  channel: Channel,
  claimed: ClaimedDelivery,
  deps: SuppressionDeps,
): Promise<readonly string[] | undefined> {
  const { suppressions } = deps
  if (!suppressions || !channel.copies) return []
  let copies: readonly string[]
  try {
    copies = copiesOf(channel, claimed.content ?? {})
  } catch (cause) {
    reportThrown(cause, claimed, deps)
    return undefined
  }
  const checked = await Promise.all(copies.map((address) => check(address, claimed, suppressions, deps)))
  return copies.filter((_, index) => checked[index])
}

/** Suppresses an address that the provider has refused. An error of the store is only reported: the next refusal suppresses it again. */
export async function suppressRefused(
  reason: RefusedAddress,
  claimed: ClaimedDelivery,
  deps: SuppressionDeps,
): Promise<void> {
  const { channel, address, dispatch } = claimed
  if (!deps.suppressions) return
  try {
    await deps.suppressions.suppress({ tenant: dispatch.tenant, channel, address }, reason)
    deps.logger.log('info', 'delivery.address_suppressed', { ...deliveryFields(claimed), reason })
  } catch (cause) {
    const line = { level: 'error', event: 'delivery.suppress_failed' } as const
    reportFault(cause, { operation: 'store', ...faultFields(claimed) }, line, deps)
  }
}

function check(
  address: string,
  { channel, dispatch }: ClaimedDelivery,
  suppressions: SuppressionCheck,
  { events }: SuppressionDeps,
): Promise<boolean> {
  const { tenant, eventType, critical = false } = dispatch
  return suppressions.isSuppressed({ tenant, channel, address, category: categoryOf(eventType, events), critical })
}
