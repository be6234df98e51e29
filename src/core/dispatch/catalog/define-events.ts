import { type Issue, SallyportError } from '../../../errors.ts'
import { type Awaitable, isPromise } from '../../../model/awaitable.ts'
import { FALLBACK_CAUSES } from '../../../model/dispatch.ts'
import { isStorable, type JsonObject } from '../../../model/json.ts'
import { pointerTo } from '../../../model/json-pointer.ts'
import { ignoreRejection } from '../../../model/thrown.ts'
import { arrayOf, bool, choice, fn, has, like, matching, whole } from '../../../options/checks.ts'
import {
  type Check,
  type Checks,
  choices,
  type GivenOptions,
  isRecord,
  nested,
  problemsAt,
  problemsIn,
  required,
} from '../../../options/read-options.ts'
import { kindOf, shownName } from '../../../options/shown-value.ts'
import { wrongReturn } from '../../../options/wrong-return.ts'
import type {
  CatalogDigest,
  CatalogEvent,
  DataOutcome,
  DigestKey,
  EventCatalog,
  EventFacts,
  LinkRead,
} from '../../../ports/event-catalog.ts'
import { type Compilation, compileChannel, compileCondition } from './compile-channel.ts'
import type {
  DigestDefinition,
  EventDefinition,
  EventEngines,
  InputOf,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from './event-definition.ts'
import { namesCheck } from './names/check-names.ts'

type DataOf<Schemas> = { readonly [Type in keyof Schemas]: InputOf<Schemas[Type]> }

const ENGINES: Checks<EventEngines> = {
  templates: has('liquid() of sallyport/liquid', 'compile'),
  conditions: has('jsonLogic() of sallyport/json-logic', 'compile'),
}

type Definition = EventDefinition<StandardSchema>

/**
 * Defines the events that can be dispatched, and compiles their templates and conditions once. Template and condition functions and
 * `sallyport.dispatch` get the data type of each event.
 *
 * String templates and JSON rules are compared with the `data` schema: a name below `data` or `events` that its output cannot have is a
 * problem. Nothing is checked below schemas that allow any name, and in template functions.
 *
 * @throws {SallyportError} `events_invalid`, with all problems at once: event, channel, field, line and column.
 */
export function defineEvents<const Schemas extends Record<string, unknown>>(
  definitions: { readonly [Type in keyof Schemas]: EventDefinition<Schemas[Type]> },
  engines: EventEngines = {},
): EventCatalog<DataOf<Schemas>> {
  const problems = [...problemsIn(engines, ENGINES)]
  // An engine that is wrong or misspelt is not also a missing one.
  const lacking = new Set<keyof EventEngines>(problems.length > 0 ? ['templates', 'conditions'] : [])
  const compilation = { engines: { ...engines }, problems, lacking }
  const events = new Map<string, CatalogEvent>()
  const given: GivenOptions = isRecord(definitions) ? definitions : {}
  for (const [eventType, definition] of Object.entries(given)) {
    events.set(eventType, compileEvent(eventType, definition, compilation))
  }
  if (events.size === 0) {
    const came = isRecord(definitions) ? 'no event' : kindOf(definitions)
    problems.push({
      detail: `got ${came}; pass an object of events: { 'order.shipped': { channels: { email: { … } } } }`,
    })
  }
  if (problems.length > 0) throw new SallyportError('events_invalid', 'The event catalogue cannot be used:', problems)
  return { find: (eventType) => events.get(eventType), eventTypes: Object.freeze([...events.keys()]) }
}

const EVENT_TYPE = /^[A-Za-z0-9._-]{1,256}$/

const compiled: Check = () => undefined

const EVENT: Checks<Definition> = {
  data: matching(
    isSchema,
    'must be a Standard Schema, such as v.object({ … }) of valibot or z.object({ … }) of zod',
    kindOf,
  ),
  category: like(/^[A-Za-z0-9._-]{1,100}$/, 'must be 1-100 of A-Z a-z 0-9 . _ -'),
  when: compiled,
  route: choice(['all', 'first']),
  fallbackOn: arrayOf(choice(FALLBACK_CAUSES)),
  critical: bool,
  priority: choice(['urgent', 'normal']),
  delayMs: whole(0, 366 * 24 * 3_600_000),
  digest: compiled,
  channels: required(matching(isRecord, 'must be an object of channel definitions: { email: { … } }', kindOf)),
  overrides: compiled,
}

function compileEvent(eventType: string, given: unknown, catalog: Omit<Compilation, 'links'>): CatalogEvent {
  const place = { event: eventType }
  const report = (detail: string | undefined, field?: string): void => {
    if (detail !== undefined) catalog.problems.push({ ...place, ...(field !== undefined && { field }), detail })
  }
  if (!EVENT_TYPE.test(eventType)) report('an event key is 1-256 of A-Z a-z 0-9 . _ -')
  if (isRecord(given)) for (const { detail, field } of problemsIn(given, EVENT)) report(detail, field)
  else report(`is ${kindOf(given)}; must be an event definition: { data?, when?, …, channels }`)
  // Each member may be wrong: its problem is reported above.
  const definition = (isRecord(given) ? given : {}) as Partial<Definition>

  const { data, category = eventType, route = 'all', fallbackOn, critical = false, priority, delayMs = 0 } = definition
  const links: LinkRead[] = []
  const compilation = { ...catalog, links, checkPath: namesCheck(data && isSchema(data) ? data : undefined) }
  const when = compileCondition(definition.when, { ...place, field: 'when' }, compilation)
  const digest = compileDigest(definition.digest, eventType, compilation)
  const isFirst = route === 'first'
  if (digest && isFirst) report(`needs route "all": a fallback's digest would look like the first's`, 'digest')
  if (fallbackOn !== undefined && route === 'all') report('needs route "first"', 'fallbackOn')
  if (digest && typeof delayMs === 'number' && delayMs > 0)
    report('a digest has a window: leave the delay out', 'delayMs')

  const channels = Object.entries(isRecord(definition.channels) ? definition.channels : {})
  if (isRecord(definition.channels) && channels.length === 0)
    report('has no channel; must have one or more, such as { email: { … } }', 'channels')
  const outputs = channels.map(([name, channel]) => compileChannel(eventType, name, channel, compilation))
  const names = channels.map(([name]) => name)
  const overrides = compileOverrides(definition.overrides, names, (detail) => report(detail, 'overrides'))
  return {
    eventType,
    category,
    route,
    ...(Array.isArray(fallbackOn) && { fallbackOn: [...fallbackOn] }),
    critical,
    ...(priority && { priority }),
    delayMs,
    ...(digest && { digest }),
    overrides,
    channels: outputs,
    ...(when && { when }),
    ...(links.length > 0 && { links }),
    ...(data && { dataSchema: data }),
    checkData: (eventData) => checkData(data, eventData),
  }
}

function compileOverrides(
  given: readonly string[] | Promise<unknown> | undefined,
  names: readonly string[],
  report: (detail: string) => void,
): readonly string[] {
  if (given === undefined) return names
  if (!Array.isArray(given) || given.length === 0) {
    ignoreRejection(given)
    const isPromised = given instanceof Promise
    const known = names.length > 0 ? `: ${names.join(', ')}` : ''
    const fault = `is ${kindOf(given)}; must be a list of one or more of the channels${known}`
    report(isPromised ? 'is a promise: pass the list of channels' : fault)
    return names
  }
  // Without channels, that is the problem.
  for (const [index, name] of names.length > 0 ? given.entries() : []) {
    if (!names.includes(name))
      report(`${shownName(name)} is not a channel of the event${choices(String(name), names, 'channels')}`)
    else if (given.indexOf(name) < index) report(`"${name}" is there twice; give it once`)
  }
  return [...given]
}

function isSchema(value: unknown): boolean {
  const { '~standard': standard } = Object(value)
  return typeof standard?.validate === 'function'
}

const DIGEST: Checks<DigestDefinition<unknown>> = {
  windowMs: required(whole(1, 31 * 24 * 3_600_000)),
  max: whole(1, 1_000),
  key: fn,
}
/** UTF-16 units. */
const MAX_KEY = 512

function compileDigest(
  definition: DigestDefinition<unknown> | undefined,
  event: string,
  { problems }: Compilation,
): CatalogDigest | undefined {
  if (definition === undefined) return undefined
  const fault = nested(DIGEST)(definition, {})
  problems.push(...problemsAt('digest', fault).map((problem) => ({ event, ...problem })))
  if (!isRecord(definition)) return undefined
  const { windowMs, max = 100, key } = definition
  return { windowMs, max, key: key ? (facts) => callKey(key, facts) : () => ONE_KEY }
}

const KEY = `a text of at most ${MAX_KEY} characters at once, without NUL and lone surrogates`
const ONE_KEY: DigestKey = { outcome: 'key', key: '' }

function callKey(key: (facts: EventFacts) => unknown, facts: EventFacts): DigestKey {
  try {
    const given = key(facts)
    if (typeof given === 'string' && given.length <= MAX_KEY && isStorable(given)) return { outcome: 'key', key: given }
    const { message: detail } = wrongReturn('digest.key', given, KEY)
    return { outcome: 'error', detail }
  } catch (cause) {
    return { outcome: 'error', detail: 'digest.key threw', cause }
  }
}

const BASE = '/eventData'
const RESULT = '{ value } or { issues: [{ message, path? }] }, as Standard Schema defines'
const MAX_EXPECTED = 200
/** Libraries that report the expected type separately from the value. */
const REPORT_EXPECTED = new Set(['valibot', 'zod', 'arktype'])
/** In a union, arktype adds the value to the expected type. */
const QUOTED_VALUE = '(was '

/** Checks an event's data against its schema; without a schema any object passes. Throws `answer_invalid` for a result that is none. */
function checkData(schema: StandardSchema | undefined, eventData: JsonObject): Awaitable<DataOutcome> {
  if (!schema) return { outcome: 'valid', data: eventData }
  const { vendor } = schema['~standard']
  const read = (result: StandardResult<unknown>): DataOutcome => outcomeOf(result, eventData, vendor)
  let result: Awaitable<StandardResult<unknown>>
  try {
    result = schema['~standard'].validate(eventData)
  } catch (cause) {
    return unreadable(cause)
  }
  return isPromise(result) ? result.then(read, unreadable) : read(result)
}

/** The schema threw. Its only input is the sent data, so the caller has to change it. */
function unreadable(cause: unknown): DataOutcome {
  const issue = { pointer: BASE, code: 'invalid', detail: "could not be read by the event's data schema" } as const
  return { outcome: 'invalid', issues: [issue], cause }
}

function outcomeOf(result: StandardResult<unknown>, eventData: JsonObject, vendor: string): DataOutcome {
  const { issues, value } = Object(result) as Partial<StandardResult<unknown> & { readonly value: unknown }>
  if (Array.isArray(issues)) {
    return { outcome: 'invalid', issues: issues.map((issue) => describeIssue(issue, eventData, vendor)) }
  }
  if (issues || !('value' in Object(result))) throw wrongReturn('validate() of the data schema', result, RESULT)
  return { outcome: 'valid', data: value }
}

/** Returns the pointer, and the expected type if it is reported without the value. Omits the message, which can quote data. */
function describeIssue(issue: StandardIssue, eventData: JsonObject, vendor: string): Issue {
  const keys = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part))
  const pointer = keys.reduce<string>(pointerTo, BASE)
  if (valueAt(eventData, keys) === undefined) return { pointer, code: 'required', detail: 'is required' }
  const expected = REPORT_EXPECTED.has(vendor) && 'expected' in issue ? issue.expected : undefined
  const isReported = typeof expected === 'string' && expected.length <= MAX_EXPECTED && !expected.includes(QUOTED_VALUE)
  return {
    pointer,
    code: 'invalid',
    detail: isReported ? `expected ${expected}` : "does not fit the event's data schema",
  }
}

function valueAt(root: unknown, keys: readonly PropertyKey[]): unknown {
  return keys.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined),
    root,
  )
}
