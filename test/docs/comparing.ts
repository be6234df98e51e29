import { readFileSync } from 'node:fs'
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { expect } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { failover } from '../../src/channels/failover.ts'
import { log } from '../../src/channels/log.ts'
import { type FakeClock, fakeClock } from '../../src/contract-tests/index.ts'
import { MESSAGE_RETRIES } from '../../src/core/delivery/retry-schedule.ts'
import { createSallyport, defineEvents, type EventCatalog, type Sallyport } from '../../src/index.ts'
import type { Plugin } from '../../src/plugins/plugin.ts'
import { quietHours } from '../../src/policies/index.ts'
import type { SallyportStore } from '../../src/ports/sallyport-store.ts'
import { genaiPrices, litellmPrices, modelsDevPrices, priceBook } from '../../src/pricing/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { entries, ROOT } from '../support/entries.ts'

export const page: string = readFileSync(new URL('docs/comparison.md', ROOT), 'utf8')
const START = Date.parse('2026-03-02T08:00:00Z')
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** What a claim rests on. It throws if the claim is wrong. */
export type Proof = () => unknown

/** Statements about Sallyport in the tables of the page, `row: cell`. Those of a plugin are in its folder. */
export const IN_TABLES: Readonly<Record<string, Proof>> = {
  'runs: in process': async () => {
    const { sallyport } = host()
    await sallyport.dispatch(EVENT)
    expect(await sallyport.worker.runDue()).toMatchObject({ sent: 1 })
  },
  'keeps data in: your database': () => expect([...entries().keys()]).toContain('sallyport/storage/sql'),
  'push, chat: write a channel': () =>
    expect(publicNames()).not.toMatch(/\b(?:push|fcm|apns|chat|slack|teams|discord|telegram|whatsapp)\b/i),
  'inbox: no': () => expect(publicNames()).not.toMatch(/inbox/i),
  'workflow editor: no': () => expect(publicNames()).not.toMatch(/editor|workflow/i),
  'many recipients: one per call': async () => {
    const answer = await host().post('outbound/dispatch', { ...EVENT, recipient: ['u1', 'u2'] })
    expect(answer.status).toBe(422)
    expect(publicNames()).not.toMatch(/topic|audience|broadcast/i)
  },
  'digest: by key': async () => {
    const { sallyport, clock, calls } = host()
    for (const post of ['P-1', 'P-2', 'P-1'])
      await sallyport.dispatch({ eventType: 'comment.added', recipient: 'u1', eventData: { post } })
    await clock.advance(10 * MINUTE_MS)
    await sallyport.worker.runDue()
    expect(calls).toHaveLength(2)
  },
  'failed send: 8 retries, 30 min': async () => {
    const { sallyport, clock, calls } = host({ outcome: 'retry', code: 'busy' })
    await sallyport.dispatch(EVENT)
    await sallyport.worker.runDue()
    for (let minute = 0; minute < 120; minute++) {
      await clock.advance(MINUTE_MS)
      await sallyport.worker.runDue()
    }
    expect(calls).toHaveLength(1 + 8)
    const total = MESSAGE_RETRIES.reduce((sum, wait) => sum + wait, 0)
    expect(Math.round(total / (10 * MINUTE_MS)) * 10).toBe(30)
  },
  'failover: `failover()`': () => expect(failover).toBeTypeOf('function'),
  'repeated call: key, 24 h': async () => {
    const { post, clock } = host()
    const call = async (): Promise<unknown> => {
      const answer = await post('outbound/dispatch', EVENT, { 'idempotency-key': 'k1' })
      return Reflect.get(Object(await answer.json()), 'dispatchId')
    }
    const first = await call()
    await clock.advance(24 * HOUR_MS - 1)
    expect(await call()).toBe(first)
    await clock.advance(1)
    expect(await call()).not.toBe(first)
  },
  'quiet hours: waits': async () => {
    const policy = quietHours({ from: '07:00', to: '09:00', timeZone: 'UTC' })
    const verdict = await policy.decide({
      critical: false,
      channel: 'log',
      recipient: { id: 'u1' },
      at: START,
    } as never)
    expect(verdict).toEqual({ verdict: 'defer', until: START + HOUR_MS, for: 'quiet_hours' })
  },
  'your transaction: commits with it': async () => {
    const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: new Database(':memory:') }) })
    const store = sqlStore({ db, dialect: 'sqlite' })
    await store.migrate()
    const { sallyport } = host({ outcome: 'sent' }, { store })
    const inTransaction = (ending: () => void): Promise<void> =>
      db.transaction().execute(async (trx) => {
        await sallyport.dispatchOrThrow(EVENT, { store: store.within(trx) })
        ending()
      })
    await expect(inTransaction(() => expect.fail('the host rolls back'))).rejects.toThrow('the host rolls back')
    expect((await sallyport.dispatches.list()).items).toEqual([])
    await inTransaction(() => {})
    expect((await sallyport.dispatches.list()).items).toHaveLength(1)
    await db.destroy()
  },
  'is: a library': () => expect(createSallyport).toBeTypeOf('function'),
  'unit: a run': async () => expect(await (await host().post('agents/session/run', RUN)).json()).toHaveProperty('run'),
  'prompts, outputs: no': async () => {
    const { post, sallyport } = host()
    await post('agents/session/run', { ...RUN, run: { ...RUN.run, prompt: 'Hi', output: 'Hello' } })
    expect(JSON.stringify(await sallyport.runs.list())).not.toMatch(/Hi|Hello/)
  },
  'evaluations, scores: no': () => expect(publicNames()).not.toMatch(/evaluation|score/i),
  'people annotate: no': () => expect(publicNames()).not.toMatch(/annotat/i),
  'end before start: one record': async () => {
    const { post, sallyport } = host()
    await post('agents/session/run', { ...RUN, run: { ...RUN.run, seq: 2 } })
    await post('agents/session/run', { sessionId: 's1', run: { runId: 'r1', seq: 1, status: 'running' } })
    expect((await sallyport.runs.list()).items).toMatchObject([{ runId: 'r1', status: 'completed' }])
  },
  'sent twice: same record': async () => {
    const { post, sallyport } = host()
    const statuses = [await post('agents/session/run', RUN), await post('agents/session/run', RUN)].map((a) => a.status)
    expect(statuses).toEqual([201, 200])
    expect((await sallyport.runs.list({ sessionId: 's1' })).items).toHaveLength(1)
  },
  'prices: [published lists](prices.md), or yours': () => {
    for (const list of [genaiPrices, modelsDevPrices, litellmPrices, priceBook]) expect(list).toBeTypeOf('function')
  },
  'OpenTelemetry in: no': async () => {
    expect((await host().post('v1/traces', { resourceSpans: [] })).status).toBe(404)
    expect(publicNames()).not.toMatch(/otlp|spanProcessor/i)
  },
  'needs: your database': () => expect([...entries().keys()]).toContain('sallyport/storage/sql'),
}

/** Rows of the tables that compare Sallyport with others: the feature, Sallyport, the others. */
export function rows(): readonly (readonly string[])[] {
  const tables = page.split('\n\n').filter((block) => block.startsWith('| | Sallyport |'))
  const lines = tables.flatMap((table) => table.trim().split('\n').slice(2))
  return lines.map((line) => {
    const texts = line.split('|').slice(1, -1)
    return texts.map((text) => text.trim())
  })
}

/** `row: cell` of the column of Sallyport. */
export function cells(): readonly string[] {
  return rows().map(([feature, own]) => `${feature}: ${own}`)
}

export function publicNames(): string {
  return readFileSync(new URL('test/package/public-names.txt', ROOT), 'utf8')
}

export const EVENT = { eventType: 'order.shipped', recipient: 'u1' } as const
export const RUN = {
  sessionId: 's1',
  run: { runId: 'r1', status: 'completed', counts: { inputTokens: 20, outputTokens: 1 } },
}

const events: EventCatalog<Record<string, unknown>> = defineEvents({
  'order.shipped': { channels: { log: { text: () => 'Shipped' } } },
  'comment.added': {
    digest: { windowMs: 10 * MINUTE_MS, key: ({ data }) => String(Object(data).post) },
    channels: { log: { text: () => 'Comments' } },
  },
})

/** A host that the page speaks of. */
export interface ComparedHost<Plugins extends readonly Plugin[]> {
  readonly sallyport: Sallyport<Record<string, unknown>, Plugins>
  readonly clock: FakeClock
  /** Times of the sends. */
  readonly calls: readonly number[]
  get(path: string): Promise<Response>
  post(path: string, body: object, more?: Readonly<Record<string, string>>): Promise<Response>
}

/** A host whose only channel answers the same to every send. */
export function host<const Plugins extends readonly Plugin[] = readonly Plugin[]>(
  outcome: { outcome: 'sent' } | { outcome: 'retry'; code: string } = { outcome: 'sent' },
  options: { readonly plugins?: Plugins; readonly store?: SallyportStore } = {},
): ComparedHost<Plugins> {
  const clock = fakeClock(START)
  const calls: number[] = []
  const channel = {
    ...log(),
    async send() {
      calls.push(clock.now())
      return outcome
    },
  }
  const sallyport = createSallyport({
    auth: { verify: async () => ({ id: 'app', tenant: 'default', operations: ['dispatch', 'session_run', 'read'] }) },
    events,
    channels: { log: channel },
    store: memoryStore({ clock }),
    logger: { log() {} },
    clock,
    ...options,
  })
  const answer = toFetch(sallyport)
  const headers = { authorization: 'Bearer any', 'content-type': 'application/json' }
  return {
    sallyport,
    clock,
    calls,
    get: (path) => answer(new Request(`http://localhost/api/${path}`, { headers })),
    post: (path, body, more) =>
      answer(
        new Request(`http://localhost/api/${path}`, {
          method: 'POST',
          headers: { ...headers, ...more },
          body: JSON.stringify(body),
        }),
      ),
  }
}
