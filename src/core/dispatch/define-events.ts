import { type ConfigProblem, SallyportError } from '../../errors.ts'
import type { JsonValue } from '../../model/json.ts'
import type { ConditionEngine, Decision } from '../../ports/condition-engine.ts'
import type {
  CatalogChannel,
  CatalogEvent,
  EventCatalog,
  EventFacts,
  FieldRendering,
} from '../../ports/event-catalog.ts'
import type { TemplateEngine } from '../../ports/template-engine.ts'
import { ignoreRejection, toJson } from '../to-json.ts'
import { checkData } from './check-data.ts'
import type { EventDefinition } from './event-definition.ts'
import type { InputOf, StandardSchema } from './standard-schema.ts'

/** What compiles the templates and rules of a catalogue that are not functions. */
export interface EventEngines {
  /** For string templates: `liquid()` from `sallyport/liquid`. Default: a string template stops start-up. */
  readonly templates?: TemplateEngine
  /** For JSON rules: `jsonLogic()` from `sallyport/json-logic`. Default: a JSON rule stops start-up. */
  readonly conditions?: ConditionEngine
}

type Definition = EventDefinition<StandardSchema>

/** What an event takes, as its schema says. */
type DataOf<Schemas> = { readonly [Type in keyof Schemas]: InputOf<Schemas[Type]> }
type Place = Pick<ConfigProblem, 'event' | 'channel' | 'field'>

const EVENT_KEYS: ReadonlySet<string> = new Set(['data', 'when', 'route', 'channels'] satisfies (keyof Definition)[])
const EVENT_TYPE = /^[A-Za-z0-9._-]{1,256}$/
const CHANNEL_NAME = /^[A-Za-z0-9._-]{1,64}$/

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
  if (!isRecord(definitions))
    throw new SallyportError('events_invalid', 'defineEvents takes an object of events by their keys.')
  const compiler = new Compiler(engines)
  for (const [name, engine] of Object.entries(engines)) {
    if (typeof engine?.compile !== 'function')
      compiler.problems.push({ field: name, detail: 'is no engine: was it called, as in liquid()?' })
  }
  const events = new Map<string, CatalogEvent>()
  for (const [eventType, definition] of Object.entries(definitions as Readonly<Record<string, Definition>>)) {
    events.set(eventType, compiler.event(eventType, definition))
  }
  if (events.size === 0) compiler.problems.push({ detail: 'a catalogue needs at least one event' })
  if (compiler.problems.length > 0) {
    throw new SallyportError('events_invalid', 'The event catalogue cannot be used:', compiler.problems)
  }
  const eventTypes = Object.freeze([...events.keys()])
  return { find: (eventType) => events.get(eventType), eventTypes }
}

/** Compiles definitions, and gathers what is wrong with them. */
class Compiler {
  readonly problems: ConfigProblem[] = []
  readonly #engines: EventEngines

  constructor(engines: EventEngines) {
    this.#engines = engines
  }

  event(eventType: string, definition: Definition): CatalogEvent {
    const place = { event: eventType }
    if (!EVENT_TYPE.test(eventType)) this.#report(place, 'an event key is 1-256 of A-Z a-z 0-9 . _ -')
    if (!isRecord(definition)) this.#report(place, 'is not an event definition: { data?, when?, route?, channels }')
    const { data, route = 'all', when, channels } = isRecord(definition) ? definition : { channels: {} }
    for (const key of Object.keys(definition ?? {})) {
      if (!EVENT_KEYS.has(key)) this.#report({ ...place, field: key }, `is not one of ${[...EVENT_KEYS].join(', ')}`)
    }
    if (route !== 'all' && route !== 'first') this.#report(place, 'route is "all" or "first"')
    if (data && typeof data['~standard']?.validate !== 'function') {
      this.#report({ ...place, field: 'data' }, 'is not a Standard Schema (valibot, zod, arktype, …)')
    }
    const compiled = Object.entries(channels ?? {}).map(([name, channel]) => this.#channel(eventType, name, channel))
    if (compiled.length === 0) this.#report(place, 'an event needs at least one channel')
    const condition = this.#condition(when, { ...place, field: 'when' })
    return {
      eventType,
      route,
      channels: compiled,
      ...(condition && { when: condition }),
      checkData: (eventData) => checkData(data, eventData),
    }
  }

  #channel(event: string, channel: string, definition: Definition['channels'][string]): CatalogChannel {
    if (!CHANNEL_NAME.test(channel)) this.#report({ event, channel }, 'a channel name is 1-64 of A-Z a-z 0-9 . _ -')
    if (!isRecord(definition)) this.#report({ event, channel }, 'is not a channel definition: { when?, …fields }')
    const { when, ...templates } = isRecord(definition) ? definition : {}
    const condition = this.#condition(when, { event, channel, field: 'when' })
    const fields: Record<string, (facts: EventFacts) => FieldRendering> = {}
    for (const [field, template] of Object.entries(templates)) {
      if (template !== undefined) fields[field] = this.#template(template, { event, channel, field })
    }
    return { channel, fields, ...(condition && { when: condition }) }
  }

  #condition(definition: Definition['when'], place: Place): ((facts: EventFacts) => Decision) | undefined {
    if (definition === undefined) return undefined
    if (typeof definition === 'function') return (facts) => decide(definition, facts)
    const engine = this.#engines.conditions
    if (!engine) {
      this.#report(place, `is a JSON rule: pass { conditions: jsonLogic() } with jsonLogic from 'sallyport/json-logic'`)
      return undefined
    }
    if (typeof engine.compile !== 'function') return undefined
    const compiled = engine.compile(definition)
    if (typeof compiled === 'function') return (facts) => compiled({ data: facts.data, recipient: facts.recipient })
    this.problems.push({ ...place, pointer: compiled.pointer, detail: compiled.fault })
    return undefined
  }

  #template(definition: unknown, place: Place & { readonly field: string }): (facts: EventFacts) => FieldRendering {
    if (typeof definition === 'function') {
      const template = definition as (facts: EventFacts) => unknown
      return (facts) => call(template, facts)
    }
    if (typeof definition !== 'string') this.#report(place, 'is neither a string nor a function')
    else if (!this.#engines.templates) {
      this.#report(place, `is a string template: pass { templates: liquid() } with liquid from 'sallyport/liquid'`)
    } else if (typeof this.#engines.templates.compile === 'function') {
      const compiled = this.#engines.templates.compile(definition, place.field === 'html' ? 'html' : 'none')
      if (typeof compiled === 'function') {
        return (facts) => {
          const rendering = compiled({ data: facts.data, recipient: facts.recipient })
          return rendering.outcome === 'rendered' ? rendered(rendering.text) : rendering
        }
      }
      const { fault, ...position } = compiled
      this.problems.push({ ...place, ...position, detail: fault })
    }
    return () => ({ outcome: 'error', detail: 'the template did not compile' })
  }

  #report(place: Place, detail: string): void {
    this.problems.push({ ...place, detail })
  }
}

function decide(condition: (facts: EventFacts) => boolean, facts: EventFacts): Decision {
  try {
    const result: unknown = condition(facts)
    ignoreRejection(result)
    if (result === true) return { outcome: 'true' }
    if (result === false) return { outcome: 'false', trace: [{ rule: 'function', result: false }] }
    return { outcome: 'error', detail: 'the condition function gave no boolean' }
  } catch {
    return { outcome: 'error', detail: 'the condition function threw' }
  }
}

function call(template: (facts: EventFacts) => unknown, facts: EventFacts): FieldRendering {
  try {
    const given = template(facts)
    ignoreRejection(given)
    const value = toJson(given)
    return value === undefined
      ? { outcome: 'error', detail: 'the template function gave no JSON value' }
      : rendered(value)
  } catch {
    return { outcome: 'error', detail: 'the template function threw' }
  }
}

function rendered(value: JsonValue): FieldRendering {
  return { outcome: 'rendered', value }
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
