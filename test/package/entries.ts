/** An entry of the package: a path that hosts import. */
export interface Entry {
  /** The source file, from the root of the package. */
  readonly source: string
  /** What the list of imports says of it: a few words. Entries of a folder that give the same share a row. */
  readonly gives: string
  /** Packages and modules of Node that it loads, sorted, without its peer. Default: none. */
  readonly loads?: readonly string[]
  /** The optional peer that it imports. On Node, a second build names a missing peer. */
  readonly peer?: Peer
  /** Size budget of all its exports with their dependencies, without peers and modules of Node: kB after gzip. */
  readonly limit: number
  /** Size budgets of some of its exports: `{ createClient }`. */
  readonly parts?: Readonly<Record<string, number>>
  /** A row of the table in `docs/feedback.md`, which has a section of the same provider. */
  readonly feedback?: FeedbackRow
}

/** An optional peer of an entry. */
export interface Peer {
  readonly name: string
  /** What to install for the entry: the peer, and what the peer needs. */
  readonly install: string
  /** Modules of Node that the peer loads. Default: none. */
  readonly loads?: readonly string[]
}

/** How the provider of a feedback source proves its requests. */
export interface FeedbackRow {
  readonly provider: string
  readonly proof: string
  readonly coversBody: boolean
  readonly deliveryIdIn: string
}

/** All entries. `npm run entries` writes the files that repeat a part of this list. */
export const ENTRIES: Readonly<Record<string, Entry>> = {
  sallyport: {
    source: 'src/index.ts',
    gives: '`createSallyport`, `defineEvents`, handlers, types',
    loads: ['valibot'],
    limit: 89.2,
    parts: {
      '{ createSallyport, defineEvents }': 88.8,
      '{ createRunsOnlySallyport }': 57.8,
      '{ handleDispatch }': 20.2,
      '{ handleSessionRun }': 35.7,
      '{ handleDispatch, handleSessionRun }': 45,
    },
  },
  'sallyport/auth': {
    source: 'src/auth/index.ts',
    gives: '`appSecrets`, `sessionTokens`',
    loads: ['jose'],
    limit: 16.9,
  },
  'sallyport/express': {
    source: 'src/adapters/express.ts',
    gives: '`toExpress`: Express 4 and 5',
    loads: ['node:buffer'],
    limit: 8.2,
  },
  'sallyport/koa': {
    source: 'src/adapters/koa.ts',
    gives: '`toKoa`: Koa 2 and 3',
    loads: ['node:buffer'],
    limit: 8.2,
  },
  'sallyport/fetch': {
    source: 'src/adapters/fetch.ts',
    gives: '`toFetch`: Hono, Next.js, Bun, Deno',
    limit: 8.3,
  },
  'sallyport/node': {
    source: 'src/adapters/node.ts',
    gives: '`toNode`: `node:http`, Fastify, Connect',
    loads: ['node:buffer'],
    limit: 8.2,
  },
  'sallyport/plugins': {
    source: 'src/plugins/index.ts',
    gives: '[plugins](plugins.md): `agentTokens`, `alerts`, `approvals`, `consent`, `statistics`',
    loads: ['valibot'],
    limit: 64.2,
    parts: {
      '{ agentTokens }': 12.8,
      '{ alerts }': 12,
      '{ approvals }': 39,
      '{ consent }': 20.7,
      '{ statistics }': 8.6,
    },
  },
  'sallyport/openapi': {
    source: 'src/openapi/index.ts',
    gives: '`openapiDocument`: OpenAPI 3.1',
    loads: ['@valibot/to-json-schema', 'valibot'],
    limit: 42.3,
  },
  'sallyport/client': {
    source: 'src/client/index.ts',
    gives: '`createClient`, `createRunRecorder`',
    limit: 5,
    parts: { '{ createClient }': 2.5 },
  },
  'sallyport/client/read': {
    source: 'src/client/read.ts',
    gives: '`createReadClient`',
    limit: 2.85,
  },
  'sallyport/client/approvals': {
    source: 'src/client/approvals.ts',
    gives: '`createApprovalClient`: agents that ask people',
    limit: 2.85,
  },
  'sallyport/integrations': {
    source: 'src/integrations/index.ts',
    gives: 'runs of AI SDKs',
    limit: 13.3,
  },
  'sallyport/integrations/approvals': {
    source: 'src/integrations/approvals/index.ts',
    gives: '[approvals in agent SDKs](approvals-sdks.md)',
    limit: 4.7,
  },
  'sallyport/liquid': {
    source: 'src/engines/liquid.ts',
    gives: '`liquid`: string templates; needs `liquidjs`',
    peer: { name: 'liquidjs', install: 'liquidjs' },
    limit: 12.25,
  },
  'sallyport/json-logic': {
    source: 'src/engines/json-logic.ts',
    gives: '`jsonLogic`: conditions as data; needs `json-logic-engine`',
    peer: { name: 'json-logic-engine', install: 'json-logic-engine' },
    limit: 4.35,
  },
  'sallyport/policy': {
    source: 'src/policies/index.ts',
    gives: '`preferences`, `quietHours`, `throttle`',
    limit: 4.9,
  },
  'sallyport/pricing': {
    source: 'src/pricing/index.ts',
    gives: '`priceBook`: token costs',
    limit: 11.65,
  },
  'sallyport/rate-limits': {
    source: 'src/rate-limits/index.ts',
    gives: '`rateLimits`',
    limit: 2.4,
  },
  'sallyport/otel': {
    source: 'src/otel/index.ts',
    gives: '`otelRunExporter`, `otelMetrics`',
    peer: { name: '@opentelemetry/api', install: '@opentelemetry/api' },
    limit: 6.2,
  },
  'sallyport/storage/memory': {
    source: 'src/storage/memory/index.ts',
    gives: '`memoryStore`',
    limit: 37.2,
  },
  'sallyport/storage/sql': {
    source: 'src/storage/sql/index.ts',
    gives: '`sqlStore`, over [Kysely](https://kysely.dev)',
    limit: 65.6,
  },
  'sallyport/storage/documents': {
    source: 'src/storage/documents/index.ts',
    gives: '`documentStore`: [custom stores](writing-a-store.md)',
    limit: 39,
  },
  'sallyport/storage/engine': {
    source: 'src/storage/engine/index.ts',
    gives: '`engineStore`: [a store over records](writing-a-store.md#over-records)',
    limit: 35,
  },
  'sallyport/queue/postgres': {
    source: 'src/queues/postgres.ts',
    gives: '`postgresQueue`',
    limit: 5.1,
  },
  'sallyport/queue/bullmq': {
    source: 'src/queues/bullmq.ts',
    gives: '`bullmqQueue`',
    peer: { name: 'bullmq', install: 'bullmq ioredis', loads: ['node:net'] },
    limit: 5.17,
  },
  'sallyport/channels/email': {
    source: 'src/channels/email.ts',
    gives: '`email`: over nodemailer',
    limit: 7.05,
  },
  'sallyport/channels/webhook': {
    source: 'src/channels/webhook.ts',
    gives: '`webhook`: Standard Webhooks',
    loads: ['ipaddr.js', 'node:crypto', 'node:dns/promises', 'node:http', 'node:https'],
    limit: 9.9,
  },
  'sallyport/channels/sms': {
    source: 'src/channels/sms.ts',
    gives: "`sms`: Twilio's HTTP API",
    limit: 5.2,
  },
  'sallyport/channels/log': {
    source: 'src/channels/log.ts',
    gives: '`log`: for development',
    limit: 1.95,
  },
  'sallyport/channels/failover': {
    source: 'src/channels/failover.ts',
    gives: '`failover`: several providers',
    limit: 3.25,
  },
  'sallyport/feedback/ses': {
    source: 'src/feedback/ses.ts',
    gives: 'what providers report',
    loads: ['node:crypto'],
    limit: 6.2,
    feedback: {
      provider: 'Amazon SES',
      proof: 'SNS topic, certificate and signature',
      coversBody: true,
      deliveryIdIn: 'message tag, or header',
    },
  },
  'sallyport/feedback/sendgrid': {
    source: 'src/feedback/sendgrid.ts',
    gives: 'what providers report',
    loads: ['node:crypto'],
    limit: 3.95,
    feedback: { provider: 'SendGrid', proof: 'ECDSA signature', coversBody: true, deliveryIdIn: 'custom argument' },
  },
  'sallyport/feedback/mailgun': {
    source: 'src/feedback/mailgun.ts',
    gives: 'what providers report',
    loads: ['node:crypto'],
    limit: 3.7,
    feedback: {
      provider: 'Mailgun',
      proof: 'HMAC of a token that counts once',
      coversBody: false,
      deliveryIdIn: 'user variable',
    },
  },
  'sallyport/feedback/postmark': {
    source: 'src/feedback/postmark.ts',
    gives: 'what providers report',
    loads: ['node:crypto'],
    limit: 3.9,
    feedback: { provider: 'Postmark', proof: 'basic authentication', coversBody: false, deliveryIdIn: 'metadata' },
  },
  'sallyport/feedback/resend': {
    source: 'src/feedback/resend.ts',
    gives: 'what providers report',
    loads: ['node:crypto'],
    limit: 4.15,
    feedback: { provider: 'Resend', proof: 'Svix signature', coversBody: true, deliveryIdIn: 'tag' },
  },
  'sallyport/feedback/twilio': {
    source: 'src/feedback/twilio.ts',
    gives: 'what providers report',
    loads: ['node:crypto'],
    limit: 4.55,
    feedback: {
      provider: 'Twilio',
      proof: 'HMAC of the URL and the form',
      coversBody: true,
      deliveryIdIn: 'query of the callback URL',
    },
  },
  'sallyport/console': {
    source: 'src/console/index.ts',
    gives: '[`createConsole`](console.md)',
    limit: 73.8,
  },
  'sallyport/testing': {
    source: 'src/contract-tests/index.ts',
    gives: 'contract tests, fakes',
    loads: ['node:assert/strict'],
    limit: 76.8,
  },
}

/** The packages and modules of Node that an entry loads, directly or through its imports. */
export function loadedBy(name: string): readonly string[] {
  const { loads = [], peer } = ENTRIES[name] ?? {}
  return [...loads, ...(peer ? [peer.name] : [])].sort()
}

/**
 * The modules of Node that an entry and its peer load. Bun and Deno have them; workerd has them with `nodejs_compat`, and without that the
 * bundler reports an error. An entry without any loads in every runtime.
 */
export function nodeModulesOf(name: string): readonly string[] {
  return [...loadedBy(name), ...(ENTRIES[name]?.peer?.loads ?? [])].filter((module) => module.startsWith('node:'))
}

/** The name of the files of an entry in `dist`: `storage/memory` for `sallyport/storage/memory`, `index` for `sallyport`. */
export function builtAs(name: string): string {
  return name === 'sallyport' ? 'index' : name.replace('sallyport/', '')
}

/** What an entry imports of an optional peer. */
export interface PeerEntry {
  readonly entry: string
  readonly source: string
  readonly peer: string
  readonly install: string
}

/** The entries that import an optional peer. */
export const PEER_ENTRIES: readonly PeerEntry[] = Object.entries(ENTRIES).flatMap(([entry, { source, peer }]) =>
  peer ? [{ entry, source, peer: peer.name, install: peer.install }] : [],
)
