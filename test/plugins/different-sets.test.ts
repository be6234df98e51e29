import { afterEach, describe, expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { anyOf, issueSessionToken, sessionTokens } from '../../src/auth/index.ts'
import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../src/compose/options.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { agentTokens, alerts, type ConsentApi, consent } from '../../src/plugins/index.ts'
import type { Plugin } from '../../src/plugins/plugin.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { databaseKinds, type TestDatabase } from '../storage/databases.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { type RecordingChannel, recordingChannel } from '../support/recording-channel.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'

const ADA = 'ada@example.com'
const BOB = 'bob@example.com'
const keys = [{ kid: 'k1', key: new Uint8Array(32).fill(1) }]
const links = { baseUrl: 'https://app.example', keys }
const KEY = { kid: 't1', key: new Uint8Array(32).fill(2) }
const AUDIENCE = 'https://app.example'

const text = ({ links: own }: { readonly links?: Readonly<Record<string, string>> }) => `Off: ${own?.unsubscribe ?? ''}`
const events = defineEvents({
  news: { channels: { email: { text } } },
  weekly: { digest: { windowMs: 1_000 }, channels: { email: { text } } },
  'run.failed': { channels: { email: { text: () => 'A run failed' } } },
})

const RUN_EVENTS = { 'run.failed': () => ({ recipient: 'ops@example.com' }) }

interface Process {
  readonly sallyport: Sallyport<unknown> & Partial<ConsentApi>
  readonly email: RecordingChannel
  readonly missing: () => readonly unknown[]
}

const opened: TestDatabase[] = []
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close()
})

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined)(`processes with different plugins on one ${kind.name}`, () => {
    /** Makes processes on one database, each with its own connections. */
    async function database() {
      const opening = await kind.open()
      opened.push(opening)
      const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
      const auth = anyOf(sessionTokens({ keys: [KEY], audience: AUDIENCE, clock }), testAuth)
      const start = (plugins: readonly Plugin[], more: Partial<SallyportOptions<unknown>> = {}): Process => {
        const store = sqlStore({ db: opening.connect(), dialect: kind.name, clock, timeoutMs: UNHURRIED_MS })
        const email = recordingChannel()
        const logger = recordingLogger()
        const sallyport = createSallyport<unknown>({
          ...{ auth, events, store, clock, logger, channels: { email }, plugins, ...more },
        }) as Process['sallyport']
        const missing = () =>
          logger.lines.flatMap(({ event, fields }) => (event === 'delivery.plugin_missing' ? [fields?.plugin] : []))
        return { sallyport, email, missing }
      }
      return { clock, start }
    }

    const send = ({ sallyport }: Process, eventType: string, recipient: string) =>
      sallyport.dispatch({ eventType, recipient })

    async function outcomes({ sallyport }: Process): Promise<readonly string[]> {
      const { items } = await sallyport.dispatches.list()
      return items
        .flatMap(
          ({ recipient, deliveries: [one] }) => `${recipient} ${one?.reason ?? one?.waiting?.for ?? one?.status}`,
        )
        .sort()
    }

    const minute = async (clock: FakeClock, ...processes: readonly Process[]): Promise<void> => {
      for (const { sallyport } of processes) await sallyport.worker.runDue()
      clock.advance(60_000)
    }

    it('Nothing is sent by a worker that lacks the guard or the link of a dispatch, and then by one that has them', async () => {
      const { clock, start } = await database()
      const [api, whole] = [start([consent({ keys })], { links }), start([consent({ keys })], { links })]
      const [bare, unlinked] = [start([]), start([consent({ keys })])]
      await send(api, 'news', ADA)
      await send(api, 'news', BOB)
      await api.sallyport.suppressions?.add({ channel: 'email', address: BOB, reason: 'complained' })
      await bare.sallyport.worker.runDue()
      expect(await outcomes(api)).toEqual([`${ADA} unknown_here`, `${BOB} unknown_here`])
      clock.advance(60_000)
      await minute(clock, unlinked)
      expect([bare.email.sent, unlinked.email.sent]).toEqual([[], []])
      // One line for both.
      expect([bare.missing(), unlinked.missing()]).toEqual([['consent'], ['consent.unsubscribe']])
      await minute(clock, whole)
      expect(await outcomes(api)).toEqual([`${ADA} sent`, `${BOB} suppressed`])
      const [mail] = whole.email.sent
      expect([whole.email.sent.length, mail?.to]).toEqual([1, ADA])
      expect(mail?.content.text).toMatch(/^Off: https:\/\/app\.example\/api\/outbound\/unsubscribe\/[\w.-]+$/)
      const { items } = await api.sallyport.dispatches.list({ recipient: ADA })
      expect(items).toMatchObject([{ deliveries: [{ attempts: 1 }] }])
    })

    it('A dispatch of a process without plugins is sent by every worker', async () => {
      const { clock, start } = await database()
      const [bare, whole] = [start([]), start([consent({ keys })], { links })]
      await send(bare, 'news', ADA)
      await minute(clock, whole)
      await send(bare, 'news', BOB)
      await minute(clock, bare)
      expect([whole.email.sent.length, bare.email.sent.length]).toEqual([1, 1])
      expect(bare.missing()).toEqual([])
    })

    it('An event joins no digest of a process that has other guards and links', async () => {
      const { clock, start } = await database()
      const [bare, whole] = [start([]), start([consent({ keys })], { links })]
      await send(bare, 'weekly', ADA)
      await send(whole, 'weekly', ADA)
      await send(whole, 'weekly', ADA)
      clock.advance(1_000)
      await minute(clock, bare)
      expect(bare.email.sent.map(({ content }) => content.text)).toEqual(['Off: '])
      await minute(clock, whole)
      expect(whole.email.sent.map(({ content }) => String(content.text))).toEqual([
        expect.stringContaining('Off: https://app.example/'),
      ])
    })

    it('A token that one process revokes passes in none', async () => {
      const { clock, start } = await database()
      const [api, bare] = [start([agentTokens()]), start([])]
      const token = await issueSessionToken({ sessionId: 's1', key: KEY, audience: AUDIENCE, clock, grants: {} })
      const post = async ({ sallyport }: Process, runId: string): Promise<number> => {
        const body = JSON.stringify({ sessionId: 's1', run: { runId, provider: 'p', model: 'm', status: 'running' } })
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
        const request = new Request('https://app.example/api/agents/session/run', { method: 'POST', body, headers })
        return (await toFetch(sallyport)(request)).status
      }
      expect([await post(api, 'r1'), await post(bare, 'r2')]).toEqual([201, 201])
      await api.sallyport.tokens.revoke({ sessionId: 's1' })
      clock.advance(60_000)
      expect([await post(api, 'r3'), await post(bare, 'r4')]).toEqual([401, 401])
    })

    it('A run event waits for a process that publishes it', async () => {
      const { clock, start } = await database()
      const [first, bare, second] = [
        start([alerts({ runEvents: RUN_EVENTS })]),
        start([]),
        start([alerts({ runEvents: RUN_EVENTS })]),
      ]
      // The first process stores the signal, and dies before it publishes it.
      const { store } = first.sallyport
      const dying = start([alerts({ runEvents: RUN_EVENTS })], {
        store: { ...store, accept: () => new Promise(() => {}) },
      })
      const body = JSON.stringify({
        sessionId: 's1',
        run: { runId: 'r1', provider: 'p', model: 'm', status: 'failed' },
      })
      const headers = { authorization: 'Bearer app', 'content-type': 'application/json' }
      const request = new Request('https://app.example/api/agents/session/run', { method: 'POST', body, headers })
      expect((await toFetch(dying.sallyport)(request)).status).toBe(201)
      clock.advance(3_600_000)
      await minute(clock, bare)
      expect((await bare.sallyport.dispatches.list()).items).toEqual([])
      await minute(clock, second)
      expect(second.email.sent.map(({ to }) => to)).toEqual(['ops@example.com'])
    })
  })
