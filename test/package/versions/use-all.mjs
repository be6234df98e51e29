// Uses each dependency and peer of the installed package once, and prints the results.
import { trace } from '@opentelemetry/api'
import { waitForUpdate } from '@pydantic/genai-prices'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import nodemailer from 'nodemailer'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { createSallyport, defineEvents } from 'sallyport'
import { anyOf, appSecrets, generateAppSecret, issueSessionToken, sessionTokens } from 'sallyport/auth'
import { email } from 'sallyport/channels/email'
import { webhook } from 'sallyport/channels/webhook'
import { toFetch } from 'sallyport/fetch'
import { jsonLogic } from 'sallyport/json-logic'
import { liquid } from 'sallyport/liquid'
import { openapiDocument } from 'sallyport/openapi'
import { otelRunExporter } from 'sallyport/otel'
import { genaiPrices } from 'sallyport/pricing'
import { rateLimits } from 'sallyport/rate-limits'
import { sqlStore } from 'sallyport/storage/sql'
import * as v from 'valibot'

const DAY_S = 86_400
const spans = []
trace.setGlobalTracerProvider(recordingTracer())

const events = defineEvents(
  {
    'order.shipped': {
      data: v.object({ orderId: v.string(), total: v.number() }),
      channels: {
        email: {
          when: { '>': [{ var: 'data.total' }, 10] },
          subject: 'Order {{ data.orderId }}',
          html: '<p>{{ data.orderId }}: {{ data.total | times: 2 }}</p>',
          text: 'Order {{ data.orderId | upcase }}',
        },
      },
    },
    'order.synced': { channels: { webhook: {} } },
  },
  { templates: liquid(), conditions: jsonLogic() },
)

const { secret } = await generateAppSecret({ env: 'test' })
const key = { kid: 'k1', key: crypto.getRandomValues(new Uint8Array(32)) }
const signed = { sessionId: 's1', key, audience: 'shop' }
const token = await issueSessionToken(signed)
const forged = await issueSessionToken({ ...signed, key: { ...key, key: crypto.getRandomValues(new Uint8Array(32)) } })

const db = new Kysely({ dialect: new SqliteDialect({ database: new Database(':memory:') }) })
const store = sqlStore({ db, dialect: 'sqlite' })
await store.migrate()
const sallyport = createSallyport({
  auth: anyOf(appSecrets([secret]), sessionTokens({ keys: [key], audience: 'shop' })),
  events,
  store,
  channels: {
    email: email(mailTransport(), { from: 'shop@example.com' }),
    webhook: webhook({ secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }),
  },
  recipients: { find: async (id) => ({ id, url: `https://${id}/hook` }) },
  rateLimiter: rateLimits({ token: new RateLimiterMemory({ points: 3, duration: DAY_S }) }),
  prices: genaiPrices(await waitForUpdate()),
  exporters: [otelRunExporter()],
  logger: { log() {} },
})
const host = toFetch(sallyport)

const run = { runId: 'r1', status: 'completed', provider: 'openai', model: 'gpt-4o', counts: counts() }
const shipped = { eventType: 'order.shipped', recipient: 'ada@example.com', eventData: { orderId: 'a-1', total: 12 } }

console.log(
  JSON.stringify({
    valibot: [await dispatched(shipped), await dispatched({ ...shipped, eventData: { orderId: 1 } })],
    conditions: await sendsOf({ ...shipped, eventData: { orderId: 'a-2', total: 1 } }),
    webhooks: await Promise.all(['10.0.0.7', '[3fff::1]', '[::ffff:127.0.0.1]'].map(webhookTo)),
    tokens: [await recorded(token, run), await recorded(forged, run)],
    limited: [await recorded(token), await recorded(token), await recorded(token)],
    priced: typeof (await sallyport.runs.get({ sessionId: 's1', runId: 'r1' }))?.cost?.amount,
    spans,
    openapi: schemaOf(openapiDocument({ events })),
    queue: await wakes(),
    sendings: await deliver(),
  }),
)
await db.destroy()

/** Exactly what {@link run} reports. */
function counts() {
  return { inputTokens: 1_000, cacheReadTokens: 0, outputTokens: 100 }
}

function mailTransport() {
  return nodemailer.createTransport({ host: '127.0.0.1', port: Number(process.env.SMTP_PORT), ignoreTLS: true })
}

async function dispatched(request) {
  const { status, body } = await sallyport.dispatch(request)
  return [status, body.code ?? body.status]
}

async function sendsOf(request) {
  const { body } = await sallyport.dispatch(request)
  return body.deliveries.map(({ status, reason }) => `${status} ${reason}`)
}

async function webhookTo(address) {
  const { body } = await sallyport.dispatch({ eventType: 'order.synced', recipient: address })
  return body.dispatchId
}

async function deliver() {
  await sallyport.worker.runDue()
  const { items } = await sallyport.dispatches.list()
  return items
    .flatMap(({ deliveries }) =>
      deliveries.map(({ channel, status, lastCode = '-' }) => `${channel} ${status} ${lastCode}`),
    )
    .sort()
}

async function recorded(bearer, posted = { runId: 'r2', status: 'running' }) {
  const { status } = await host(
    new Request('http://localhost/api/agents/session/run', {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ sessionId: 's1', run: posted }),
    }),
  )
  return status
}

function schemaOf({ openapi, components }) {
  const { required, properties } = components.schemas.DispatchRequest
  return [openapi, required, properties.eventType.enum]
}

/** A wake-up signal from one queue to another through Redis. `absent` without Redis. */
async function wakes() {
  if (process.env.REDIS_PREFIX === undefined) return 'absent'
  const { bullmqQueue } = await import('sallyport/queue/bullmq')
  const options = { connection: { host: '127.0.0.1', port: 6379 }, prefix: process.env.REDIS_PREFIX }
  const [here, there] = [bullmqQueue(options), bullmqQueue(options)]
  const woken = new Promise((resolve) => there.listen({ due: resolve, connected() {}, lost() {} }))
  here.wake(0)
  await woken
  await Promise.all([here.close(), there.close()])
  return 'woken'
}

/** The least provider of traces that the API takes. */
function recordingTracer() {
  const span = {
    spanContext: () => ({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 1 }),
    setStatus: () => span,
    end() {},
  }
  const startSpan = (name, { attributes }) => {
    spans.push([name, attributes['gen_ai.usage.input_tokens']])
    return span
  }
  return { getTracer: () => ({ startSpan }) }
}
