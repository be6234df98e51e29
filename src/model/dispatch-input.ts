import type { DispatchRequest } from './dispatch.ts'
import type { JsonObject } from './json.ts'

/** An event of a catalogue: what the dispatch endpoint takes, with the data that the event's schema asks for. */
export type DispatchInput<Events, Type extends EventTypeOf<Events>> = Omit<
  DispatchRequest,
  'eventType' | 'eventData'
> & {
  readonly eventType: Type
} & (JsonObject extends DataOf<Events, Type>
    ? { readonly eventData?: DataOf<Events, Type> }
    : { readonly eventData: DataOf<Events, Type> })

/** The event keys of a catalogue. Of one that cannot be told, since a mistake stands elsewhere: any, and not none. */
export type EventTypeOf<Events> = unknown extends Events ? string : keyof Events & string

type DataOf<Events, Type> = Type extends keyof Events ? Events[Type] : JsonObject
