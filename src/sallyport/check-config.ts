import type { ErrorDetails, ErrorHooks } from '../core/answers/report-fault.ts'
import type { Hooks } from '../core/delivery/hooks.ts'
import type { ConfigProblem } from '../errors.ts'
import { arrayOf, bool, fn, has, oneOf, recordOf, schedule, whole } from '../options/checks.ts'
import {
  type Check,
  type Checks,
  type GivenOptions,
  isRecord,
  near,
  nested,
  readOptions,
  required,
} from '../options/read-options.ts'
import type { Channel } from '../ports/channel.ts'
import type { DispatchStore } from '../ports/dispatch-store.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import type { RunStore } from '../ports/run-store.ts'
import { hooksOf } from './check-hooks.ts'
import { budgets, RUN_EVENTS, runEventProblems } from './check-runs.ts'
import { WORKER } from './check-worker.ts'
import type { RunsOnlyOptions, SallyportOptions } from './options.ts'

/** The methods that every implementation of a port has. */
type Methods<Port> = {
  // biome-ignore lint/complexity/noBannedTypes: an optional member is one that `{}` lacks.
  readonly [Name in keyof Port as {} extends Pick<Port, Name> ? never : Name]: true
}

const RUN_STORE: Methods<RunStore> = {
  mergeRun: true,
  findRun: true,
  listRuns: true,
  findSession: true,
  openSession: true,
  findSpend: true,
  removeRuns: true,
  erase: true,
}
const DISPATCH_STORE: Methods<DispatchStore> = {
  accept: true,
  claim: true,
  renew: true,
  settle: true,
  recall: true,
  cancel: true,
  retry: true,
  findReplannable: true,
  replan: true,
  findDispatch: true,
  listDispatches: true,
  removeDispatches: true,
}

const period = whole(1_000, 366 * 86_400_000)

const ERROR_HOOKS: Checks<ErrorHooks> = { onError: fn }
const HOOKS: Checks<Hooks> = { ...ERROR_HOOKS, onAccepted: fn, onSent: fn, onFailed: fn, onSkipped: fn }

const channel: Check = (part, given) => {
  const retrySchedule = Reflect.get(Object(part), 'retrySchedule')
  const fault = retrySchedule === undefined ? undefined : schedule(retrySchedule, given)
  return (
    has('address', 'send')(part, given) ??
    (typeof fault === 'string' ? [{ field: 'retrySchedule', detail: fault }] : undefined)
  )
}

const catalog: Check = (value, given) =>
  has('find')(value, given) ??
  (Array.isArray(Reflect.get(Object(value), 'eventTypes')) ? undefined : 'has no eventTypes')

const RECORDING: Checks<Omit<RunsOnlyOptions, 'events' | 'channels' | 'store'>> = {
  auth: required(has('verify')),
  sessions: oneOf(['create', 'must-exist']),
  rateLimiter: has('consume'),
  maxInFlight: whole(1, 100_000),
  maxUnfinished: whole(1, 100_000),
  maxUnfinishedBytes: whole(262_144, 68_719_476_736),
  prices: has('price'),
  redactor: has('redact'),
  exporters: arrayOf(has('export')),
  hooks: hooksOf(ERROR_HOOKS),
  errorDetails: oneOf(['default', 'full', 'none'] satisfies ErrorDetails[]),
  budgets,
  staleAfterMs: period,
  clock: has('now', 'after'),
  ids: has('next'),
  logger: has('log'),
}

const ALL: Checks<SallyportOptions<unknown>> = {
  ...RECORDING,
  events: required(catalog, 'is required with channels'),
  store: required(has(...Object.keys({ ...DISPATCH_STORE, ...RUN_STORE }))),
  channels: required(recordOf(channel), 'is required with events'),
  recipients: has('find'),
  policy: has('decide'),
  hooks: hooksOf(HOOKS),
  sandbox: bool,
  worker: nested(WORKER),
  queue: has('wake', 'listen'),
  runEvents: nested(RUN_EVENTS),
  expiresInMs: period,
  idempotencyTtlMs: period,
}

const dispatching: Check = () => 'is for dispatching: give events and channels too'

/** Those that are for dispatching are known, and not taken. */
const RUNS_ONLY = {
  ...Object.fromEntries(Object.keys(ALL).map((name) => [name, dispatching])),
  ...RECORDING,
  store: required(has(...Object.keys(RUN_STORE))),
} as unknown as Checks<RunsOnlyOptions>

/** Whether a host only records runs. */
export function isRunsOnly(options: RunsOnlyOptions | SallyportOptions<unknown>): options is RunsOnlyOptions {
  return isRecord(options) && options.events === undefined && options.channels === undefined
}

/**
 * Reads the options of a host, and compares events and channels with each other.
 *
 * @throws {SallyportError} `config_invalid`, with all problems at once: a part that is missing, was not called, or is not known; an
 * event that names a channel which is not configured or cannot send the event's fields; a channel whose retry schedule does not
 * ascend; a number out of its range; an event or a budget of runs that cannot be.
 */
export function readConfig<Options extends RunsOnlyOptions | SallyportOptions<unknown>>(options: Options): Options {
  const [checks, rules] = isRunsOnly(options) ? [RUNS_ONLY, undefined] : [ALL, fitProblems]
  return readOptions('Sallyport cannot start', options, checks as unknown as Checks<Options>, rules, 'config_invalid')
}

/** Problems between parts. What a part lacks is its own problem, and compared with nothing. */
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
    ...(events ? runEventProblems(given, events.eventTypes) : []),
    ...(events && channels ? eventProblems(events, channels) : []),
  ]
}

function unknownNames(
  field: string,
  used: readonly string[] | undefined,
  known: readonly string[],
): readonly ConfigProblem[] {
  return [...new Set(used ?? [])]
    .filter((name) => !known.includes(name))
    .map((name) => ({ field, detail: `"${name}" is not there${near(name, known)}` }))
}

function eventProblems(events: EventCatalog, channels: Readonly<Record<string, Channel>>): ConfigProblem[] {
  const names = Object.keys(channels)
  return events.eventTypes.flatMap((event) =>
    (events.find(event)?.channels ?? []).flatMap(({ channel: name, fields }): ConfigProblem[] => {
      if (!names.includes(name)) {
        const configured = names.join(', ') || 'none'
        return [{ event, channel: name, detail: `is not configured; the channels are: ${configured}` }]
      }
      const detail = channels[name]?.checkFields?.(Object.keys(fields))
      return detail === undefined ? [] : [{ event, channel: name, detail }]
    }),
  )
}
