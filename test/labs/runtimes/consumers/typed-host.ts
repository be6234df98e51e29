// Uses the types of entries as a host does. Only compiled, against the installed package and the real types of its
// hosts.
import { createServer } from 'node:http'
import { type MeterProvider, metrics, trace } from '@opentelemetry/api'
import express from 'express'
import { Hono } from 'hono'
import Koa from 'koa'
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import {
  type Channel,
  createSallyport,
  type DispatchStore,
  defineEvents,
  type FeedbackSource,
  type HashKey,
  handleDispatch,
  isSallyportError,
  type RecordStore,
  type RunListOptions,
  type RunPost,
  type RunStore,
  type Sallyport,
} from 'sallyport'
import { anyOf, appSecrets, issueSessionToken, type SessionTokenKey, sessionTokens } from 'sallyport/auth'
import { type EmailOptions, email, type MailTransport } from 'sallyport/channels/email'
import { failover } from 'sallyport/channels/failover'
import { log } from 'sallyport/channels/log'
import { sms } from 'sallyport/channels/sms'
import { type WebhookOptions, webhook } from 'sallyport/channels/webhook'
import * as client from 'sallyport/client'
import * as readClient from 'sallyport/client/read'
import * as ops from 'sallyport/console'
import { keepRawBody, toExpress } from 'sallyport/express'
import { mailgun } from 'sallyport/feedback/mailgun'
import { postmark } from 'sallyport/feedback/postmark'
import { resend } from 'sallyport/feedback/resend'
import { sendgrid } from 'sallyport/feedback/sendgrid'
import { type SesOptions, ses } from 'sallyport/feedback/ses'
import { twilio } from 'sallyport/feedback/twilio'
import { toFetch } from 'sallyport/fetch'
import * as integrations from 'sallyport/integrations'
import { jsonLogic } from 'sallyport/json-logic'
import { toKoa } from 'sallyport/koa'
import { liquid } from 'sallyport/liquid'
import { toNode } from 'sallyport/node'
import * as openapi from 'sallyport/openapi'
import { otelRunExporter } from 'sallyport/otel'
import { allOf, preferences, quietHours, throttle } from 'sallyport/policy'
import { priceBook } from 'sallyport/pricing'
import { type BullmqQueue, bullmqQueue } from 'sallyport/queue/bullmq'
import { type NotificationClient, postgresQueue } from 'sallyport/queue/postgres'
import { type Documents, documentStore } from 'sallyport/storage/documents'
import { engineStore, type Records } from 'sallyport/storage/engine'
import { memoryStore } from 'sallyport/storage/memory'
import { type HostTransaction, sqlStore } from 'sallyport/storage/sql'
import { dispatchStoreContract, fakeClock, recordingChannel, recordStoreContract, testRequest } from 'sallyport/testing'
import * as v from 'valibot'

const data = v.object({ orderId: v.string(), total: v.number(), note: v.optional(v.string()) })
const events = defineEvents(
  {
    'order.shipped': {
      data,
      category: 'orders',
      when: ({ data, recipient }) => data.total > 0 && recipient.id !== '',
      channels: {
        email: { subject: ({ data }) => `Order ${data.orderId}`, text: 'Order {{ data.orderId }}' },
        // @ts-expect-error: the schema has no such property
        sms: { text: ({ data }) => data.orderNumber },
      },
    },
    'digest.due': { digest: { windowMs: 1_000 }, channels: { log: { text: ({ events }) => `${events.length}` } } },
  },
  { templates: liquid({ timeZone: 'UTC' }), conditions: jsonLogic() },
)

const key: SessionTokenKey = { kid: 'k', key: new Uint8Array(32) }
const auth = anyOf(appSecrets([process.env.APP_SECRET]), sessionTokens({ keys: [key], audience: 'a' }))
const transport: MailTransport = { sendMail: async () => ({ messageId: '1' }) }
const mail: EmailOptions = { from: 'a@example.com' }
const hook: WebhookOptions = { secret: async ({ url, recipient }) => (url === recipient ? undefined : ['whsec_']) }
const channels: Record<'email' | 'sms' | 'log' | 'webhook' | 'paper', Channel> = {
  email: failover(email(transport, mail), email(transport, mail)),
  sms: sms({ accountSid: 'AC', authToken: 't', from: '+431', fetch: (url, init) => fetch(url, init) }),
  log: log(),
  webhook: webhook(hook),
  paper: recordingChannel(),
}
const store: DispatchStore & RunStore = memoryStore({ clock: fakeClock() })
const dialect = {
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
}
export const db: Kysely<{ orders: { id: string } }> = new Kysely({ dialect })
const inDatabase = sqlStore({ db, dialect: 'sqlite' })
const listening: NotificationClient = {
  connect: () => Promise.reject(new Error('none')),
  query: async () => {},
  on() {},
  end: async () => {},
}
const queues = {
  postgres: () => postgresQueue({ client: () => listening }),
  redis: (): BullmqQueue => bullmqQueue({ connection: { host: '127.0.0.1' } }),
}

const keys: readonly HashKey[] = [{ kid: 'k', key: process.env.HASH_KEY }]
const sallyport = createSallyport({
  ...{ auth, events, store: inDatabase, channels },
  policy: allOf(
    preferences(() => undefined),
    quietHours({ from: '22:00', to: '08:00', timeZone: 'UTC' }),
    throttle({ max: 1, windowMs: 1 }),
  ),
  prices: priceBook({ version: '1', prices: [{ model: 'm*', input: '1', output: '2' }] }),
  exporters: [
    otelRunExporter({ tracerProvider: trace.getTracerProvider(), meterProvider: metrics as unknown as MeterProvider }),
  ],
  hooks: { onFailed: async ({ channel, reason }) => console.error(channel, reason) },
  worker: { channels: { email: { concurrency: 2 } } },
  links: { baseUrl: 'https://api.example.com', keys },
})

await sallyport.dispatch({ eventType: 'order.shipped', recipient: 'r', eventData: { orderId: 'o', total: 1 } })
await sallyport.dispatch({ eventType: 'digest.due', recipient: 'r' })
// @ts-expect-error: its data is missing
await sallyport.dispatch({ eventType: 'order.shipped', recipient: 'r' })
// @ts-expect-error: there is no such event
await sallyport.dispatch({ eventType: 'order.shiped', recipient: 'r' })
await db.transaction().execute(async (trx) => {
  const transaction: HostTransaction = trx
  await sallyport.dispatch({ eventType: 'digest.due', recipient: 'r' }, { store: inDatabase.within(transaction) })
})

express()
  .use(express.json({ verify: keepRawBody }))
  .use('/v1', toExpress(sallyport))
new Koa().use(toKoa(sallyport))
new Hono().mount('/v1', toFetch(sallyport))
createServer(toNode(sallyport, { basePath: '/v1' }))
export const answer: (request: Request) => Promise<Response> = toFetch(sallyport)

const run: RunPost = { runId: 'r', status: 'completed', usage: { input_tokens: 1, output_tokens: 2 } }
const handled = await handleDispatch(testRequest({ token: 't', body: { run } }), { auth, events, store, channels })
if (!handled.ok) console.error(handled.body.code satisfies string, handled.body.errors?.[0]?.pointer)
const wanted: RunListOptions = { userId: undefined }
for (const one of (await sallyport.runs.list(wanted)).items) console.log(one.runId, one.cost?.amount)
export const token: string = await issueSessionToken({ sessionId: 's', key, audience: 'a' })
export const ownStore = (documents: Documents): DispatchStore & RunStore => documentStore(documents)
export const recordStore = (records: Records): DispatchStore & RunStore => engineStore(records)
export const contract = (): void =>
  dispatchStoreContract({ test: () => {}, create: () => ({ store, now: () => 0, advance: () => {} }) })
export const recordContract = (stores: RecordStore & DispatchStore): void =>
  recordStoreContract({ test: () => {}, create: () => ({ store: stores, now: () => 0, advance: () => {} }) })
const topics: SesOptions = { channel: 'email', topicArns: ['arn:aws:sns:eu-central-1:123456789012:feedback'] }
export const sources = (secret: string): readonly FeedbackSource[] => [
  ses(topics),
  sendgrid({ channel: 'email', publicKey: secret }),
  mailgun({ channel: 'email', signingKey: [secret] }),
  postmark({ channel: 'email', username: 'u', password: secret }),
  resend({ channel: 'email', secret, tenant: 'acme' }),
  twilio({ channel: 'sms', authToken: secret, url: 'https://api.example.com/feedback' }),
]
export const loaded: readonly object[] = [client, readClient, integrations, openapi, ops, queues]
export const isOurs: (error: unknown) => boolean = isSallyportError
export type { Sallyport }
