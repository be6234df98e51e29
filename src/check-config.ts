import { runProblems } from './check-runs.ts'
import { numberProblems, workerProblems } from './check-worker.ts'
import { isRecord, near } from './core/definition-checks.ts'
import type { Hooks } from './core/dispatch/hooks.ts'
import { type ConfigProblem, SallyportError } from './errors.ts'
import type { SallyportOptions } from './options.ts'
import type { Channel } from './ports/channel.ts'
import type { CatalogChannel } from './ports/event-catalog.ts'

/** Numbers that a host may set: whole, from the first to the second. */
const RANGES = {
  expiresInMs: [1_000, 366 * 86_400_000],
  idempotencyTtlMs: [1_000, 366 * 86_400_000],
  staleAfterMs: [1_000, 366 * 86_400_000],
  maxInHand: [1, 100_000],
} as const

/** What the parts of a host must be able to do. */
const METHODS: Readonly<Record<string, readonly string[]>> = {
  auth: ['verify'],
  events: ['find'],
  store: [
    'accept',
    'claim',
    'renew',
    'settle',
    'recall',
    'cancel',
    'retry',
    'findDispatch',
    'listDispatches',
    'removeDispatches',
    'mergeRun',
    'findRun',
    'listRuns',
    'findSession',
    'openSession',
    'findSpend',
    'removeRuns',
    'erase',
  ],
  recipients: ['find'],
  policy: ['decide'],
  prices: ['price'],
  redactor: ['redact'],
  clock: ['now', 'after'],
  ids: ['next'],
  logger: ['log'],
  queue: ['wake', 'listen'],
  rateLimiter: ['consume'],
}
const OPTIONAL: ReadonlySet<string> = new Set([
  'recipients',
  'policy',
  'prices',
  'redactor',
  'clock',
  'ids',
  'logger',
  'queue',
  'rateLimiter',
])
const OTHERS = [
  'channels',
  'sessions',
  'sandbox',
  'hooks',
  'worker',
  'expiresInMs',
  'idempotencyTtlMs',
  'exporters',
  'runEvents',
  'budgets',
  'staleAfterMs',
  'maxInHand',
]
const HOOKS = ['onAccepted', 'onSent', 'onFailed', 'onSkipped'] satisfies (keyof Hooks)[]

/**
 * Holds the parts of a host against what they must be, and the events and the channels against one another.
 *
 * @throws {SallyportError} `config_invalid`, with all that is wrong at once: a part that is missing, was not called, or is not
 * known; an event that names a channel which is not there or cannot send what the event gives it; a channel whose
 * retry schedule does not ascend; a number out of its range; an event or a budget of runs that cannot be.
 */
export function checkConfig(options: SallyportOptions<unknown>): void {
  const problems = partProblems(options)
  if (problems.length === 0) problems.push(...fitProblems(options))
  if (problems.length > 0) throw new SallyportError('config_invalid', 'Sallyport cannot start:', problems)
}

function partProblems(options: SallyportOptions<unknown>): ConfigProblem[] {
  const given: Readonly<Record<string, unknown>> = { ...options }
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(METHODS, name) && !OTHERS.includes(name))
  const problems: ConfigProblem[] = unknown.map((field) => ({ field, detail: 'is not an option' }))
  for (const [field, methods] of Object.entries(METHODS)) {
    const isLeftOut = given[field] === undefined && OPTIONAL.has(field)
    if (!isLeftOut) problems.push(...missingMethods(given[field], methods).map((detail) => ({ field, detail })))
  }
  const { events, channels, sessions = 'create', sandbox = false, hooks = {} } = options ?? {}
  if (events && !Array.isArray(events.eventTypes)) problems.push({ field: 'events', detail: 'has no eventTypes' })
  if (typeof channels !== 'object' || channels === null) problems.push({ field: 'channels', detail: 'is missing' })
  for (const [channel, part] of Object.entries(channels ?? {})) {
    problems.push(...missingMethods(part, ['address', 'send']).map((detail) => ({ channel, detail })))
  }
  if (sessions !== 'create' && sessions !== 'must-exist') {
    problems.push({ field: 'sessions', detail: 'is "create" or "must-exist"' })
  }
  if (typeof sandbox !== 'boolean') problems.push({ field: 'sandbox', detail: 'is true or false' })
  return [...problems, ...hookProblems(hooks)]
}

function hookProblems(hooks: Hooks): ConfigProblem[] {
  if (!isRecord(hooks)) return [{ field: 'hooks', detail: 'is an object of functions' }]
  const names: readonly string[] = HOOKS
  return Object.entries(hooks).flatMap(([name, hook]) => {
    const field = `hooks.${name}`
    if (!names.includes(name)) return [{ field, detail: `is not one of ${HOOKS.join(', ')}` }]
    return hook === undefined || typeof hook === 'function' ? [] : [{ field, detail: 'is not a function' }]
  })
}

/** In one line, and empty when nothing is missing. */
function missingMethods(part: unknown, methods: readonly string[]): string[] {
  if (part === undefined || part === null) return ['is missing']
  const missing = methods.filter((method) => typeof Reflect.get(Object(part), method) !== 'function')
  if (missing.length === 0) return []
  return [`has no ${missing.join(', ')}${typeof part === 'function' ? ': is it to be called?' : ''}`]
}

function fitProblems(options: SallyportOptions<unknown>): ConfigProblem[] {
  const { events, channels, policy, worker, expiresInMs, idempotencyTtlMs, staleAfterMs } = options
  return [
    ...nameProblems('policy.channels', policy?.names?.channels, Object.keys(channels)),
    ...nameProblems('policy.events', policy?.names?.events, events.eventTypes),
    ...workerProblems(worker, Object.keys(channels)),
    ...numberProblems('', { expiresInMs, idempotencyTtlMs, staleAfterMs }, RANGES),
    ...runProblems(options),
    ...Object.entries(channels).flatMap(([name, channel]) => scheduleProblem(name, channel) ?? []),
    ...events.eventTypes.flatMap((event) =>
      (events.find(event)?.channels ?? []).flatMap((used) => channelProblem(event, used, channels) ?? []),
    ),
  ]
}

function nameProblems(field: string, names: readonly string[] | undefined, known: readonly string[]): ConfigProblem[] {
  return [...new Set(names ?? [])]
    .filter((name) => !known.includes(name))
    .map((name) => ({ field, detail: `"${name}" is not there${near(name, known)}` }))
}

function channelProblem(
  event: string,
  { channel: name, fields }: CatalogChannel,
  channels: Readonly<Record<string, Channel>>,
): ConfigProblem | undefined {
  if (!Object.hasOwn(channels, name)) {
    const configured = Object.keys(channels).join(', ') || 'none'
    return { event, channel: name, detail: `is not configured; the channels are: ${configured}` }
  }
  const detail = channels[name]?.checkFields?.(Object.keys(fields))
  return detail === undefined ? undefined : { event, channel: name, detail }
}

function scheduleProblem(channel: string, { retrySchedule }: Channel): ConfigProblem | undefined {
  const ascends =
    retrySchedule === undefined ||
    (Array.isArray(retrySchedule) &&
      retrySchedule.every((ms, index) => Number.isFinite(ms) && ms >= (retrySchedule[index - 1] ?? 0)))
  return ascends ? undefined : { channel, detail: 'retrySchedule must be milliseconds in ascending order' }
}
