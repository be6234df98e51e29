import { Kysely, PostgresDialect } from 'kysely'
import { createTransport } from 'nodemailer'
import pg from 'pg'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { expect, it } from 'vitest'
import { appSecrets, generateAppSecret, sessionTokens } from '../../../src/auth/index.ts'
import { email } from '../../../src/channels/email.ts'
import { failover } from '../../../src/channels/failover.ts'
import { sms } from '../../../src/channels/sms.ts'
import { webhook } from '../../../src/channels/webhook.ts'
import { createClient, createRunRecorder } from '../../../src/client/index.ts'
import { mailgun } from '../../../src/feedback/mailgun.ts'
import { postmark } from '../../../src/feedback/postmark.ts'
import { resend } from '../../../src/feedback/resend.ts'
import { twilio } from '../../../src/feedback/twilio.ts'
import { bullmqQueue } from '../../../src/queues/bullmq.ts'
import { postgresQueue } from '../../../src/queues/postgres.ts'
import { rateLimits } from '../../../src/rate-limits/index.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { openTestApp } from './test-app.ts'

it("No printed form of a host's objects shows a secret", async () => {
  const app = await openTestApp()
  const { canaries, collected, sallyport, post, secret } = app
  const word = (): string => canaries.word('credentials for a provider')
  const connection = (): string => canaries.word('connection string')
  const key = canaries.watch(
    'signing key',
    Buffer.from(canaries.word('signing key').padEnd(32, 'k')).toString('base64url'),
  )
  const hook = canaries.watch('webhook secret', Buffer.from(canaries.word('webhook secret')).toString('base64'))
  const other = await generateAppSecret({ env: 'test' })
  canaries.watch('application secret', other.secret.slice('sp_test_'.length))
  const url = `postgres://u:${connection()}@127.0.0.1:1/db`
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) })
  const transport = createTransport({ host: '127.0.0.1', auth: { user: word(), pass: word() } })
  const mail = email(transport, { from: 'shop@example.com' })
  const texts = sms({ accountSid: `AC${word()}`, apiKey: { sid: word(), secret: word() }, from: 'Shop' })
  const queue = bullmqQueue({ connection: { host: '127.0.0.1', port: 1, username: word(), password: connection() } })
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', token: secret, retries: 0 })
  const limiter = new RateLimiterMemory({ points: 1, duration: 1 })
  const things = {
    ...{ sallyport, mail, texts, queue, client, both: failover(mail, texts) },
    ...{ worker: sallyport.worker, endpoints: sallyport.endpoints, dispatches: sallyport.dispatches },
    secrets: appSecrets([secret, other.secret]),
    tokens: sessionTokens({ keys: [{ kid: 'k', key }], audience: 'api' }),
    webhooks: webhook({ secret: [`whsec_${hook}`] }),
    bounces: [
      mailgun({ channel: 'email', signingKey: word() }),
      postmark({ channel: 'email', username: word(), password: word() }),
      resend({ channel: 'email', secret: [`whsec_${hook}`] }),
      twilio({ channel: 'sms', authToken: word(), url: 'https://api.example.com/feedback' }),
    ],
    sql: sqlStore({ db, dialect: 'postgresql' }),
    memory: memoryStore(),
    line: postgresQueue({ client: () => new pg.Client(url) }),
    limits: rateLimits({
      recipient: limiter,
      recipientKey: canaries.word('credentials for a provider').padEnd(32, 'k'),
    }),
    recorder: createRunRecorder({ client }),
  }
  await post('dispatch', {
    body: { eventType: 'order', recipient: `u-${canaries.word('recipient as sent')}`, eventData: { note: 'n' } },
    headers: { 'idempotency-key': canaries.word('idempotency key') },
  })
  for (const thing of [...Object.values(things), things]) collected.keep('look', thing)
  await queue.close()
  await db.destroy()
  expect(canaries.in(secret)).toEqual(['application secret'])
})
