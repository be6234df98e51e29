import { isThrown } from '../../model/thrown.ts'
import type { Channel, OutboundMessage } from '../../ports/channel.ts'
import type { ClaimedDelivery } from '../../ports/dispatch-store.ts'
import type { EventCatalog } from '../../ports/event-catalog.ts'
import type { LinkMakers } from '../../ports/link-maker.ts'
import { type FaultDeps, type FaultLine, reportFault } from '../answers/report-fault.ts'
import { linkMessage } from '../links/link-message.ts'
import { categoryOf } from '../message/category-of.ts'
import { type Hold, Interrupted } from './lease.ts'
import { faultFields } from './log-fields.ts'
import { isMalformed, readOutcome, type Sent } from './read-outcome.ts'

export interface SendDeps extends FaultDeps {
  readonly events: Pick<EventCatalog, 'find'>
  /** Makes the links of messages. Absent: messages have none. */
  readonly links?: LinkMakers | undefined
}

/** The end of a send whose channel threw. */
export const THROWN: Sent = { end: { outcome: 'retry', code: 'channel_error' }, thrown: true }
const THREW = { level: 'error', event: 'channel.threw' } as const
const INVALID = { level: 'error', event: 'channel.outcome_invalid' } as const

/** Logs an error of the channel and tells `onError`. */
export function reportThrown(
  cause: unknown,
  claimed: ClaimedDelivery,
  deps: FaultDeps,
  line: FaultLine = THREW,
  code?: string,
): void {
  const fields = { attempt: claimed.attempts, ...(code !== undefined && { code }) }
  reportFault(cause, { operation: 'channel', ...faultFields(claimed) }, { ...line, fields }, deps)
}

/** Sends one message while the lease is held, without these copies. `undefined`: the lease was lost. */
export async function sendMessage(
  channel: Channel,
  claimed: ClaimedDelivery,
  omittedCopies: readonly string[],
  hold: Hold,
  deps: SendDeps,
): Promise<Sent | undefined> {
  const { deliveryId, attempts: attempt, address: to, content = {}, history, dispatch } = claimed
  const { eventType, dispatchId, tenant, recipient, locale, createdAt } = dispatch
  const head = { eventType, dispatchId, tenant, recipient, createdAt, ...(locale !== undefined && { locale }) }
  const message = { to, content, ...head, ...(omittedCopies.length > 0 && { omittedCopies }) }
  const context = {
    deliveryId,
    attempt,
    history,
    // A getter: most channels do not read it, so no signal is created for them.
    get signal() {
      return hold.signal
    },
  }
  try {
    const given: unknown = await hold.during(async () =>
      channel.send(deps.links ? await linked(message, claimed, deps.links, deps) : message, context),
    )
    const sent = readOutcome(given)
    const line = isMalformed(sent.end) ? INVALID : THREW
    if (sent.cause !== undefined) reportThrown(sent.cause, claimed, deps, line, sent.end.code)
    return omittedCopies.length > 0 ? { ...sent, end: { ...sent.end, omittedCopies: omittedCopies.length } } : sent
  } catch (cause) {
    if (isThrown(cause, Interrupted)) return cause.code === 'lease_lost' ? undefined : interruptedBy(cause.code)
    // The channel may have thrown because its signal aborted.
    if (hold.aborted) return interruptedBy(hold.aborted)
    reportThrown(cause, claimed, deps)
    return THROWN
  }
}

function linked(
  message: OutboundMessage,
  { channel, dispatch: { eventType, critical } }: ClaimedDelivery,
  links: LinkMakers,
  { events }: SendDeps,
): Promise<OutboundMessage> {
  const category = categoryOf(eventType, events)
  return linkMessage(message, { channel, category, critical: critical === true }, links)
}

function interruptedBy(code: string): Sent {
  return { end: { outcome: 'unknown', code } }
}
