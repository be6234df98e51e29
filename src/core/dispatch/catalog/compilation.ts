import type { ConfigProblem } from '../../../errors.ts'
import type { EventFacts } from '../../../ports/event-catalog.ts'
import type { EventEngines } from './event-definition.ts'

/** What the compiling of a catalogue has at hand. With any problem, nothing that was compiled is used. */
export interface Compilation {
  readonly engines: EventEngines
  /** What is wrong so far. */
  readonly problems: ConfigProblem[]
}

/** Where in a catalogue something stands. */
export type CatalogPlace = Pick<ConfigProblem, 'event' | 'channel' | 'field'>

/** {@link EventFacts} as engines take them. No interface, since that could not be read by any key. */
export type OpenFacts = Pick<EventFacts, keyof EventFacts>
