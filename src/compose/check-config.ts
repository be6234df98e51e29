import type { ErrorDetails, ErrorHooks } from '../core/answers/report-fault.ts'
import type { BreakerOptions, ChannelLimits, WorkerOptions } from '../core/delivery/worker-options.ts'
import type { Hooks } from '../core/hooks.ts'
import { linkBaseUrl } from '../core/links/signed-links.ts'
import type { ConfigProblem } from '../errors.ts'
import { ENGINE_STORE } from '../model/engine-store.ts'
import { arrayOf, bool, choice, clock, fn, has, loggerPort, recordOf, schedule, whole } from '../options/checks.ts'
import { hashKeys } from '../options/hash-keys.ts'
import {
  type Check,
  type Checks,
  type GivenOptions,
  isRecord,
  near,
  nested,
  problemsAt,
  readOptions,
  required,
} from '../options/read-options.ts'
import { kindOf } from '../options/shown-value.ts'
import type { Channel } from '../ports/channel.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import { hooksOf } from './check-hooks.ts'
import type { LinkOptions, RunsOnlyOptions, SallyportOptions } from './options.ts'
import { pluginList } from './plugins.ts'
import { unknownNames } from './unknown-names.ts'

const HOUR_MS = 3_600_000

const period = whole(1_000, 366 * 86_400_000)

const LIMITS: Checks<ChannelLimits> = {
  concurrency: whole(1, 1_000),
  perReceiver: whole(1, 1_000),
  rate: nested<NonNullable<ChannelLimits['rate']>>({
    max: required(whole(1, 1_000_000)),
    perMs: required(whole(1, HOUR_MS)),
  }),
}

const BREAKER = nested<BreakerOptions>({
  timeouts: whole(1, 1_000),
  pauseMs: whole(1_000, HOUR_MS),
  maxPauseMs: whole(1_000, 24 * HOUR_MS),
})

const WORKER: Checks<WorkerOptions> = {
  ...LIMITS,
  channels: recordOf(nested(LIMITS)),
  leaseMs: whole(1_000, HOUR_MS),
  sendTimeoutMs: whole(100, HOUR_MS),
  breaker: (value, given) => (value === false ? undefined : BREAKER(value, given)),
  pollMs: whole(10, HOUR_MS),
}

const ERROR_HOOKS: Checks<ErrorHooks> = { onError: fn }
const HOOKS: Checks<Hooks> = { ...ERROR_HOOKS, onAccepted: fn, onSent: fn, onFailed: fn, onSkipped: fn }

const address = has('a channel such as email(…), or an object { address(recipient), send(message) }', 'address', 'send')
const CHANNEL: readonly (readonly [string, Check])[] = [
  ['retrySchedule', schedule],
  ['concurrencyKey', fn],
  ['copies', fn],
  ['checkFields', fn],
]

const channel: Check = (part, given) => {
  const fault = address(part, given)
  const members = CHANNEL.flatMap(([name, check]) => {
    const value: unknown = Reflect.get(Object(part), name)
    return value === undefined ? [] : problemsAt(name, check(value, given))
  })
  return typeof fault === 'string' ? [{ detail: fault }, ...members] : members
}

const CATALOG = 'what defineEvents(…) returned'
const find = has(CATALOG, 'find')
const catalog: Check = (value, given) =>
  find(value, given) ??
  (Array.isArray(Reflect.get(Object(value), 'eventTypes')) ? undefined : `has no eventTypes; pass ${CATALOG}`)

const STORES = 'memoryStore(), sqlStore(…), documentStore(…) or engineStore(records)'
const isDispatchStore = has('', 'accept', 'recall')

const store: Check = (value, given) => {
  if (typeof value === 'function') return `is a function: must it be called? Pass ${STORES}`
  if (!isRecord(value)) return `is ${kindOf(value)}; pass ${STORES}`
  if (ENGINE_STORE in value) {
    const missing = Object.keys(value).filter((name) => value[name] === undefined)
    return missing.length > 0 ? `has no ${missing.join(', ')}; pass ${STORES}` : undefined
  }
  const fault = `is not of the engine; pass ${STORES}`
  if ('mergeRun' in value) return `${fault}, or a copy of one with other methods: { ...store, accept }`
  return isDispatchStore(value, given) === undefined
    ? `${fault}; what within(transaction) returned belongs into dispatch(event, { store })`
    : fault
}

const RECORDING: Checks<Omit<RunsOnlyOptions, 'events' | 'channels' | 'store'>> = {
  auth: required(has('appSecrets(…), sessionTokens(…), anyOf(…) or an object { verify(token) }', 'verify')),
  sessions: choice(['create', 'must-exist']),
  rateLimiter: has('rateLimits(…) or an object { consume(subject, count) }', 'consume'),
  maxInFlight: whole(1, 100_000),
  maxUnfinished: whole(1, 100_000),
  maxUnfinishedBytes: whole(262_144, 68_719_476_736),
  prices: has('genaiPrices(…), priceBook(…) or an object { price(usage) }', 'price'),
  redactor: has('an object { redact(text, field) }', 'redact'),
  exporters: arrayOf(has('otelRunExporter() or an object { export(run) }', 'export')),
  hooks: hooksOf(ERROR_HOOKS),
  errorDetails: choice(['default', 'full', 'none'] satisfies ErrorDetails[]),
  staleAfterMs: period,
  plugins: pluginList,
  clock,
  ids: has('an object { next(prefix) }', 'next'),
  logger: loggerPort,
}

const ALL: Checks<SallyportOptions<unknown>> = {
  ...RECORDING,
  events: required(catalog, 'is required with channels'),
  store: required(store),
  channels: required(recordOf(channel), 'is required with events'),
  recipients: has('an object { find(recipient, tenant) }', 'find'),
  policy: has('quietHours(…), allOf(…) or an object { decide(question) }', 'decide'),
  hooks: hooksOf(HOOKS),
  sandbox: bool,
  worker: nested(WORKER),
  queue: has('postgresQueue(…), bullmqQueue(…) or an object { wake(delayMs), listen(listener) }', 'wake', 'listen'),
  links: nested<LinkOptions>({ baseUrl: required(linkBaseUrl), keys: required(hashKeys) }),
  expiresInMs: period,
  idempotencyTtlMs: period,
}

/** Options for dispatching are known here, but refused with this detail. */
function runsOnly(detail: string): Checks<RunsOnlyOptions> {
  const dispatching: Check = () => detail
  return {
    ...Object.fromEntries(Object.keys(ALL).map((name) => [name, dispatching])),
    ...RECORDING,
    store: required(store),
  } as unknown as Checks<RunsOnlyOptions>
}

const RUNS_ONLY = runsOnly('is for dispatching: give events and channels too')

function isRunsOnly(options: RunsOnlyOptions | SallyportOptions<unknown>): options is RunsOnlyOptions {
  return isRecord(options) && options.events === undefined && options.channels === undefined
}

/**
 * Reads the options of `createSallyport`, and checks that events and channels fit.
 *
 * @throws {SallyportError} `config_invalid`, with all problems at once: an option that is missing, unknown, of another type or out
 * of range; a port that must be called first; an event whose channel is not configured or cannot send its fields; a retry schedule
 * that does not ascend.
 */
export function readConfig<Options extends RunsOnlyOptions | SallyportOptions<unknown>>(options: Options): Options {
  const [checks, rules] = isRunsOnly(options) && !isMisspelt(options) ? [RUNS_ONLY, undefined] : [ALL, fitProblems]
  return readOptions(TITLE, options, checks as unknown as Checks<Options>, rules, 'config_invalid')
}

/** Reads the options of `createRunsOnlySallyport`. */
export function readRunsOnly(options: RunsOnlyOptions): RunsOnlyOptions {
  const checks = runsOnly('is for dispatching: use createSallyport')
  return readOptions(TITLE, options, checks, undefined, 'config_invalid')
}

const TITLE = 'Sallyport cannot start'

/** Events or channels are there under a misspelt name. */
function isMisspelt(options: object): boolean {
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(ALL, name))
  return unknown.some((name) => near(name, ['events', 'channels']) !== '')
}

/** Finds problems between options. Skips options that are themselves wrong. */
function fitProblems(given: GivenOptions): ConfigProblem[] {
  const { policy, worker } = given as Partial<SallyportOptions<unknown>>
  const channels = isRecord(given.channels) ? (given.channels as Readonly<Record<string, Channel>>) : undefined
  const events = catalog(given.events, given) === undefined ? (given.events as EventCatalog) : undefined
  const names = channels && Object.keys(channels)
  const limited = isRecord(worker?.channels) ? Object.keys(worker.channels) : []
  return [
    ...(names ? unknownNames('policy.channels', policy?.names?.channels, names) : []),
    ...(events ? unknownNames('policy.events', policy?.names?.events, events.eventTypes) : []),
    ...(names ? unknownNames('worker.channels', limited, names) : []),
    ...(events && channels ? eventProblems(events, channels) : []),
  ]
}

type Faults = ReturnType<NonNullable<Channel['checkFields']>>

function eventProblems(events: EventCatalog, channels: Readonly<Record<string, Channel>>): ConfigProblem[] {
  const names = Object.keys(channels)
  return events.eventTypes.flatMap((event) =>
    (events.find(event)?.channels ?? []).flatMap(({ channel: name, fields, values }): ConfigProblem[] => {
      if (!names.includes(name)) {
        const configured = names.join(', ') || 'none'
        return [{ event, channel: name, detail: `is not configured; the channels are: ${configured}` }]
      }
      const { checkFields } = Object(channels[name])
      if (typeof checkFields !== 'function') return []
      const found: Faults = checkFields.call(channels[name], Object.keys(fields), values)
      return [found ?? []].flat().map((detail) => ({ event, channel: name, detail }))
    }),
  )
}
