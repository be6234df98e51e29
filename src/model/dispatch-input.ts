import type { DispatchRequest } from './dispatch.ts'
import type { JsonObject } from './json.ts'

/** An event of a catalogue: what the dispatch endpoint takes, with the data that the event's schema asks for. */
export type DispatchInput<Events, Type extends keyof Events> = Omit<DispatchRequest, 'eventType' | 'eventData'> & {
  readonly eventType: Type
} & (JsonObject extends Events[Type] ? { readonly eventData?: Events[Type] } : { readonly eventData: Events[Type] })
