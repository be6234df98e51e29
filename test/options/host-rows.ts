import { fakeClock, recordingChannel } from '../../src/contract-tests/index.ts'
import {
  createSallyport,
  defineEvents,
  type FeedbackSource,
  type RunsOnlyOptions,
  type RunsOnlySallyport,
  type Sallyport,
  type SallyportOptions,
} from '../../src/index.ts'
import {
  type AgentTokensApi,
  type AlertOptions,
  type AlertsApi,
  agentTokens,
  alerts,
  type ConsentApi,
  type ConsentOptions,
  consent,
  type Plugin,
  type StatisticsApi,
  statistics,
} from '../../src/plugins/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
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
const budget = {
  name: 'b',
  per: 'user',
  days: 1,
  soft: { tokens: 1, cost: { amount: '1', currency: 'EUR' } },
  hard: { tokens: 2 },
} as const
const alerting = {
  budgets: [budget],
  runEvents: { 'run.failed': () => undefined },
} satisfies AlertOptions
const full = {
  ...{ auth, store, events, logger, clock, channels: { email: recordingChannel() } },
  worker: {
    rate: { max: 1, perMs: 1 },
    breaker: { timeouts: 3 },
    channels: { email: { concurrency: 1, rate: { max: 1, perMs: 1 } } },
  },
  hooks: { onSent: () => {} },
  links: { baseUrl: 'https://api.example.com', keys },
} satisfies SallyportOptions<unknown>
export const consenting: ConsentOptions & { readonly feedback: Readonly<Record<'ses', FeedbackSource>> } = {
  keys,
  softBounceMs: 1,
  feedback: { ses: { tenant: 'default', channel: 'email', receive: async () => ({ outcome: 'refused' as const }) } },
  page: { name: 'Shop', texts: { de: { title: 'x' } }, categories: { news: { de: 'x' } }, locale: 'de' },
}

export const sallyport: Sallyport<
  unknown,
  readonly [
    Plugin<'statistics', StatisticsApi>,
    Plugin<'agentTokens', AgentTokensApi>,
    Plugin<'alerts', AlertsApi>,
    Plugin<'consent', ConsentApi>,
  ]
> = createSallyport({
  ...full,
  plugins: [statistics(), agentTokens(), alerts(alerting), consent(consenting)],
})
export const runsOnly: RunsOnlySallyport = createSallyport({ auth, store, logger, clock })

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
  plugins: [
    {},
    'x',
    [{}],
    [null],
    [undefined],
    HOLE,
    [statistics(), statistics()],
    [() => statistics()],
    [{ name: 'A', setup() {} }],
  ],
}
const LIMITS = { concurrency: outside(1, 1_000), perReceiver: outside(1, 1_000), rate: OBJECT }
const BREAKER = {
  timeouts: outside(1, 1_000),
  pauseMs: outside(1_000, HOUR),
  maxPauseMs: outside(1_000, 24 * HOUR),
}
const RATE = { max: outside(1, 1_000_000), perMs: outside(1, HOUR) }
const TOKENS = outside(0, Number.MAX_SAFE_INTEGER)
export const TENANT: readonly unknown[] = [...TEXT, '', 'a b', 'x'.repeat(201)]
const INSTANT = ['now', true, {}, Number.NaN, new Date(Number.NaN)]
const AGE = outside(0, 20 * 366 * 86_400_000)
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
export const host: CreateRow = create('sallyport createSallyport')

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
]

const alertRow: CreateRow = (type, bad, at) =>
  row('sallyport/plugins alerts', type, alerts, alerting, bad, at === undefined ? {} : { at })

const ALERTS: readonly OptionRow[] = [
  alertRow('AlertOptions', { budgets: [{}, 'x', [5], [budget, budget], HOLE], runEvents: OBJECT }),
  alertRow(
    'RunEvents',
    Object.fromEntries(
      ['run.completed', 'run.incomplete', 'run.failed', 'run.cancelled', 'run.expired', 'budget.exceeded'].map(
        (name) => [name, FUNCTION],
      ),
    ),
    'runEvents',
  ),
  alertRow(
    'Budget',
    {
      name: [...TEXT, '', 'a b'],
      per: ['day', 7],
      days: outside(1, 366),
      soft: [...OBJECT, {}],
      hard: [...OBJECT, {}],
    },
    'budgets[0]',
  ),
  alertRow('BudgetLimit', { tokens: TOKENS, cost: OBJECT }, 'budgets[0].soft'),
  alertRow('Money', { amount: [1, '-1', 'x'], currency: [7, 'eur'] }, 'budgets[0].soft.cost'),
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
  row(
    'sallyport tokens.uses',
    'TokenUseListOptions',
    (options: object) => sallyport.tokens.uses(options),
    {},
    { ...PAGE, tenant: TENANT, sessionId: UNSTORABLE, jti: UNSTORABLE, outcome: ['nope', 7] },
  ),
  row(
    'sallyport tokens.prune',
    'TokenUsePruneOptions',
    (options: { olderThan: number }) => sallyport.tokens.prune(options),
    { olderThan: 1 },
    { olderThan: AGE, tenant: TENANT },
  ),
  row(
    'sallyport stats',
    'StatisticsOptions',
    (options: object) => sallyport.stats(options),
    {},
    { tenant: TENANT, windowMs: [7, '1h', 401 * 86_400_000], stepMs: [7, '1m', 60_001, 2 * 86_400_000] },
  ),
  row(
    'sallyport budgets.check',
    'BudgetQuestion',
    (of: { sessionId: string }) => sallyport.budgets.check(of),
    { sessionId: 's' },
    { sessionId: UNSTORABLE, userId: UNSTORABLE },
  ),
]

export const HOST_ROWS: readonly OptionRow[] = [...CREATE, ...ALERTS, ...DEFINE, ...METHODS]
