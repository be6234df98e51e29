import type { EventView } from '../model/event-view.ts'
import type { CatalogEvent, EventCatalog } from '../ports/event-catalog.ts'

/** All events of the catalogue, in its order. */
export function viewEvents(events: EventCatalog): readonly EventView[] {
  return events.eventTypes.flatMap((eventType) => {
    const event = events.find(eventType)
    return event ? [viewEvent(event)] : []
  })
}

function viewEvent(event: CatalogEvent): EventView {
  const { eventType, category, route, fallbackOn, critical, delayMs, digest, channels, when } = event
  return {
    ...{ eventType, category, route, critical },
    ...(fallbackOn && { fallbackOn }),
    ...(delayMs > 0 && { delayMs }),
    ...(digest && { digest: { windowMs: digest.windowMs, max: digest.max } }),
    channels: channels.map(({ channel, when: own, fields }) => ({
      ...{ channel, isConditional: (own ?? when) !== undefined, fields: Object.keys(fields) },
    })),
  }
}
