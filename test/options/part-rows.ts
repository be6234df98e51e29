import { toExpress } from '../../src/adapters/express.ts'
import { toFetch } from '../../src/adapters/fetch.ts'
import { toKoa } from '../../src/adapters/koa.ts'
import { toNode } from '../../src/adapters/node.ts'
import { appSecrets, generateAppSecret, issueSessionToken, sessionTokens } from '../../src/auth/index.ts'
import { createApprovalClient } from '../../src/client/approvals.ts'
import {
  type Client,
  type ClientOptions,
  createClient,
  createRunRecorder,
  type RunRecorder,
} from '../../src/client/index.ts'
import { createReadClient } from '../../src/client/read.ts'
import { type ConsoleOptions, createConsole } from '../../src/console/index.ts'
import {
  channelContract,
  dispatchStoreContract,
  documentsContract,
  feedbackSourceContract,
  queueContract,
  recordingChannel,
  recordStoreContract,
  recordsContract,
  revocationStoreContract,
  runStoreContract,
  testRequest,
} from '../../src/contract-tests/index.ts'
import { liquid } from '../../src/engines/liquid.ts'
import { openapiDocument } from '../../src/openapi/index.ts'
import { type OtelMetricsOptions, otelMetrics, otelRunExporter } from '../../src/otel/index.ts'
import { quietHours, throttle } from '../../src/policies/index.ts'
import { priceBook } from '../../src/pricing/index.ts'
import { bullmqQueue } from '../../src/queues/bullmq.ts'
import { postgresQueue } from '../../src/queues/postgres.ts'
import { rateLimits } from '../../src/rate-limits/index.ts'
import { documentStore } from '../../src/storage/documents/index.ts'
import { engineStore } from '../../src/storage/engine/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { sqlStatements, sqlStore } from '../../src/storage/sql/index.ts'
import { sallyport } from './host-rows.ts'
import {
  FLAG,
  FUNCTION,
  HOLE,
  ID,
  OBJECT,
  type OptionRow,
  outside,
  PART,
  row,
  SCHEDULE,
  TEXT,
  WORD,
} from './option-rows.ts'

const TIMER = 2 ** 31 - 1
const NAMES = ['email', [], [''], [7], [undefined], HOLE]
const NOT_AFTER = ['soon', {}, true, Number.NaN, 7]

const KEY = { kid: 'k1', key: new Uint8Array(32).fill(7) }
const BAD_KEY = { kid: ID, key: [5, 'short', new Uint8Array(31), {}], alg: ['none', 7], notAfter: NOT_AFTER }
const tokens = { keys: [KEY], audience: 'api' }
const GRANT = { events: ['e'], channels: ['c'], recipients: ['r'] }
const issued = { sessionId: 's', key: KEY, audience: 'api', grants: { dispatch: GRANT } }
const DIGEST = { sha256: 'a'.repeat(64) }

const AUTH: readonly OptionRow[] = [
  row(
    'sallyport/auth generateAppSecret',
    'GenerateAppSecretOptions',
    generateAppSecret,
    {},
    { env: [...WORD, 'LIVE'] },
  ),
  row(
    'sallyport/auth appSecrets',
    'AppSecretsOptions',
    (options: object) => appSecrets([DIGEST], options),
    {},
    { clock: PART },
  ),
  row(
    'sallyport/auth appSecrets',
    'AppSecretDigest',
    (digest: typeof DIGEST) => appSecrets([digest]),
    DIGEST,
    {
      sha256: [...TEXT, 'abc'],
      id: ID,
      notAfter: NOT_AFTER,
      tenant: ID,
      allow: ['dispatch', [], ['write'], [7], HOLE],
    },
    { fields: 'secrets[0].' },
  ),
  row('sallyport/auth sessionTokens', 'SessionTokensOptions', sessionTokens, tokens, {
    keys: [[], {}, [5], [KEY, KEY], HOLE],
    audience: WORD,
    issuer: WORD,
    maxAgeSeconds: outside(1, 86_400),
    clockToleranceSeconds: [-1, 61, Number.NaN, '5'],
    exchangeKey: OBJECT,
    isRevoked: FUNCTION,
    clock: PART,
  }),
  row('sallyport/auth sessionTokens', 'SessionTokenKey', sessionTokens, tokens, BAD_KEY, { at: 'keys[0]' }),
  row('sallyport/auth issueSessionToken', 'IssueSessionTokenOptions', issueSessionToken, issued, {
    sessionId: ID,
    tenant: ID,
    userId: [...TEXT, '', 'x'.repeat(201), 'a\0b'],
    grants: OBJECT,
    expiresInSeconds: outside(1, 3_600),
    key: OBJECT,
    audience: WORD,
    issuer: WORD,
    clock: PART,
  }),
  row('sallyport/auth issueSessionToken', 'SessionTokenKey', issueSessionToken, issued, BAD_KEY, { at: 'key' }),
  row(
    'sallyport/auth issueSessionToken',
    'SessionTokenGrants',
    issueSessionToken,
    issued,
    { dispatch: OBJECT, approval: OBJECT, runEvents: outside(0, 1_000) },
    { at: 'grants', foreign: 'grants holds a grant other than dispatch, approval, runEvents' },
  ),
  row(
    'sallyport/auth issueSessionToken',
    'DispatchGrant',
    issueSessionToken,
    issued,
    {
      ...{ events: ['e', [''], [7], HOLE], channels: ['e', [7], HOLE], recipients: ['e', [7], HOLE] },
      maxDispatches: outside(1, 1_000),
    },
    { at: 'grants.dispatch' },
  ),
  row(
    'sallyport/auth issueSessionToken',
    'ApprovalGrant',
    issueSessionToken,
    { ...issued, grants: { approval: { events: ['e'] } } },
    { events: ['e', [''], [7], HOLE], maxApprovals: outside(1, 1_000) },
    { at: 'grants.approval' },
  ),
]

const MOUNT = { basePath: [5, '/v1?x', '/a b'], openapi: ['x', 5, {}] }
const ADAPTERS: readonly OptionRow[] = [
  row('sallyport/express toExpress', 'MountOptions', (options: object) => toExpress(sallyport, options), {}, MOUNT),
  row('sallyport/koa toKoa', 'MountOptions', (options: object) => toKoa(sallyport, options), {}, MOUNT),
  row('sallyport/node toNode', 'MountOptions', (options: object) => toNode(sallyport, options), {}, MOUNT),
  row(
    'sallyport/fetch toFetch',
    'FetchOptions',
    (options: object) => toFetch(sallyport, options),
    {},
    {
      ...MOUNT,
      notFound: FUNCTION,
      waitUntil: FUNCTION,
    },
  ),
]

const document = { servers: [{ url: '/' }] }
const call = {
  baseUrl: 'http://127.0.0.1:1',
  token: 'app',
  fetch: async () => Promise.reject(new Error('no network')),
  retries: 0,
}
export const client: Client = createClient(call)
export const recorder: RunRecorder = createRunRecorder({ client })
const calls = (
  name: string,
  type: string,
  run: (options: object) => Promise<unknown>,
  bad: OptionRow['bad'],
): OptionRow => row(`sallyport/client ${name}`, type, (options: object) => run(options), {}, bad)
const SIGNAL = { signal: [5, {}, 'x'] }

const CALLERS: readonly OptionRow[] = [
  row('sallyport/openapi openapiDocument', 'OpenApiOptions', openapiDocument, document, {
    title: WORD,
    version: WORD,
    servers: ['/', [], [5], HOLE],
    events: [5, {}, 'x'],
    sallyport: [5, {}, [], { endpoints: {} }],
  }),
  row(
    'sallyport/openapi openapiDocument',
    'OpenApiServer',
    openapiDocument,
    document,
    { url: WORD, description: TEXT },
    { at: 'servers[0]' },
  ),
  row('sallyport/client createClient', 'ClientOptions', (options: ClientOptions) => createClient(options), call, {
    baseUrl: TEXT,
    token: WORD,
    fetch: FUNCTION,
    timeoutMs: outside(1, TIMER),
    retries: outside(0, 100),
  }),
  row(
    'sallyport/client/approvals createApprovalClient',
    'ClientOptions',
    (options: ClientOptions) => createApprovalClient(options),
    call,
    {
      baseUrl: TEXT,
      token: WORD,
      fetch: FUNCTION,
      timeoutMs: outside(1, TIMER),
      retries: outside(0, 100),
    },
  ),
  row(
    'sallyport/client/read createReadClient',
    'ClientOptions',
    (options: ClientOptions) => createReadClient(options),
    call,
    {
      baseUrl: TEXT,
      token: WORD,
      fetch: FUNCTION,
      timeoutMs: outside(1, TIMER),
      retries: outside(0, 100),
    },
  ),
  calls(
    'client.dispatch',
    'DispatchOptions',
    (options) => client.dispatch({ recipient: 'r', eventType: 'e' }, options),
    {
      ...SIGNAL,
      idempotencyKey: [...WORD, 'a b', 'x'.repeat(256)],
    },
  ),
  calls(
    'client.preview',
    'CallOptions',
    (options) => client.preview({ recipient: 'r', eventType: 'e' }, options),
    SIGNAL,
  ),
  calls(
    'client.recordRun',
    'CallOptions',
    (options) => client.recordRun({ sessionId: 's', run: { runId: 'r' } }, options),
    SIGNAL,
  ),
  calls('client.recordRuns', 'CallOptions', (options) => client.recordRuns([], options), SIGNAL),
  calls('client.exchangeToken', 'CallOptions', (options) => client.exchangeToken({ grants: {} }, options), SIGNAL),
  row(
    'sallyport/client createRunRecorder',
    'RunRecorderOptions',
    createRunRecorder,
    { client },
    {
      client: PART,
      heartbeatMs: outside(0, TIMER),
      flushMs: outside(1, TIMER),
      maxRuns: outside(1, 1_000_000),
      onDropped: FUNCTION,
      waitUntil: FUNCTION,
      endWith: PART,
    },
  ),
  row(
    'sallyport/liquid liquid',
    'LiquidOptions',
    liquid,
    {},
    { locale: [...TEXT, 'x_y'], timeZone: [...TEXT, 'Mars'] },
  ),
]

const night = { from: '22:00', to: '08:00', timeZone: 'UTC' }
const prices = {
  version: 'v',
  prices: [{ model: 'm', input: 1, output: 1, tiers: [{ aboveInputTokens: 1, input: 1, output: 1 }] }],
}
const PRICE = [-1, 'x', {}, Number.NaN, '1000000']
const RATES = {
  ...{ input: PRICE, cacheRead: PRICE, cacheWrite: PRICE, cacheWrite1h: PRICE, audioInput: PRICE, imageInput: PRICE },
  ...{ output: PRICE, reasoning: PRICE, audioOutput: PRICE, imageOutput: PRICE, request: [...PRICE, 1_000] },
}
const limiter = { points: 1, duration: 1, consume: async () => ({ remainingPoints: 0, msBeforeNext: 0 }) }
const LIMITER = [...PART, { ...limiter, points: 0 }, { ...limiter, duration: 0 }]

const RULES: readonly OptionRow[] = [
  row('sallyport/policy quietHours', 'QuietHoursOptions', quietHours, night, {
    from: [...TEXT, '24:00', '8:00'],
    to: [...TEXT, '24:00', '22:00'],
    timeZone: [...TEXT, 'Mars'],
    channels: NAMES,
    days: [1, [], [0], [8], ['1'], [undefined], HOLE],
  }),
  row(
    'sallyport/policy throttle',
    'ThrottleOptions',
    throttle,
    { max: 1, windowMs: 1 },
    {
      max: outside(1, 1_000),
      windowMs: outside(1, 31 * 86_400_000),
      key: FUNCTION,
      channels: NAMES,
      events: NAMES,
    },
  ),
  row('sallyport/pricing priceBook', 'PriceBookOptions', priceBook, prices as never, {
    version: [...WORD, 'a b'],
    currency: [7, 'usd'],
    per: [100, '1'],
    prices: [[], {}, [5], HOLE],
    otherwise: PART,
  }),
  row(
    'sallyport/pricing priceBook',
    'ModelPrices',
    priceBook,
    prices as never,
    {
      ...RATES,
      model: [...WORD, 'a*b*'],
      provider: WORD,
      serviceTier: WORD,
      unpriced: [...TEXT, '', 'x'.repeat(201)],
      from: [5, 'x', '2026-02-30'],
      until: [5, 'x'],
      currency: [7, 'usd'],
      version: WORD,
      tiers: [{}, [5], HOLE],
    },
    { at: 'prices[0]' },
  ),
  row(
    'sallyport/pricing priceBook',
    'PriceTier',
    priceBook,
    prices as never,
    { ...RATES, aboveInputTokens: [-1, 0.5, '1', Number.NaN] },
    {
      at: 'prices[0].tiers[0]',
    },
  ),
  row(
    'sallyport/rate-limits rateLimits',
    'RateLimitsOptions',
    rateLimits,
    { token: limiter },
    {
      token: LIMITER,
      tenant: LIMITER,
      recipient: LIMITER,
      recipientKey: [7, 'short'],
    },
  ),
  row(
    'sallyport/otel otelRunExporter',
    'OtelRunExporterOptions',
    otelRunExporter,
    {},
    {
      tracerProvider: PART,
      meterProvider: PART,
      spanKind: ['server', 7],
      cancelledIsError: FLAG,
      errorMessages: FLAG,
      cost: FLAG,
      attributes: FUNCTION,
    },
  ),
  row(
    'sallyport/otel otelMetrics',
    'OtelMetricsOptions',
    (options: OtelMetricsOptions) => otelMetrics(MEASURED, options),
    {},
    {
      meterProvider: PART,
      tenant: [7, '', 'ü'],
    },
  ),
  row(
    'sallyport/console createConsole',
    'ConsoleOptions',
    (options: ConsoleOptions) => createConsole(sallyport, options),
    { access: () => 'none' as const },
    {
      access: FUNCTION,
      redact: FUNCTION,
      title: [7, '', 'x'.repeat(101)],
      onChange: FUNCTION,
    },
  ),
]

const MEASURED = { stats: () => Promise.reject(new Error('not read')), onMeasurement: () => () => {} }

const db = { isTransaction: false, executeQuery() {}, withoutPlugins: () => db, connection() {} } as never
const DIALECT = { dialect: ['oracle', 7], prefix: [...WORD, 'a-b', 'sqlite_x', 'x'.repeat(31)] }
const CHANNEL = [7, '1a', 'a-b', 'x'.repeat(64)]
const kit = { test: () => {}, skip: () => {}, create: () => Promise.reject(new Error('not tried')), capabilities: {} }
const KIT = { test: FUNCTION, skip: FUNCTION, create: FUNCTION, capabilities: OBJECT }
const flags = (...names: readonly string[]): OptionRow['bad'] => Object.fromEntries(names.map((name) => [name, FLAG]))
const STORE = flags('secondHandle', 'durable')

const PARTS: readonly OptionRow[] = [
  row('sallyport/storage/memory memoryStore', 'MemoryStoreOptions', memoryStore, {}, { clock: PART }),
  row(
    'sallyport/storage/documents documentStore',
    'Documents',
    documentStore,
    { now() {}, get() {}, list() {}, commit() {} } as never,
    { now: FUNCTION, get: FUNCTION, list: FUNCTION, commit: FUNCTION },
  ),
  row(
    'sallyport/storage/engine engineStore',
    'Records',
    engineStore,
    { now() {}, read() {}, scan() {}, commit() {} } as never,
    {
      ...{ now: FUNCTION, read: FUNCTION, scan: FUNCTION, commit: FUNCTION, claim: FUNCTION, isRefusal: FUNCTION },
      ...{ sharesValues: FLAG, timeoutMs: outside(1, 600_000), maxClaimed: outside(1, 10_000) },
    },
  ),
  row(
    'sallyport/storage/sql sqlStore',
    'SqlStoreOptions',
    sqlStore,
    { db, dialect: 'postgresql' },
    {
      ...DIALECT,
      db: PART,
      timeoutMs: outside(10, 600_000),
      notify: CHANNEL,
      preparedStatements: FLAG,
      clock: PART,
    },
  ),
  row(
    'sallyport/storage/sql sqlStatements',
    'SqlStoreOptions|dialect,prefix',
    sqlStatements,
    { dialect: 'sqlite' },
    DIALECT,
  ),
  row(
    'sallyport/queue/postgres postgresQueue',
    'PostgresQueueOptions',
    postgresQueue,
    { client: () => db },
    {
      client: FUNCTION,
      channel: CHANNEL,
      clock: PART,
      logger: PART,
    },
  ),
  row(
    'sallyport/queue/bullmq bullmqQueue',
    'BullmqQueueOptions',
    bullmqQueue,
    { connection: {} },
    {
      connection: [5, 'x', { isCluster: true }, { keyPrefix: 'x' }],
      name: [7, '', 'a:b'],
      prefix: WORD,
      clock: PART,
      logger: PART,
    },
  ),
  row('sallyport/testing dispatchStoreContract', 'DispatchStoreContractOptions', dispatchStoreContract, kit, KIT),
  row('sallyport/testing dispatchStoreContract', 'StoreCapabilities', dispatchStoreContract, kit, STORE, {
    at: 'capabilities',
  }),
  row('sallyport/testing documentsContract', 'DocumentsContractOptions', documentsContract, kit, KIT),
  row('sallyport/testing documentsContract', 'StoreCapabilities', documentsContract, kit, STORE, {
    at: 'capabilities',
  }),
  row('sallyport/testing recordsContract', 'RecordsContractOptions', recordsContract, kit, KIT),
  row('sallyport/testing recordsContract', 'StoreCapabilities', recordsContract, kit, STORE, { at: 'capabilities' }),
  row('sallyport/testing runStoreContract', 'RunStoreContractOptions', runStoreContract, kit, KIT),
  row('sallyport/testing runStoreContract', 'StoreCapabilities', runStoreContract, kit, STORE, { at: 'capabilities' }),
  row('sallyport/testing recordStoreContract', 'RecordStoreContractOptions', recordStoreContract, kit, KIT),
  row('sallyport/testing recordStoreContract', 'StoreCapabilities', recordStoreContract, kit, STORE, {
    at: 'capabilities',
  }),
  row('sallyport/testing revocationStoreContract', 'RevocationStoreContractOptions', revocationStoreContract, kit, KIT),
  row('sallyport/testing revocationStoreContract', 'StoreCapabilities', revocationStoreContract, kit, STORE, {
    at: 'capabilities',
  }),
  row('sallyport/testing queueContract', 'QueueContractOptions', queueContract, kit, KIT),
  row(
    'sallyport/testing queueContract',
    'QueueCapabilities',
    queueContract,
    kit,
    flags('secondHandle', 'injectedTime', 'disconnect', 'reportsConnection', 'notices'),
    {
      at: 'capabilities',
    },
  ),
  row('sallyport/testing feedbackSourceContract', 'FeedbackSourceContractOptions', feedbackSourceContract, kit, KIT),
  row(
    'sallyport/testing feedbackSourceContract',
    'FeedbackSourceCapabilities',
    feedbackSourceContract,
    kit,
    flags('coversBody', 'expires'),
    { at: 'capabilities' },
  ),
  row('sallyport/testing channelContract', 'ChannelContractOptions', channelContract, kit, KIT),
  row(
    'sallyport/testing channelContract',
    'ChannelCapabilities',
    channelContract,
    kit,
    flags('unreachable', 'received', 'idempotencyKey', 'abort', 'reject', 'retry', 'unknown', 'hang'),
    { at: 'capabilities' },
  ),
  row(
    'sallyport/testing recordingChannel',
    'sallyport#Channel',
    (rest: object) => recordingChannel([{ outcome: 'sent' }], rest),
    {},
    {
      address: FUNCTION,
      send: FUNCTION,
      retrySchedule: SCHEDULE,
      concurrencyKey: FUNCTION,
      copies: FUNCTION,
      checkFields: FUNCTION,
    },
  ),
  row(
    'sallyport/testing testRequest',
    'TestRequestParts',
    testRequest,
    {},
    { token: TEXT, body: [], headers: OBJECT, query: OBJECT },
    { anything: ['body'] },
  ),
]

export const PART_ROWS: readonly OptionRow[] = [...AUTH, ...ADAPTERS, ...CALLERS, ...RULES, ...PARTS]
