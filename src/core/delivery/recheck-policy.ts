import type { Clock } from '../../ports/clock.ts'
import type { DeliveryPolicy, Verdict } from '../../ports/delivery-policy.ts'
import type { ClaimedDelivery, Settlement } from '../../ports/dispatch-store.ts'
import type { EventCatalog } from '../../ports/event-catalog.ts'
import type { RecipientDirectory } from '../../ports/recipient-directory.ts'
import { type ErrorOperation, type FaultDeps, reportFault } from '../answers/report-fault.ts'
import { askPolicy, deferredFor } from '../message/ask-policy.ts'
import { categoryOf } from '../message/category-of.ts'
import { adHocRecipient, findRecipient } from '../message/resolve-recipient.ts'
import { logUnknownTimeZone } from '../message/unknown-time-zone.ts'
import { type Hold, wasStopped } from './lease.ts'
import { faultFields } from './log-fields.ts'
import { endUnsent, putBack, UNAVAILABLE_MS } from './settlement.ts'

export interface RecheckDeps extends FaultDeps {
  readonly policy?: DeliveryPolicy
  readonly recipients?: RecipientDirectory
  readonly events: Pick<EventCatalog, 'find'>
  readonly clock: Clock
}

const MIN_DEFER_MS = 1_000
const MAX_DEFER_MS = 31 * 86_400_000

/** Calls the policy again, with the recipient's current data. `undefined`: send. After an error, the delivery waits. */
export async function recheckPolicy(
  claimed: ClaimedDelivery,
  policy: DeliveryPolicy,
  hold: Hold,
  deps: RecheckDeps,
): Promise<Settlement | undefined> {
  let operation: ErrorOperation = 'directory'
  const onFound = (): void => {
    operation = 'policy'
  }
  try {
    const verdict = await hold.during(() => ask(policy, claimed, deps, onFound))
    if (!verdict) return endUnsent(claimed, 'skipped', 'no_address')
    if (verdict.verdict === 'skip') return endUnsent(claimed, 'skipped', verdict.reason)
    const waitMs = verdict.verdict === 'defer' ? Math.ceil(verdict.until - deps.clock.now()) : 0
    if (waitMs <= 0) return undefined
    return putBack(claimed, Math.min(Math.max(waitMs, MIN_DEFER_MS), MAX_DEFER_MS), deferredFor(verdict))
  } catch (cause) {
    if (wasStopped(cause)) return putBack(claimed, 0)
    const line = { level: 'error', event: 'delivery.policy_unavailable' } as const
    reportFault(cause, { operation, ...faultFields(claimed) }, line, deps)
    return putBack(claimed, UNAVAILABLE_MS, 'unavailable')
  }
}

/** `undefined` when the directory has no recipient of that id. */
async function ask(
  policy: DeliveryPolicy,
  { channel, dispatch }: ClaimedDelivery,
  { recipients, events, clock, logger }: RecheckDeps,
  onFound: () => void,
): Promise<Verdict | undefined> {
  const { tenant, eventType, critical = false, recipient: id } = dispatch
  const recipient = adHocRecipient(id) ?? (recipients ? await findRecipient(id, tenant, recipients) : { id })
  onFound()
  if (!recipient) return undefined
  logUnknownTimeZone(recipient, logger, eventType)
  return askPolicy(policy, {
    tenant,
    eventType,
    category: categoryOf(eventType, events),
    critical,
    channel,
    recipient,
    at: clock.now(),
  })
}
