import type { EventCatalog } from '../../ports/event-catalog.ts'

/** Category of an event type; an event that the catalogue no longer has is its own category. */
export function categoryOf(eventType: string, events: Pick<EventCatalog, 'find'>): string {
  return events.find(eventType)?.category ?? eventType
}
