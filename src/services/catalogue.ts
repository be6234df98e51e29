import { dataSkeleton } from '../core/dispatch/catalog/data-skeleton.ts'
import type { EventView } from '../model/event-view.ts'
import type { JsonObject } from '../model/json.ts'
import type { CatalogEvent, EventCatalog } from '../ports/event-catalog.ts'

/** Views of what a host can dispatch. */
export interface Catalogue {
  /** In the order of the catalogue. */
  events(): readonly EventView[]
}

export function catalogueOf({ events }: { readonly events: EventCatalog }): Catalogue {
  return {
    events: () =>
      events.eventTypes.flatMap((eventType) => {
        const event = events.find(eventType)
        return event ? [viewEvent(event)] : []
      }),
  }
}

/** An event's schema does not change, and a console reads the catalogue every two seconds. */
const SKELETONS = /* @__PURE__ */ new WeakMap<CatalogEvent, { readonly skeleton?: JsonObject }>()

function skeletonOf(event: CatalogEvent): { readonly skeleton?: JsonObject } {
  const known = SKELETONS.get(event)
  if (known) return known
  const skeleton = dataSkeleton(event.dataSchema)
  const found = { ...(skeleton && { skeleton }) }
  SKELETONS.set(event, found)
  return found
}

function viewEvent(event: CatalogEvent): EventView {
  const { eventType, category, route, fallbackOn, critical, priority, delayMs, digest, channels, when } = event
  return {
    ...{ eventType, category, route, critical },
    ...(fallbackOn && { fallbackOn }),
    ...(priority === 'urgent' && { priority }),
    ...(delayMs > 0 && { delayMs }),
    ...(digest && { digest: { windowMs: digest.windowMs, max: digest.max } }),
    channels: channels.map(({ channel, when: own, fields }) => ({
      ...{ channel, isConditional: (own ?? when) !== undefined, fields: Object.keys(fields) },
    })),
    ...skeletonOf(event),
  }
}
