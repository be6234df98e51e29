import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import * as v from 'valibot'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { anyOf, appSecrets, generateAppSecret, issueSessionToken, sessionTokens } from '../../../src/auth/index.ts'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchView } from '../../../src/model/dispatch.ts'
import type { DispatchGrant } from '../../../src/model/principal.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { allPages } from '../../core/runs/test-app.ts'
import { recordingLogger } from '../../support/deps.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'

const KEY = { kid: 'k1', key: new Uint8Array(32).fill(7) }
const AUDIENCE = 'shop'

/** Data of the directory that no agent may learn. */
export const SECRETS: readonly string[] = [
  'ada-private@example.com',
  'boss-private@example.com',
  '+4915112345678',
  'a-note-on-ada',
  'vip-tier-9',
]

const PEOPLE = new Map([
  [
    'user_ada',
    {
      id: 'user_ada',
      email: 'ada-private@example.com',
      phone: '+4915112345678',
      attributes: { note: 'a-note-on-ada' },
    },
  ],
  ['user_boss', { id: 'user_boss', email: 'boss-private@example.com', attributes: { tier: 'vip-tier-9' } }],
])

export const EVENTS: readonly string[] = ['ticket.escalated', 'invoice.paid', 'everyone.alerted']
export const CHANNELS: readonly string[] = ['email', 'sms', 'ops']
export const RECIPIENTS: readonly string[] = [
  'user_ada',
  'user_boss',
  'ada-private@example.com',
  'stranger@example.com',
  '+4915100000000',
]

export const SESSION = 's-agent'
export const OTHER_SESSION = 's-other'

export interface Answer {
  readonly status: number
  readonly text: string
}

export interface TestApp {
  readonly sallyport: Pick<Sallyport, 'dispatches' | 'runs' | 'sessions' | 'worker'>
  readonly secret: string
  readonly channels: Readonly<Record<'email' | 'sms' | 'ops', RecordingChannel>>
  close(): Promise<void>
  tokenFor(sessionId: string, dispatch?: DispatchGrant, userId?: string): Promise<string>
  post(token: string, path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** Records of others, which an agent must not change. */
  othersRecords(): Promise<OthersRecords>
}

export interface OthersRecords {
  readonly dispatches: readonly DispatchView[]
  readonly session: unknown
  readonly run: unknown
  readonly spend: unknown
}

/** A shop over a real database, with an application and two agents. */
export async function app(): Promise<TestApp> {
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: new Database(':memory:') }) })
  const store = sqlStore({ db, dialect: 'sqlite', timeoutMs: UNHURRIED_MS })
  await store.migrate()
  const { secret } = await generateAppSecret({ env: 'test' })
  const channels = { email: recordingChannel(), sms: recordingChannel(), ops: recordingChannel() }
  const text = v.optional(v.string(), '')
  const data = v.object({ text })
  const template = { text: ({ data: reported }: { data: { text: string } }) => reported.text }
  const sallyport = createSallyport({
    auth: anyOf(appSecrets([secret]), sessionTokens({ keys: [KEY], audience: AUDIENCE })),
    events: defineEvents({
      'ticket.escalated': { data, channels: { email: template, sms: template } },
      'invoice.paid': { data, channels: { email: template } },
      'everyone.alerted': { data, channels: { ops: template } },
    }),
    store,
    channels,
    recipients: { find: async (id) => PEOPLE.get(id) },
    logger: recordingLogger(),
  })
  const host = toFetch(sallyport)

  return {
    sallyport,
    secret,
    channels,
    close: () => db.destroy(),
    tokenFor: (sessionId: string, dispatch?: DispatchGrant, userId?: string) =>
      issueSessionToken({
        sessionId,
        key: KEY,
        audience: AUDIENCE,
        ...(dispatch && { grants: { dispatch } }),
        ...(userId !== undefined && { userId }),
      }),
    async post(
      token: string,
      path: string,
      body: unknown,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Answer> {
      const answer = await host(
        new Request(`http://shop.test${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      )
      return { status: answer.status, text: await answer.text() }
    },
    async othersRecords() {
      const dispatches = (await allPages((page) => sallyport.dispatches.list({ limit: 100, ...page }))).flat()
      return {
        dispatches: dispatches.filter(({ sessionId }) => sessionId !== SESSION),
        session: await sallyport.sessions.get(OTHER_SESSION),
        run: await sallyport.runs.get({ sessionId: OTHER_SESSION, runId: 'run-other' }),
        spend: await store.findSpend('default', 'user_boss', 0),
      }
    },
  }
}
