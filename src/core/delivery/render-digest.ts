import type { Content } from '../../model/dispatch.ts'
import type { ClaimedDelivery, Settlement } from '../../ports/dispatch-store.ts'
import type { CatalogEvent, EventCatalog } from '../../ports/event-catalog.ts'
import type { Logger } from '../../ports/logger.ts'
import { renderFields } from '../dispatch/render-fields.ts'
import { describeCause } from '../fault.ts'
import { type Hold, wasStopped } from './lease.ts'
import { ELSEWHERE_MS, endUnsent, placeOf, putBack } from './settlements.ts'

/** What rendering needs. */
export interface RenderDeps {
  readonly events: Pick<EventCatalog, 'find'>
  readonly logger: Logger
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
    const content = await hold.during(() => render(claimed, event, deps.logger))
    return content ? putBack(claimed, 0, content) : endUnsent(claimed, 'failed', 'template_error')
  } catch (cause) {
    if (wasStopped(cause)) return putBack(claimed, 0)
    deps.logger.log('error', 'delivery.render_failed', { ...placeOf(claimed), ...describeCause(cause) })
    return putBack(claimed, ELSEWHERE_MS)
  }
}

async function render(claimed: ClaimedDelivery, event: CatalogEvent, logger: Logger): Promise<Content | undefined> {
  const { digest } = claimed
  const channel = event.channels.find((candidate) => candidate.channel === claimed.channel)
  if (!digest || !channel) return undefined
  const events: unknown[] = []
  for (const { eventData } of digest.events) {
    const checked = await event.checkData(eventData)
    if (checked.outcome === 'valid') events.push(checked.data)
  }
  const leftOut = digest.events.length - events.length
  if (leftOut > 0) logger.log('warn', 'delivery.event_left_out', { ...placeOf(claimed), events: leftOut })
  if (events.length === 0) return undefined
  const facts = { data: events.at(-1), recipient: digest.recipient, events }
  return renderFields(channel.fields, facts, () => {}, 'digest')
}
