import type { ConfigProblem } from '../../../errors.ts'
import { type Awaitable, isPromise } from '../../../model/awaitable.ts'
import { type JsonValue, toJson } from '../../../model/json.ts'
import { isLanguageTag, lookUpLocale } from '../../../model/locale-lookup.ts'
import { ignoreRejection } from '../../../model/thrown.ts'
import { choices, isRecord } from '../../../options/read-options.ts'
import { kindOf } from '../../../options/shown-value.ts'
import { wrongReturn } from '../../../options/wrong-return.ts'
import type { CompiledCondition, Decision } from '../../../ports/condition-engine.ts'
import type { CatalogChannel, EventFacts, FieldRendering, LinkRead } from '../../../ports/event-catalog.ts'
import type { CompiledTemplate } from '../../../ports/template-engine.ts'
import { compileWith, decideWith, faultsIn, renderWith } from './engine-results.ts'
import type { ChannelDefinition, ConditionDefinition, EventEngines, LocaleDefinitions } from './event-definition.ts'
import type { CheckPath } from './names/check-names.ts'

/** State of compiling one catalogue. With problems, its output is not used. */
export interface Compilation {
  readonly engines: EventEngines
  readonly problems: ConfigProblem[]
  /** Engines that are not there and were reported. */
  readonly lacking: Set<keyof EventEngines>
  /** Absent: paths are not checked. */
  readonly checkPath?: CheckPath | undefined
  /** Receives the links that templates and rules of the event read. */
  readonly links: LinkRead[]
}

export type CatalogPlace = Pick<ConfigProblem, 'event' | 'channel' | 'field'>

/** {@link EventFacts} for engines: a type alias, because an interface has no index signature. */
export type OpenFacts = Pick<EventFacts, keyof EventFacts>

const CHANNEL_NAME = /^[A-Za-z0-9._-]{1,64}$/

export function compileChannel(
  event: string,
  channel: string,
  definition: ChannelDefinition<unknown>,
  compilation: Compilation,
): CatalogChannel {
  const { problems } = compilation
  const place = { event, channel }
  if (!CHANNEL_NAME.test(channel)) problems.push({ ...place, detail: 'a channel name is 1-64 of A-Z a-z 0-9 . _ -' })
  if (!isRecord(definition)) {
    problems.push({
      ...place,
      detail: `is ${kindOf(definition)}; must be a channel definition: { when?, locales?, …fields }`,
    })
    return { channel, fields: {} }
  }
  const { when, locales, ...templates } = definition
  const condition = compileCondition(when, { ...place, field: 'when' }, compilation)
  const renderers = compileTemplates(templates, (field) => ({ ...place, field }), compilation)
  const names = Object.keys(templates).filter((name) => templates[name] !== undefined)
  const translations = compileLocales(locales, names, place, compilation)
  const fields = [...renderers].map(([field, renderer]) => [field, inLocale(field, renderer, translations)] as const)
  const values = valuesOf(templates)
  return {
    channel,
    fields: Object.fromEntries(fields),
    ...(Object.keys(values).length > 0 && { values }),
    ...(![templates, ...Object.values(Object(locales))].some(mayLink) && { linkless: true }),
    ...(condition && { when: condition }),
  }
}

/** True for templates among which one is a function, or a text that names links. */
function mayLink(templates: unknown): boolean {
  return Object.values(Object(templates)).some(
    (template) => typeof template === 'function' || (typeof template === 'string' && template.includes('links')),
  )
}

/** The fields that are values. */
function valuesOf(definitions: Readonly<Record<string, FieldDefinition>>): CatalogChannel['values'] & {} {
  const values = Object.entries(definitions).flatMap(([field, definition]) => {
    const value = fixedValue(definition)
    return value === undefined ? [] : [[field, value] as const]
  })
  return Object.fromEntries(values)
}

export function compileCondition(
  definition: ConditionDefinition<unknown> | undefined,
  place: CatalogPlace,
  compilation: Compilation,
): ((facts: OpenFacts) => Decision) | undefined {
  if (definition === undefined) return undefined
  const {
    engines: { conditions },
    problems,
  } = compilation
  if (typeof definition === 'function') return (facts) => decide(definition, facts)
  if (!conditions) {
    const rule = "is a JSON rule: pass { conditions: jsonLogic() } with jsonLogic from 'sallyport/json-logic'"
    const isRule = isRecord(definition) || typeof definition === 'boolean'
    if (isRule) reportLacking('conditions', { ...place, detail: rule }, compilation)
    else problems.push({ ...place, detail: `is ${kindOf(definition)}; must be a function or a JSON rule` })
    return undefined
  }
  if (typeof conditions.compile !== 'function') return undefined
  const compiled = compileWith('condition', () => conditions.compile(definition))
  if (typeof compiled === 'function') {
    problems.push(...checkReads(compiled, place, compilation))
    return (facts) => decideWith(compiled, facts)
  }
  problems.push(...faultsIn(compiled, 'condition').map((fault) => ({ ...fault, ...place })))
  return undefined
}

/** Reports once that an engine is not there. */
function reportLacking(engine: keyof EventEngines, problem: ConfigProblem, { problems, lacking }: Compilation): void {
  if (!lacking.has(engine)) problems.push(problem)
  lacking.add(engine)
}

/** Notes the links among the paths that an engine reports. Returns the problems of the others. */
function checkReads(
  { reads = [] }: CompiledTemplate | CompiledCondition,
  place: CatalogPlace,
  { checkPath = () => undefined, links }: Compilation,
): readonly ConfigProblem[] {
  const isList = Array.isArray(reads) && reads.every((read: unknown) => Array.isArray(Object(read).path))
  if (!isList)
    return [{ ...place, detail: 'the engine gave "reads" that are no list of { path } with a list of names' }]
  return reads.flatMap(({ path, ...position }) => {
    const [root, name] = path
    const { channel, field = '' } = place
    if (root === 'links' && typeof name === 'string')
      links.push({ name, field, ...(channel !== undefined && { channel }) })
    const detail = checkPath(path)
    return detail === undefined ? [] : [{ ...position, ...place, detail }]
  })
}

function decide(condition: (facts: EventFacts) => boolean, facts: EventFacts): Decision {
  try {
    const result: unknown = condition(facts)
    if (result === true) return { outcome: 'true' }
    if (result === false) return { outcome: 'false', trace: [{ rule: 'function', result: false }] }
    const { message: detail } = wrongReturn('the condition function', result, 'true or false at once')
    return { outcome: 'error', detail }
  } catch (cause) {
    return { outcome: 'error', detail: 'the condition function threw', cause }
  }
}

type FieldRenderer = (facts: EventFacts) => Awaitable<FieldRendering>

type FieldDefinition = ChannelDefinition<unknown>[string]

/** Skips fields that are `undefined`. */
function compileTemplates(
  definitions: Readonly<Record<string, FieldDefinition>>,
  place: (field: string) => CatalogPlace,
  compilation: Compilation,
): ReadonlyMap<string, FieldRenderer> {
  const renderers = new Map<string, FieldRenderer>()
  for (const [field, definition] of Object.entries(definitions)) {
    if (definition === undefined) continue
    const renderer = compileTemplate(definition, field === 'html' ? 'html' : 'none', place(field), compilation)
    if (renderer) renderers.set(field, renderer)
  }
  return renderers
}

function compileTemplate(
  definition: FieldDefinition,
  escaping: 'html' | 'none',
  place: CatalogPlace,
  compilation: Compilation,
): FieldRenderer | undefined {
  const {
    engines: { templates },
    problems,
  } = compilation
  if (typeof definition === 'function') return (facts) => callTemplate(definition, facts)
  if (typeof definition !== 'string') return constant(definition, place, problems)
  if (!templates) {
    const detail = "is a string template: pass { templates: liquid() } with liquid from 'sallyport/liquid'"
    reportLacking('templates', { ...place, detail }, compilation)
    return undefined
  }
  if (typeof templates.compile !== 'function') return undefined
  const compiled = compileWith('template', () => templates.compile(definition, escaping))
  if (typeof compiled === 'function') {
    problems.push(...checkReads(compiled, place, compilation))
    return (facts: OpenFacts) => renderWith(compiled, facts)
  }
  problems.push(...faultsIn(compiled, 'template').map((fault) => ({ ...fault, ...place })))
  return undefined
}

/** A list or an object as JSON; `undefined` for others, for promises, and for those that JSON does not know. */
function fixedValue(definition: unknown): JsonValue | undefined {
  if (typeof definition !== 'object' || definition === null) return undefined
  try {
    return isPromise(definition) ? undefined : toJson(definition)
  } catch {
    return undefined
  }
}

function constant(definition: unknown, place: CatalogPlace, problems: ConfigProblem[]): FieldRenderer | undefined {
  const value = fixedValue(definition)
  if (value !== undefined) return () => ({ outcome: 'rendered', value })
  ignoreRejection(definition)
  const isPromised = definition instanceof Promise
  const isObject = typeof definition === 'object' && definition !== null && !isPromised
  const what = isObject ? 'has a value that is not JSON' : `is ${kindOf(definition)}`
  const fault = `${what}; must be a string, a function or a JSON list or object`
  problems.push({ ...place, detail: isPromised ? 'is a promise: pass a function that returns it' : fault })
  return undefined
}

function callTemplate(template: (facts: EventFacts) => unknown, facts: EventFacts): Awaitable<FieldRendering> {
  try {
    const given = template(facts)
    return isPromise(given) ? awaitTemplate(given) : asJson(given)
  } catch (cause) {
    return { outcome: 'error', detail: 'the template function threw', cause }
  }
}

/** Never rejects: `await` handles promises of any library, also a `then` that throws. */
async function awaitTemplate(given: Promise<unknown>): Promise<FieldRendering> {
  try {
    return asJson(await given)
  } catch (cause) {
    return { outcome: 'error', detail: 'the promise of the template function was rejected', cause }
  }
}

function asJson(given: unknown): FieldRendering {
  try {
    const value = toJson(given)
    return value === undefined ? noJson(given) : { outcome: 'rendered', value }
  } catch (cause) {
    return { ...noJson(given), cause }
  }
}

function noJson(given: unknown): Extract<FieldRendering, { outcome: 'error' }> {
  const kind = typeof given
  const what = kind === 'undefined' ? kind : kind === 'object' ? 'an object that is no JSON' : `a ${kind}`
  const detail = `the template function returned ${what}; return a string or another JSON value`
  return { outcome: 'error', detail }
}

/** Fields in other languages, by lower-case tag. */
type Locales = ReadonlyMap<string, ReadonlyMap<string, FieldRenderer>>

/** Compiles a channel's fields in other languages. Each must be a field of the channel itself: `names`. */
function compileLocales(
  definitions: LocaleDefinitions<unknown> | undefined,
  names: readonly string[],
  place: { readonly event: string; readonly channel: string },
  compilation: Compilation,
): Locales {
  const { problems } = compilation
  const locales = new Map<string, ReadonlyMap<string, FieldRenderer>>()
  if (definitions === undefined) return locales
  if (!isRecord(definitions)) {
    problems.push({
      ...place,
      field: 'locales',
      detail: `is ${kindOf(definitions)}; must be an object of fields by BCP 47 tag: { de: { subject: … } }`,
    })
    return locales
  }
  for (const [tag, templates] of Object.entries(definitions)) {
    const at = { ...place, field: `locales.${tag}` }
    const key = tag.toLowerCase()
    if (!isLanguageTag(tag)) problems.push({ ...at, detail: 'is not a well-formed BCP 47 tag, such as de-AT' })
    if (locales.has(key)) problems.push({ ...at, detail: 'is there twice: in a tag, case makes no difference' })
    if (!isRecord(templates)) problems.push({ ...at, detail: `is ${kindOf(templates)}; must be an object of fields` })
    const fields = isRecord(templates) ? templates : {}
    const within = (field: string): typeof at => ({ ...at, field: `${at.field}.${field}` })
    for (const field of Object.keys(fields)) {
      if (names.includes(field)) continue
      problems.push({
        ...within(field),
        detail: `is not a field of the channel itself${choices(field, names, 'fields')}`,
      })
    }
    locales.set(key, compileTemplates(fields, within, compilation))
  }
  return locales
}

function inLocale(field: string, byDefault: FieldRenderer, locales: Locales): FieldRenderer {
  const byTag = new Map<string, FieldRenderer>()
  for (const [tag, fields] of locales) {
    const renderer = fields.get(field)
    if (renderer) byTag.set(tag, renderer)
  }
  if (byTag.size === 0) return byDefault
  return (facts) => (lookUpLocale(byTag, facts.recipient.locale) ?? byDefault)(facts)
}
