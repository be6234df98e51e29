import { Kysely, SqliteDialect } from 'kysely'
import { describe, it } from 'vitest'
import { anyOf, appSecrets, generateAppSecret, issueSessionToken, sessionTokens } from '../../../src/auth/index.ts'
import { email } from '../../../src/channels/email.ts'
import { failover } from '../../../src/channels/failover.ts'
import { sms } from '../../../src/channels/sms.ts'
import { webhook, webhookPublicKey } from '../../../src/channels/webhook.ts'
import { createClient, createRunRecorder } from '../../../src/client/index.ts'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { mailgun } from '../../../src/feedback/mailgun.ts'
import { postmark } from '../../../src/feedback/postmark.ts'
import { resend } from '../../../src/feedback/resend.ts'
import { sendgrid } from '../../../src/feedback/sendgrid.ts'
import { ses } from '../../../src/feedback/ses.ts'
import { twilio } from '../../../src/feedback/twilio.ts'
import { otelRunExporter } from '../../../src/otel/index.ts'
import { bullmqQueue } from '../../../src/queues/bullmq.ts'
import { postgresQueue } from '../../../src/queues/postgres.ts'
import { rateLimits } from '../../../src/rate-limits/index.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { createCanaries } from './canaries.ts'
import { collecting } from './collecting.ts'
import { expectHidden, type Place } from './expect-hidden.ts'

const base64 = (secret: string): string => Buffer.from(secret).toString('base64')
const mixed = (secret: string): readonly unknown[] => [
  secret,
  [secret],
  { secret },
  { [Symbol.toPrimitive]: () => secret },
]

const as = (options: unknown): never => options as never
const transport = { sendMail: async () => ({}) }

const PLACES: Readonly<Record<string, readonly Place[]>> = {
  'application secret': [
    (secret) => appSecrets([secret]),
    (secret) => appSecrets([`sp_live_${secret}`]),
    (secret) => appSecrets([` sp_live_${secret}`]),
    (secret) => appSecrets(as(secret)),
    (secret) => appSecrets([{ sha256: secret, id: `${secret} `, tenant: `${secret} `, notAfter: secret }]),
    (secret) => appSecrets(as([{ secret }])),
    (secret) => generateAppSecret({ env: secret }),
    (secret) => anyOf(as(secret)),
  ],
  'signing key': [
    (secret) => sessionTokens({ keys: [{ kid: 'k', key: secret }], audience: 'a' }),
    (secret) => sessionTokens({ keys: [{ kid: `${secret} `, key: `${secret}!`, alg: as(secret) }], audience: 'a' }),
    (secret) =>
      sessionTokens({ keys: [{ kid: 'k', key: as({ kty: 'oct', k: secret }), alg: 'ES256' }], audience: 'a' }),
    (secret) =>
      sessionTokens({
        keys: [{ kid: 'k', key: as({ kty: 'EC', crv: secret, x: secret, y: secret, d: secret }), alg: 'ES256' }],
        audience: 'a',
      }),
    (secret) =>
      sessionTokens({ keys: as(secret), audience: as([secret]), issuer: as([secret]), maxAgeSeconds: as(secret) }),
    (secret) => issueSessionToken({ sessionId: `${secret} `, key: { kid: 'k', key: secret }, audience: 'a' }),
    (secret) => issueSessionToken({ sessionId: 's', key: as(secret), audience: '', grants: as({ [secret]: secret }) }),
  ],
  'webhook secret': [
    (secret) => webhook({ secret }),
    (secret) => webhook({ secret: [`whsec_${secret}`, secret] }),
    (secret) => webhook({ secret: `whsec_${base64(secret)}!`, ports: as([secret]), timeoutMs: as(secret) }),
    (secret) => webhook(as({ secret: { secret }, retrySchedule: [secret] })),
    (secret) => webhook({ secret: `whsk_${base64(secret)}AAAA` }),
    (secret) => webhookPublicKey(`whsk_${base64(secret)}AAAA`),
  ],
  'credentials for a provider': [
    (secret) => email(transport, { from: `Shop:${secret}` }),
    (secret) =>
      email(as(secret), {
        from: as({ name: `${secret}\n`, address: secret }),
        replyTo: secret,
        messageIdDomain: `${secret} `,
      }),
    (secret) =>
      sms({ accountSid: `${secret}!`, authToken: secret, apiKey: { sid: `${secret}!`, secret }, from: `${secret}!` }),
    (secret) =>
      sms({
        accountSid: 'AC1',
        authToken: secret,
        from: 'S',
        baseUrl: `https://AC1:${secret}@twilio.example?${secret}`,
      }),
    (secret) => sms({ accountSid: 'AC1', from: 'S', messagingServiceSid: `${secret}!`, maxSegments: as(secret) }),
    (secret) => failover(as(secret), as({ send: secret })),
    (secret) => mailgun({ channel: `${secret} `, signingKey: as([secret, { secret }]) }),
    (secret) => postmark({ channel: 'email', username: `${secret}:`, password: as({ secret }) }),
    (secret) => resend({ channel: 'email', secret: [secret, `whsec_${base64(secret)}!`] }),
    (secret) => sendgrid({ channel: 'email', publicKey: base64(secret) }),
    (secret) => ses({ channel: 'email', topicArns: [secret], fetch: as(secret) }),
    (secret) => twilio({ channel: 'sms', authToken: secret, url: `https://AC1:${secret}@api.example.com/?${secret}` }),
    (secret) =>
      rateLimits({ recipient: as({ points: secret, duration: secret, consume: secret }), recipientKey: secret }),
  ],
  'connection string': [
    (secret) => bullmqQueue({ connection: as(`redis://:${secret}@redis.example`) }),
    (secret) => bullmqQueue({ connection: { password: secret, keyPrefix: secret }, name: `:${secret}` }),
    (secret) => bullmqQueue(as(`redis://:${secret}@redis.example`)),
    (secret) => postgresQueue({ client: as(`postgres://u:${secret}@db.example`), channel: `${secret}-` }),
    (secret) =>
      sqlStore({
        db: as(`postgres://u:${secret}@db.example`),
        dialect: as(secret),
        prefix: `${secret}-`,
        notify: `${secret}-`,
      }),
    (secret) => sqlStore({ db: as({ url: secret }), dialect: 'sqlite', timeoutMs: as(secret) }),
    (secret) => sqlStore({ db: brokenDb(secret), dialect: 'postgresql' }).migrate(),
    (secret) => sqlStore({ db: brokenDb(secret), dialect: 'sqlite' }).ready?.(),
    (secret) =>
      createSallyport(
        as({ store: secret, queue: secret, auth: secret, events: secret, channels: { a: secret }, ids: secret }),
      ),
    (secret) => createSallyport(as(secret)),
    (secret) => createSallyport(as({ ...nothing(), ...numbers(secret) })),
    (secret) => createSallyport(as({ ...nothing(), plugins: [secret, { name: secret, setup: secret }] })),
    (secret) => otelRunExporter(as({ tracerProvider: secret, spanKind: secret, attributes: secret, cost: secret })),
    (secret) => otelRunExporter(as(secret)),
  ],
  content: [
    (secret) => defineEvents(as({ e: secret })),
    (secret) =>
      defineEvents(as({ e: { data: secret, when: secret, delayMs: secret, digest: secret, channels: { a: secret } } })),
    (secret) => defineEvents(as({ e: { channels: { a: { text: `{{ data.x ${secret}` } } } })),
  ],
}

const nothing = (): object => ({ auth: { verify() {} }, events: defineEvents({}), channels: {} })

function numbers(secret: string): object {
  const names = [
    'maxInFlight',
    'maxUnfinished',
    'maxUnfinishedBytes',
    'expiresInMs',
    'idempotencyTtlMs',
    'staleAfterMs',
    'sessions',
    'sandbox',
    'worker',
    'hooks',
  ]
  return Object.fromEntries([...names, 'plugins', 'exporters', 'policy'].map((name) => [name, secret]))
}

/** A driver whose error quotes its user and its connection. */
function brokenDb(secret: string): never {
  const fail = async (): Promise<never> => {
    throw Object.assign(new Error(`password of ${secret} is wrong`), { code: `u:${secret}@db`, connection: secret })
  }
  const driver = { init: fail, acquireConnection: fail, releaseConnection: fail, destroy: fail }
  const sqlite = new SqliteDialect({ database: as({}) })
  return as(
    new Kysely<unknown>({
      dialect: {
        createDriver: () => as({ ...driver, init: async () => {} }),
        createAdapter: () => sqlite.createAdapter(),
        createQueryCompiler: () => sqlite.createQueryCompiler(),
        createIntrospector: (db) => sqlite.createIntrospector(db),
      },
    }),
  )
}

const trials = Object.entries(PLACES).flatMap(([kind, places]) =>
  places.map((place) => ({ kind, place: `${place}`, put: place })),
)

describe('start-up', () => {
  it.each(trials)('An error at start-up does not show the $kind: $place', ({ kind, put }) => expectHidden(kind, put))

  it('An error of a client at start-up does not show its token', async () => {
    const canaries = createCanaries()
    const { keep } = collecting(canaries)
    const token = canaries.word('application secret')
    for (const given of mixed(token)) {
      const options = as({ baseUrl: `nowhere:${token}`, token: given, retries: 0 })
      try {
        const client = createClient(options)
        keep('look', [client, createRunRecorder(as({ client }))])
        await client.recordRun(as({ sessionId: 's', run: { runId: 'r' } }))
      } catch (error) {
        keep('start', error)
      }
    }
  })
})
