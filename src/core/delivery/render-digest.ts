import { isThrown } from '../../model/thrown.ts'
import type { ClaimedDelivery, Settlement } from '../../ports/dispatch-store.ts'
import type { CatalogEvent, EventCatalog } from '../../ports/event-catalog.ts'
import type { LinkMakers } from '../../ports/link-maker.ts'
import { type EventFault, HostFault, reportEventFaults } from '../answers/fault.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'
import { placeholdersOf } from '../links/fill-links.ts'
import { checkEventData } from '../message/check-data.ts'
import { type RenderClock, type RenderedFields, renderFields } from '../message/render-fields.ts'
import { type Hold, wasStopped } from './lease.ts'
import { deliveryFields, faultFields } from './log-fields.ts'
import { endUnsent, putBack, UNKNOWN_MS } from './settlement.ts'

export interface RenderDeps extends FaultDeps {
  readonly events: Pick<EventCatalog, 'find'>
  readonly clock: RenderClock
  /** Absent: facts have no `links`. */
  readonly links?: LinkMakers | undefined
}

/**
 * Renders a digest and queues it again with its content. Leaves out events that their schema no longer accepts; fails when none is
 * left or a template fails; waits while this worker lacks its event type, or the schema does not answer, or a field is late.
 */
export async function renderDigest(claimed: ClaimedDelivery, hold: Hold, deps: RenderDeps): Promise<Settlement> {
  const event = deps.events.find(claimed.dispatch.eventType)
  if (!event) {
    deps.logger.log('warn', 'delivery.event_unknown', deliveryFields(claimed))
    return putBack(claimed, UNKNOWN_MS, 'unknown_here')
  }
  try {
    const { content, faults } = await hold.during(() => render(claimed, event, deps))
    if (content) return { ...putBack(claimed, 0), content }
    // A late field may be in time later. A fault of another field would stay.
    const isLate = faults.length > 0 && faults.every((fault) => fault.isLate)
    return isLate ? putBack(claimed, UNKNOWN_MS, 'unavailable') : endUnsent(claimed, 'failed', 'template_error')
  } catch (cause) {
    if (wasStopped(cause)) return putBack(claimed, 0)
    const line = { level: 'error', event: 'delivery.render_failed', isLibrary: true } as const
    const { operation, cause: thrown } = isThrown(cause, HostFault) ? cause : { operation: 'template' as const, cause }
    reportFault(thrown, { operation, ...faultFields(claimed) }, line, deps)
    return putBack(claimed, UNKNOWN_MS, 'unavailable')
  }
}

const NOTHING: RenderedFields = { faults: [] }

async function render(claimed: ClaimedDelivery, event: CatalogEvent, deps: RenderDeps): Promise<RenderedFields> {
  const { digest } = claimed
  const channel = event.channels.find((candidate) => candidate.channel === claimed.channel)
  if (!digest || !channel) return NOTHING
  const report = (fault: EventFault): void => reportEventFaults([fault], faultFields(claimed), deps)
  const events: unknown[] = []
  for (const { eventData } of digest.events) {
    const checked = await checkEventData(event, eventData, deps.clock)
    if (checked.outcome === 'valid') events.push(checked.data)
    else if (checked.cause !== undefined) {
      report({ operation: 'data_schema', detail: 'the data schema threw', cause: checked.cause })
    }
  }
  const leftOut = digest.events.length - events.length
  if (leftOut > 0) deps.logger.log('warn', 'delivery.event_left_out', { ...deliveryFields(claimed), events: leftOut })
  if (events.length === 0) return NOTHING
  const facts = {
    data: events.at(-1),
    recipient: digest.recipient,
    events,
    ...(deps.links && { links: placeholdersOf(deps.links) }),
  }
  const time = { clock: deps.clock, since: deps.clock.now() }
  const rendered = await renderFields(channel.fields, facts, 'digest', time)
  // Missing data is not listed: no caller can send it now.
  for (const { missing, isLate, ...fault } of rendered.faults) report(fault)
  return rendered
}
