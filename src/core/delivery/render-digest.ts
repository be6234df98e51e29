import type { Content, Digest } from '../../model/dispatch.ts'
import type { ClaimedDelivery, Settlement } from '../../ports/dispatch-store.ts'
import type { CatalogEvent, EventCatalog } from '../../ports/event-catalog.ts'
import type { Logger } from '../../ports/logger.ts'
import { renderFields } from '../dispatch/render-fields.ts'
import { describeCause } from '../fault.ts'
import type { Hold } from './lease.ts'
import { endUnsent, placeOf, putBack } from './settlements.ts'

/** What rendering needs. */
export interface RenderDeps {
  readonly events: Pick<EventCatalog, 'find'>
  readonly logger: Logger
}

/** Before another look by a worker that may know the event: one that was deployed meanwhile. */
const ELSEWHERE_MS = 60_000

/**
 * Renders a digest from its events and puts it back with what it says, to be sent like any other. What its templates cannot
 * render fails; while its event is not known here, or its schema does not answer, it waits.
 */
export async function renderDigest(claimed: ClaimedDelivery, hold: Hold, deps: RenderDeps): Promise<Settlement> {
  const { channel, digest, dispatch } = claimed
  const event = deps.events.find(dispatch.eventType)
  if (!event) {
    deps.logger.log('warn', 'delivery.event_unknown', placeOf(claimed))
    return putBack(claimed, ELSEWHERE_MS)
  }
  try {
    const content = digest && (await hold.during(() => render(digest, channel, event)))
    return content ? putBack(claimed, 0, content) : endUnsent(claimed, 'failed', 'template_error')
  } catch (cause) {
    deps.logger.log('error', 'delivery.render_failed', { ...placeOf(claimed), ...describeCause(cause) })
    return putBack(claimed, ELSEWHERE_MS)
  }
}

async function render(digest: Digest, name: string, event: CatalogEvent): Promise<Content | undefined> {
  const channel = event.channels.find((candidate) => candidate.channel === name)
  if (!channel) return undefined
  const events: unknown[] = []
  for (const { eventData } of digest.events) {
    const checked = await event.checkData(eventData)
    if (checked.outcome === 'invalid') return undefined
    events.push(checked.data)
  }
  const facts = { data: events.at(-1), recipient: digest.recipient, events }
  return renderFields(channel.fields, facts, () => {}, 'digest')
}
