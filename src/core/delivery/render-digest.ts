import type { Content } from '../../model/dispatch.ts'
import type { ClaimedDelivery, Settlement } from '../../ports/dispatch-store.ts'
import type { CatalogEvent, EventCatalog } from '../../ports/event-catalog.ts'
import { type EventFault, reportEventFaults } from '../answers/fault.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'
import { type ContentFault, renderFields } from '../dispatch/plan/plan-dispatch.ts'
import { type Hold, wasStopped } from './lease.ts'
import { ELSEWHERE_MS, endUnsent, faultPlaceOf, placeOf, putBack } from './settlements.ts'

/** What rendering needs. */
export interface RenderDeps extends FaultDeps {
  readonly events: Pick<EventCatalog, 'find'>
}

/**
 * Renders a digest from its events and puts it back with what it says, to be sent like any other. Events that the schema does
 * not take any more are left out. One of which none is left, or that its templates cannot render, fails; while its event is not
 * known here, or its schema does not answer, it waits.
 */
export async function renderDigest(claimed: ClaimedDelivery, hold: Hold, deps: RenderDeps): Promise<Settlement> {
  const event = deps.events.find(claimed.dispatch.eventType)
  if (!event) {
    deps.logger.log('warn', 'delivery.event_unknown', placeOf(claimed))
    return putBack(claimed, ELSEWHERE_MS)
  }
  try {
    const content = await hold.during(() => render(claimed, event, deps))
    return content ? putBack(claimed, 0, content) : endUnsent(claimed, 'failed', 'template_error')
  } catch (cause) {
    if (wasStopped(cause)) return putBack(claimed, 0)
    const line = { level: 'error', event: 'delivery.render_failed', isLibrary: true } as const
    reportFault(cause, { operation: 'template', ...faultPlaceOf(claimed) }, line, deps)
    return putBack(claimed, ELSEWHERE_MS)
  }
}

async function render(claimed: ClaimedDelivery, event: CatalogEvent, deps: FaultDeps): Promise<Content | undefined> {
  const { digest } = claimed
  const channel = event.channels.find((candidate) => candidate.channel === claimed.channel)
  if (!digest || !channel) return undefined
  const report = (fault: EventFault): void => reportEventFaults([fault], faultPlaceOf(claimed), deps)
  const events: unknown[] = []
  for (const { eventData } of digest.events) {
    const checked = await event.checkData(eventData)
    if (checked.outcome === 'valid') events.push(checked.data)
    else if (checked.cause !== undefined)
      report({ operation: 'data_schema', detail: 'the data schema threw', cause: checked.cause })
  }
  const leftOut = digest.events.length - events.length
  if (leftOut > 0) deps.logger.log('warn', 'delivery.event_left_out', { ...placeOf(claimed), events: leftOut })
  if (events.length === 0) return undefined
  const facts = { data: events.at(-1), recipient: digest.recipient, events }
  // No caller is there any more who could send what is missing.
  const onFault = ({ missing, ...fault }: ContentFault): void => report(fault)
  return renderFields(channel.fields, facts, onFault, 'digest')
}
