import type { FaultDeps } from '../core/answers/report-fault.ts'
import type { SignalPublisher } from '../core/runs/signal-outbox.ts'
import { type ConfigProblem, isSallyportError, SallyportError } from '../errors.ts'
import { isPromise } from '../model/awaitable.ts'
import { FALLBACK_CAUSES } from '../model/dispatch.ts'
import type { Measure } from '../model/measurement.ts'
import { describeThrown } from '../model/thrown.ts'
import { arrayOf, choice, fn, has, recordOf, text } from '../options/checks.ts'
import { type Check, type Checks, choices, isRecord, nested, problemsIn, required } from '../options/read-options.ts'
import { kindOf, shownName } from '../options/shown-value.ts'
import type {
  Plugin,
  PluginCore,
  PluginLife,
  PluginListeners,
  PluginParts,
  PluginRecipient,
  PluginSession,
  PluginView,
  RequestEnd,
} from '../plugins/plugin.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import type { LinkMakers } from '../ports/link-maker.ts'
import type { MessageGuard } from '../ports/message-guard.ts'
import type { PluginData } from '../services/plugin-data.ts'
import { joinData } from './plugin-data.ts'
import { joinGuards, joinLinks } from './plugin-guards.ts'
import { callPlugin, configError, type NamedParts } from './plugin-parts.ts'
import { policyProblems } from './plugin-policies.ts'
import { joinSignals } from './plugin-signals.ts'
import { pluginWakes } from './plugin-wakes.ts'

/** Parts of the host that are the same for all plugins. */
export type SharedCore = Omit<PluginCore, 'name' | 'use' | 'wake' | 'onWake'>

/** The parts of all plugins of a host. */
export interface JoinedPlugins {
  /** Parts by plugin, in their order. */
  readonly parts: readonly NamedParts[]
  /** Listeners to measurements. */
  readonly measures: readonly Measure[]
  /** Raises and publishes the signals of all plugins. Absent: none has any. */
  readonly run?: SignalPublisher
  /** Asks the guards of all plugins. Absent: none has one. */
  readonly guard?: MessageGuard | undefined
  /** Names of the guards and links: a dispatch is sent only where those are that it was accepted under. */
  readonly protection: readonly string[]
  /** Makes the links of all plugins. Absent: none makes any. */
  readonly links?: LinkMakers | undefined
  /** Events that only plugins dispatch. */
  readonly ownEvents: readonly string[]
  readonly data: PluginData
  /** Tells the plugins of the end of a request. Absent: none listens. Never throws. */
  readonly ended?: (end: RequestEnd) => void
}

const NAME = /^[a-z][A-Za-z0-9]{0,63}$/

const isPlugin = has('a plugin such as statistics(), or an object { name, setup(core) }', 'setup')

/** Checks the list of plugins. What they need is checked here too, because it depends on nothing else. */
export const pluginList: Check = (value, given) => {
  if (!Array.isArray(value)) return `is ${kindOf(value)}; must be a list of plugins: [statistics()]`
  const dispatches = given.events !== undefined || given.channels !== undefined
  const before = new Set<unknown>(dispatches ? ['dispatch'] : [])
  // A copy has no holes.
  return [...value].flatMap((plugin: unknown, at): ConfigProblem[] => {
    const field = `[${at}]`
    const fault = isPlugin(plugin, given)
    if (typeof fault === 'string') return [{ field, detail: fault }]
    const { name, needs = [] } = Object(plugin)
    if (typeof name !== 'string' || !NAME.test(name))
      return [{ field: `${field}.name`, detail: 'must be 1-64 letters and digits, a lower-case letter first' }]
    if (!Array.isArray(needs))
      return [{ field: `${field}.needs`, detail: `is ${kindOf(needs)}; must be a list of names of plugins` }]
    const missing = needs.filter((need) => !before.has(need))
    const repeated = before.has(name)
    before.add(name)
    return [
      ...(repeated ? [{ field: `${field}.name`, detail: `${shownName(name)} is the name of a plugin before it` }] : []),
      ...missing.map((need) => ({ field, detail: `${name} ${needOf(need)}` })),
    ]
  })
}

function needOf(need: unknown): string {
  return need === 'dispatch'
    ? 'needs a host that dispatches: give events and channels too'
    : `needs the plugin ${shownName(need)} before it`
}

/**
 * Sets up the plugins, in their order.
 *
 * @throws {SallyportError} `config_invalid`, with the problems of all plugins.
 */
export function setUpPlugins(
  plugins: readonly Plugin[],
  core: SharedCore,
  deps: FaultDeps & { readonly queue?: DeliveryQueue | undefined },
): JoinedPlugins {
  const wakesOf = pluginWakes(deps.queue, deps)
  const problems: ConfigProblem[] = []
  const all: NamedParts[] = []
  const thrown: unknown[] = []
  for (const plugin of plugins) {
    const { name, needs = [] } = plugin
    // Without one that it needs, its own fault would hide the cause.
    if (plugins.some((one) => needs.includes(one.name) && !all.some(({ plugin }) => plugin === one.name))) continue
    try {
      const use = (other: string): object => apiOf(other, needs, all)
      const own = { ...core, ...wakesOf(name), name, use: use as PluginCore['use'] }
      const given: unknown = plugin.setup(own)
      const found = problemsInParts(given, name)
      problems.push(...found)
      if (found.length === 0) all.push({ plugin: name, parts: given as PluginParts })
    } catch (cause) {
      problems.push(...problemsOf(cause, name))
      thrown.push(cause)
    }
  }
  const linked = joinLinks(all, deps.clock)
  problems.push(...linked.problems)
  // A plugin that failed may be the one that is needed.
  if (problems.length === 0 && core.events) problems.push(...unmetEvents(core.events, linked.links, all))
  problems.push(...policyProblems(all, core))
  if (problems.length > 0) throw configError(problems, ...thrown)
  const endings = all.flatMap(({ plugin, parts: { on } }) =>
    on?.requestEnded ? [listening(plugin, on, 'requestEnded', deps)] : [],
  )
  const ended = (end: RequestEnd): void => {
    for (const tell of endings) tell(end)
  }
  return {
    ...(endings.length > 0 && { ended }),
    ...joinSignals(all, deps),
    guard: joinGuards(all, deps.clock),
    links: linked.links,
    protection: [...all.flatMap(({ plugin, parts: { guard } }) => (guard ? [plugin] : [])), ...linked.names].sort(),
    ownEvents: all.flatMap(({ parts: { ownEvents = [] } }) => ownEvents),
    data: joinData(all, deps.clock),
    parts: all,
    measures: all.flatMap(({ plugin, parts: { on } }) =>
      on?.measured ? [listening(plugin, on, 'measured', deps)] : [],
    ),
  }
}

/** @throws {SallyportError} `option_invalid`: the plugin does not name that one. */
function apiOf(other: string, needs: readonly string[], all: readonly NamedParts[]): object {
  const found = needs.includes(other) && all.find(({ plugin }) => plugin === other)
  if (found) return found.parts.api ?? {}
  throw new SallyportError('option_invalid', 'use', [
    { field: 'argument 1', detail: `${shownName(other)} is not a plugin that needs names` },
  ])
}

const anObject: Check = (value) => (Object(value) === value ? undefined : `is ${kindOf(value)}; must be an object`)

/** Each is checked with those of the others. */
const endpoints: Check = (value) =>
  Array.isArray(value) ? undefined : `is ${kindOf(value)}; must be a list of endpoints`

const PARTS: Checks<PluginParts> = {
  api: anObject,
  actions: endpoints,
  open: endpoints,
  policy: has('an object { decide(question) }, such as preferences(…)', 'decide'),
  guard: nested<MessageGuard>({ check: required(fn), learned: fn }),
  links: recordOf(fn),
  ownEvents: arrayOf(text),
  fallbackOn: arrayOf(choice(FALLBACK_CAUSES)),
  view: nested<PluginView>({ deliveries: fn, runs: fn }),
  recipient: nested<PluginRecipient>({ export: required(fn), erase: required(fn) }),
  session: nested<PluginSession>({ timeline: fn, isAwaited: fn, erase: fn }),
  prune: fn,
  run: nested<SignalPublisher>({ names: required(anObject), signals: required(fn), publish: required(fn) }),
  on: nested<PluginListeners>({ measured: fn, requestEnded: fn }),
  life: nested<PluginLife>({ start: fn, runDue: fn, flush: fn, hasWork: fn, stop: fn }),
}

const RETURN = 'it must return its parts: { api?, actions?, policy?, guard?, run?, on?, life?, … }'

function problemsInParts(given: unknown, name: string): readonly ConfigProblem[] {
  const field = `plugins.${name}`
  if (isPromise(given)) return [{ field, detail: `setup() returned a promise; ${RETURN}` }]
  if (!isRecord(given)) return [{ field, detail: `setup() returned ${kindOf(given)}; ${RETURN}` }]
  return problemsIn(given, PARTS).map((problem) => ({ ...problem, field: `${field}.${problem.field}` }))
}

function problemsOf(cause: unknown, name: string): readonly ConfigProblem[] {
  const field = `plugins.${name}`
  // Its message may hold a secret: it is the cause of the error.
  if (!isSallyportError(cause)) return [{ field, detail: `setup() threw ${describeThrown(cause).cause}` }]
  if (cause.problems.length === 0) return [{ field, detail: cause.message }]
  return cause.problems.map((problem) => ({
    ...problem,
    field: problem.field === undefined ? field : `${field}.${problem.field}`,
  }))
}

/** Calls one listener of a plugin. Never throws. */
function listening<Name extends keyof PluginListeners>(
  plugin: string,
  on: PluginListeners,
  hook: Name,
  deps: FaultDeps,
): (told: Parameters<NonNullable<PluginListeners[Name]>>[0]) => void {
  return (told) => callPlugin(() => on[hook]?.(told as never), plugin, hook, deps)
}

/** Finds links that events read and no plugin makes, and reports after which they fall back that no plugin gets. */
function unmetEvents(
  events: EventCatalog,
  links: LinkMakers = {},
  all: readonly NamedParts[],
): readonly ConfigProblem[] {
  const reported = all.flatMap(({ parts: { fallbackOn = [] } }) => fallbackOn)
  const makes = Object.keys(links)
  return events.eventTypes.flatMap((event): ConfigProblem[] => {
    const { links: reads = [], fallbackOn = [] } = events.find(event) ?? {}
    const unmade = reads.filter(({ name }) => !makes.includes(name))
    const unknown = fallbackOn.filter((cause) => !reported.includes(cause))
    return [
      ...unmade.map(({ name, ...place }) => ({ event, ...place, detail: unmadeLink(name, makes) })),
      ...unknown.map((cause) => ({
        event,
        field: 'fallbackOn',
        detail: `no plugin gets reports of ${cause}; ${FEEDBACK}`,
      })),
    ]
  })
}

const FEEDBACK = 'consent({ keys, feedback: { ses: ses(…) } }) does'
const UNSUBSCRIBE = 'consent({ keys }) does, in a host with the option links: { baseUrl, keys }'

function unmadeLink(name: string, makes: readonly string[]): string {
  const hint = name === 'unsubscribe' ? `; ${UNSUBSCRIBE}` : choices(name, makes, 'links')
  return `reads ${shownName(`links.${name}`)}, which no plugin makes${hint}`
}
