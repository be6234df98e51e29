import { SallyportError } from '../../../errors.ts'
import { has } from '../../../options/checks.ts'
import { type Checks, isRecord, problemsIn } from '../../../options/read-options.ts'
import type { CatalogEvent, EventCatalog } from '../../../ports/event-catalog.ts'
import type { Compilation } from './compilation.ts'
import { compileEvent } from './compile-event.ts'
import type { EventDefinition, EventEngines } from './event-definition.ts'
import type { InputOf, StandardSchema } from './standard-schema.ts'

/** What an event takes, as its schema says. */
type DataOf<Schemas> = { readonly [Type in keyof Schemas]: InputOf<Schemas[Type]> }

const ENGINES: Checks<EventEngines> = { templates: has('compile'), conditions: has('compile') }

type Definitions = Readonly<Record<string, EventDefinition<StandardSchema>>>

/**
 * Defines the events that can be dispatched, and compiles their templates and conditions once.
 *
 * The data type of each event reaches its template and condition functions and `sallyport.dispatch`.
 *
 * @throws {SallyportError} `events_invalid`, with all that is wrong at once: event, channel, field, line and column.
 */
export function defineEvents<const Schemas extends Record<string, unknown>>(
  definitions: { readonly [Type in keyof Schemas]: EventDefinition<Schemas[Type]> },
  engines: EventEngines = {},
): EventCatalog<DataOf<Schemas>> {
  if (!isRecord(definitions)) {
    throw new SallyportError('events_invalid', 'defineEvents takes an object of events by their keys.')
  }
  const problems = [...problemsIn(engines, ENGINES)]
  const compilation: Compilation = { engines: { ...engines }, problems }
  const events = new Map<string, CatalogEvent>()
  for (const [eventType, definition] of Object.entries(definitions as Definitions)) {
    events.set(eventType, compileEvent(eventType, definition, compilation))
  }
  if (events.size === 0) problems.push({ detail: 'a catalogue needs at least one event' })
  if (problems.length > 0) throw new SallyportError('events_invalid', 'The event catalogue cannot be used:', problems)
  return { find: (eventType) => events.get(eventType), eventTypes: Object.freeze([...events.keys()]) }
}
