import { fakeClock, recordingChannel } from '../../src/contract-tests/index.ts'
import {
  createRunsOnlySallyport,
  createSallyport,
  defineEvents,
  type RunsOnlyOptions,
  type RunsOnlySallyport,
  type Sallyport,
  type SallyportOptions,
} from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { everyPlugin } from '../support/every-plugin.ts'
import { FLAG, FUNCTION, HOLE, OBJECT, type OptionRow, outside, PART, row, TEXT, UNSTORABLE } from './option-rows.ts'

const clock = fakeClock()
const store = memoryStore({ clock })
const auth = { verify: async () => ({ id: 'host', tenant: 'default' }) }
const logger = { log() {} }
const events = defineEvents({
  one: { channels: { email: { subject: () => 'x' } } },
  'run.failed': { channels: { email: {} } },
})
const keys = [{ kid: 'k1', key: new Uint8Array(32).fill(7) }]
export const full: SallyportOptions<unknown> = {
  ...{ auth, store, events, logger, clock, channels: { email: recordingChannel() } },
  worker: {
    rate: { max: 1, perMs: 1 },
    breaker: { timeouts: 3 },
    channels: { email: { concurrency: 1, rate: { max: 1, perMs: 1 } } },
  },
  hooks: { onSent: () => {} },
  links: { baseUrl: 'https://api.example.com', keys },
}
export const sallyport: Sallyport<unknown> = createSallyport<unknown>({ ...full, plugins: everyPlugin() })
export const runsOnly: RunsOnlySallyport = createSallyport({ auth, store, logger, clock })

/** Wrong lists of keys. */
export const KEYS: readonly unknown[] = [[], {}, 'x', [5], [null], [...keys, ...keys], HOLE]
const KID = [...TEXT, '', 'a b', '-a', 'x'.repeat(33)]
/** Wrong members of a key. */
export const HASH_KEY: OptionRow['bad'] = {
  kid: KID,
  key: [5, {}, [], '', 'no base64url', 'short', new Uint8Array(31)],
}

/** A plugin without parts. */
const OWN = { name: 'own', setup: () => ({}) }

const DAYS_366 = 366 * 86_400_000
const HOUR = 3_600_000
const PERIOD = outside(1_000, DAYS_366)
const RECORDING = {
  auth: PART,
  store: PART,
  sessions: ['creat', 7],
  rateLimiter: PART,
  maxInFlight: [...outside(1, 100_000), -5],
  maxUnfinished: outside(1, 100_000),
  maxUnfinishedBytes: outside(262_144, 68_719_476_736),
  hooks: [...OBJECT, { onEror() {} }, { onError: 5 }],
  errorDetails: ['ful', 7],
  prices: PART,
  redactor: PART,
  exporters: [{}, 'x', [{}], [null], [undefined], HOLE],
  staleAfterMs: PERIOD,
  clock: PART,
  ids: PART,
  logger: PART,
  plugins: [{}, 'x', [{}], [null], [undefined], HOLE, [OWN, OWN], [() => OWN], [{ name: 'A', setup() {} }]],
}
const LIMITS = { concurrency: outside(1, 1_000), perReceiver: outside(1, 1_000), rate: OBJECT }
const BREAKER = {
  timeouts: outside(1, 1_000),
  pauseMs: outside(1_000, HOUR),
  maxPauseMs: outside(1_000, 24 * HOUR),
}
const RATE = { max: outside(1, 1_000_000), perMs: outside(1, HOUR) }
export const TENANT: readonly unknown[] = [...TEXT, '', 'a b', 'x'.repeat(201)]
const INSTANT = ['now', true, {}, Number.NaN, new Date(Number.NaN)]
export const AGE: readonly unknown[] = outside(0, 20 * 366 * 86_400_000)
const GRACE = { graceMs: [-1, Number.NaN, '5', {}] }
export const PAGE: Readonly<Record<'tenant' | 'limit' | 'cursor', readonly unknown[]>> = {
  tenant: TENANT,
  limit: outside(1, 500),
  cursor: [7, 'x', ''],
}

type CreateRow = (type: string, bad: OptionRow['bad'], at?: string) => OptionRow

const create =
  (call: string): CreateRow =>
  (type, bad, at) =>
    row(
      call,
      type,
      createSallyport as (options: SallyportOptions<unknown>) => unknown,
      full,
      bad,
      at === undefined ? {} : { at },
    )
const host: CreateRow = create('sallyport createSallyport')

const CREATE: readonly OptionRow[] = [
  host('SallyportOptions', {
    ...RECORDING,
    events: [...PART, { find() {} }],
    channels: [...OBJECT, { email: {} }, { email: { ...recordingChannel(), retrySchedule: [2, 1] } }],
    recipients: PART,
    policy: PART,
    hooks: OBJECT,
    sandbox: FLAG,
    worker: OBJECT,
    queue: PART,
    links: [...OBJECT, {}],
    expiresInMs: PERIOD,
    idempotencyTtlMs: PERIOD,
  }),
  row(
    'sallyport createSallyport',
    'RunsOnlyOptions',
    (options: RunsOnlyOptions) => createSallyport(options),
    { auth, store, logger },
    { ...RECORDING, events: [{}], channels: [7] },
  ),
  row(
    'sallyport createRunsOnlySallyport',
    'RunsOnlyOptions',
    (options: RunsOnlyOptions) => createRunsOnlySallyport(options),
    { auth, store, logger },
    { ...RECORDING, events: [{}], channels: [7] },
  ),
  host(
    'WorkerOptions',
    {
      ...LIMITS,
      channels: [...OBJECT, { emial: {} }, { email: null }, { email: undefined }],
      leaseMs: outside(1_000, HOUR),
      breaker: [true, 7, 'x', [], { timeout: 3 }],
      sendTimeoutMs: outside(100, HOUR),
      pollMs: outside(10, HOUR),
    },
    'worker',
  ),
  host('WorkerOptions.rate', RATE, 'worker.rate'),
  host('BreakerOptions', BREAKER, 'worker.breaker'),
  host('ChannelLimits', LIMITS, 'worker.channels.email'),
  host('ChannelLimits.rate', RATE, 'worker.channels.email.rate'),
  host(
    'Hooks',
    { onAccepted: FUNCTION, onSent: FUNCTION, onFailed: FUNCTION, onSkipped: FUNCTION, onError: FUNCTION },
    'hooks',
  ),
  host(
    'LinkOptions',
    {
      baseUrl: [
        ...TEXT,
        ...['', 'x', '/api', 'ftp://api.example.com', 'https://api.example.com?a', 'https://api.example.com#a'],
        ...['https://a:b@api.example.com', `https://api.example.com/${'x'.repeat(200)}`],
      ],
      keys: KEYS,
    },
    'links',
  ),
  host('HashKey', HASH_KEY, 'links.keys[0]'),
]

const EVENT = { when: () => true, digest: { windowMs: 1 }, channels: { email: { subject: () => 'x' } } }
const engine = { compile: () => () => ({ outcome: 'true' }) as never }

const DEFINE: readonly OptionRow[] = [
  row(
    'sallyport defineEvents',
    'EventEngines',
    (engines: object) => defineEvents({ one: EVENT }, engines),
    { conditions: engine },
    {
      templates: PART,
      conditions: PART,
    },
  ),
  row('sallyport defineEvents', 'EventDefinition', (one: typeof EVENT) => defineEvents({ one }), EVENT, {
    data: [5, {}, 'x'],
    category: [...TEXT, '', 'a b', 'x'.repeat(101)],
    when: [5, 'x', {}],
    route: ['last', 7],
    fallbackOn: ['bounced', 7, ['opened'], [7], HOLE, ['bounced']],
    critical: FLAG,
    priority: ['bulk', 7],
    delayMs: outside(0, DAYS_366),
    digest: OBJECT,
    channels: OBJECT,
    overrides: ['email', [], ['emial'], [7], [Symbol('email')], ['email', 'email'], HOLE],
  }),
  row(
    'sallyport defineEvents',
    'DigestDefinition',
    (digest: { windowMs: number }) => defineEvents({ one: { ...EVENT, digest } }),
    { windowMs: 1 },
    { windowMs: outside(1, 31 * 86_400_000), max: outside(1, 1_000), key: FUNCTION },
    { fields: 'digest.' },
  ),
  row(
    'sallyport defineEvents',
    'ChannelDefinition',
    (email: object) => defineEvents({ one: { channels: { email: email as { subject: () => string } } } }),
    { subject: () => 'x' },
    { when: [5, 'x', {}], locales: [...OBJECT, { de: 7 }, { de: { odd: () => 'x' } }] },
    { open: true },
  ),
]

export const scoped = (call: string, run: (scope: object) => unknown): OptionRow =>
  row(`sallyport ${call}`, 'TenantScope', run, {}, { tenant: TENANT })
const ONE = { recipient: 'ada@example.com', eventType: 'one' } as const

const METHODS: readonly OptionRow[] = [
  ...(['dispatch', 'dispatchOrThrow'] as const).map((name) =>
    row(
      `sallyport ${name}`,
      'DispatchCallOptions',
      (options: object) => sallyport[name](ONE as never, options),
      {},
      { tenant: TENANT, idempotencyKey: TEXT, delayMs: outside(0, DAYS_366), store: PART },
    ),
  ),
  row('sallyport worker.stop', 'StopOptions', (options: object) => sallyport.worker.stop(options), {}, GRACE),
  row('sallyport stop', 'StopOptions', (options: object) => createSallyport<unknown>(full).stop(options), {}, GRACE),
  row(
    'sallyport dispatches.get',
    'DispatchGetOptions',
    (options: object) => sallyport.dispatches.get('d', options),
    {},
    { tenant: PAGE.tenant, content: FLAG },
  ),
  row(
    'sallyport dispatches.list',
    'DispatchListOptions',
    (options: object) => sallyport.dispatches.list(options),
    {},
    {
      ...PAGE,
      ...{ sessionId: UNSTORABLE, eventType: UNSTORABLE, recipient: UNSTORABLE, channel: UNSTORABLE },
      ...{ status: ['nope', 7], reason: ['nope', 7], since: INSTANT, until: INSTANT },
    },
  ),
  scoped('dispatches.cancel', (scope) => sallyport.dispatches.cancel('d', scope)),
  row(
    'sallyport dispatches.retry',
    'RetryOptions',
    (options: object) => sallyport.dispatches.retry('d', options),
    {},
    {
      tenant: TENANT,
      channel: UNSTORABLE,
    },
  ),
  row(
    'sallyport dispatches.prune',
    'DispatchPruneOptions',
    (options: { olderThan: number }) => sallyport.dispatches.prune(options),
    { olderThan: 1 },
    { olderThan: AGE, tenant: TENANT },
  ),
  row(
    'sallyport dispatches.export',
    'RecipientOptions',
    sallyport.dispatches.export,
    { recipient: 'ada' },
    { ...PAGE, recipient: UNSTORABLE },
  ),
  row(
    'sallyport dispatches.erase',
    'RecipientOptions',
    sallyport.dispatches.erase,
    { recipient: 'ada' },
    { ...PAGE, limit: outside(1, 1_000_000), recipient: UNSTORABLE },
  ),
  scoped('runs.get', (scope) => sallyport.runs.get({ sessionId: 's', runId: 'r' }, scope)),
  ...(['list', 'export'] as const).map((name) =>
    row(
      `sallyport runs.${name}`,
      name === 'list' ? 'RunListOptions' : 'RunExportOptions',
      (options: object) => sallyport.runs[name](options),
      {},
      {
        ...(name === 'list' && PAGE),
        tenant: TENANT,
        ...{ sessionId: UNSTORABLE, provider: UNSTORABLE, model: UNSTORABLE, userId: UNSTORABLE, tag: UNSTORABLE },
        ...{ status: ['nope', 7], since: INSTANT, until: INSTANT, first: ['last', 7] },
      },
    ),
  ),
  row(
    'sallyport runs.sweepStale',
    'SweepOptions',
    (options: { olderThan: number }) => sallyport.runs.sweepStale(options),
    { olderThan: 1 },
    { olderThan: AGE, tenant: TENANT },
  ),
  row(
    'sallyport runs.prune',
    'PruneOptions',
    (options: { olderThan: number }) => sallyport.runs.prune(options),
    { olderThan: 1 },
    { olderThan: AGE, tenant: TENANT, status: ['nope', 7] },
  ),
  scoped('runs.erase', (scope) => sallyport.runs.erase({ sessionId: 's' }, scope)),
  scoped('sessions.open', (scope) => sallyport.sessions.open('s', scope)),
  scoped('sessions.get', (scope) => sallyport.sessions.get('s', scope)),
  row(
    'sallyport sessions.list',
    'SessionListOptions',
    (options: object) => sallyport.sessions.list(options),
    {},
    { ...PAGE, since: INSTANT, until: INSTANT },
  ),
  row('sallyport sessions.tree', 'PageOptions', (options: object) => sallyport.sessions.tree('s', options), {}, PAGE),
  row(
    'sallyport sessions.timeline',
    'PageOptions',
    (options: object) => sallyport.sessions.timeline('s', options),
    {},
    PAGE,
  ),
  scoped('tokens.revoke', (scope) => sallyport.tokens.revoke({ jti: 'a' }, scope)),
]

export const HOST_ROWS: readonly OptionRow[] = [...CREATE, ...DEFINE, ...METHODS]
