import { parseArgs } from 'node:util'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { createSallyport, defineEvents, type EventCatalog } from '../../../src/index.ts'
import { systemClock } from '../../../src/runtime/system-clock.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { everyPlugin } from '../../support/every-plugin.ts'
import { processorTime } from '../bench/measure.ts'
import { withDatabase, withSqlite } from '../bench/storage-databases.ts'
import { BUSY_SESSION, fillLargeStore, TENANT } from './large-store.ts'

/**
 * Measures the server time of every read of the console on a large database:
 * `npm run console-reads -- --on postgresql --deliveries 10000000 --runs 1000000`. With `--url`, it uses and keeps that PostgreSQL
 * database, and fills it only if it is empty.
 */
const { values } = parseArgs({
  options: {
    on: { type: 'string', default: 'sqlite' },
    deliveries: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '100000' },
    times: { type: 'string', default: '200' },
    url: { type: 'string' },
  },
})
const [deliveries, runs, times] = [Number(values.deliveries), Number(values.runs), Number(values.times)]

const AIM_MS = 200

/** A path, or a path and the body of a POST. */
type Read = string | readonly [path: string, body: object]

/** The reads, by the number of the request: each asks for other rows. */
const READS: readonly ((at: number) => Read)[] = [
  () => 'outbound/stats?window=1h&step=1m',
  () => 'outbound/stats?window=6h&step=5m',
  () => 'outbound/stats?window=24h&step=1h',
  () => 'outbound/stats?window=7d&step=6h',
  () => 'outbound/stats?window=90d&step=1d',
  () => 'outbound/dispatches',
  (at) => `outbound/dispatches?until=${1_700_000_000_000 + at * 1_000}`,
  () => 'outbound/dispatches?status=failed',
  () => 'outbound/dispatches?status=sent',
  () => 'outbound/dispatches?status=queued',
  () => 'outbound/dispatches?status=partial',
  (at) => `outbound/dispatches?eventType=event${at}`,
  (at) => `outbound/dispatches?recipient=r${at}`,
  () => 'outbound/dispatches?recipient=nobody',
  () => 'outbound/dispatches?channel=a',
  () => 'outbound/dispatches?channel=none',
  () => 'outbound/dispatches?reason=provider_rejected',
  () => 'outbound/dispatches?reason=opted_out',
  () => 'outbound/dispatches?reason=provider_rejected&status=failed',
  (at) => `outbound/dispatches?reason=opted_out&eventType=event${at}`,
  (at) => ['outbound/recipients/find', { recipient: `r${at}` }],
  () => ['outbound/recipients/find', { recipient: 'nobody@example.com' }],
  () => ['outbound/suppressions/find', { channel: 'a', address: 'ada@example.com' }],
  (at) => `outbound/dispatches?sessionId=s${at}`,
  (at) => `outbound/dispatches?sessionId=s${at}&status=failed`,
  (at) => `outbound/dispatches?eventType=event${at}&status=failed`,
  (at) => `outbound/dispatches?recipient=r${at}&eventType=event${at + 1}&channel=none`,
  (at) => `outbound/dispatches/d${100_000_105 + at * 4_001}?content=true`,
  () => 'outbound/events',
  () => 'outbound/suppressions',
  () => 'outbound/suppressions?reason=complained',
  () => 'outbound/suppressions?channel=none',
  () => 'agents/sessions',
  (at) => `agents/sessions/s${at}`,
  () => `agents/sessions/${BUSY_SESSION}`,
  () => `agents/sessions/${BUSY_SESSION}/timeline?limit=100`,
  (at) => `agents/sessions/s${at}/timeline?limit=100`,
  (at) => `agents/sessions/s${at}/runs?limit=100`,
  (at) => `agents/budgets?sessionId=s${at}`,
  () => 'agents/runs',
  () => 'agents/runs?status=failed',
  (at) => `agents/runs?status=completed&model=m${at}`,
  (at) => `agents/runs?userId=u${at}&status=failed`,
  (at) => `agents/runs?provider=p${at}&model=m${at + 1}`,
  () => 'agents/runs?tag=wanted',
  () => 'agents/runs?tag=none',
  (at) => `agents/sessions/s${at % 1_000}/runs/r${100_001_000 + at}`,
  () => 'agents/tokens/uses',
  (at) => `agents/tokens/uses?jti=jti${at}`,
  () => 'agents/tokens/uses?outcome=refused',
  (at) => `agents/tokens/uses?sessionId=s${at % 100}&outcome=refused`,
]

// biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
async function measure(db: Kysely<any>, dialect: 'sqlite' | 'postgresql'): Promise<void> {
  const store = sqlStore({ db, dialect, timeoutMs: 60_000 })
  await store.migrate()
  const events: EventCatalog<Record<string, unknown>> = defineEvents({
    event5: { channels: { a: { text: () => 'x' } } },
  })
  let aheadMs = 0
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
  const sallyport = createSallyport({
    clock,
    ...{ auth: { verify: async () => ({ id: 'x', tenant: TENANT }) }, store, logger: { log() {} } },
    events,
    channels: { a: { address: ({ id }) => id, send: async () => ({ outcome: 'sent' }) } },
    plugins: everyPlugin({ alerts: { budgets: [{ name: 'session', per: 'session', hard: { tokens: 20_000 } }] } }),
  })
  const { items } = await store.listDispatches({ tenant: TENANT, limit: 1 })
  if (items.length === 0) {
    const started = Date.now()
    await fillLargeStore({ db, dialect, store, deliveries, runs }, sallyport)
    const seconds = Math.round((Date.now() - started) / 1_000)
    console.log(`${dialect}: ${deliveries} deliveries, ${runs} runs and sessions, filled in ${seconds} s`)
  }

  const built = new URL('../../../dist/console.js', import.meta.url).href
  const { createConsole }: typeof import('../../../src/console/index.ts') = await import(built)
  const answer = toFetch(createConsole(sallyport, { access: () => ({ access: 'read', tenant: TENANT }) }))
  let slowest = 0
  for (const readOf of READS) {
    const took: number[] = []
    const statuses = new Set<number>()
    const hadBefore = processorTime()
    for (let at = 0; at < times; at++) {
      // Answers are shared for a second.
      aheadMs += 1_000
      const from = performance.now()
      const answered = await answer(requestOf(readOf(at)))
      await answered.text()
      took.push(performance.now() - from)
      statuses.add(answered.status)
    }
    const processor = ((processorTime() - hadBefore) / times).toFixed(1).padStart(6)
    took.sort((one, other) => one - other)
    const [p50, p99, most] = [0.5, 0.99, 1].map((share) => took[Math.ceil(share * took.length) - 1] ?? 0)
    slowest = Math.max(slowest, p99 ?? 0)
    const shown = [p50, p99, most].map((ms) => (ms ?? 0).toFixed(1).padStart(7))
    const status = [...statuses].join(' ')
    const time = `p50 ${shown[0]}  p99 ${shown[1]}  max ${shown[2]}  processor ${processor}`
    console.log(`${[readOf(7)].flat()[0]?.toString().padEnd(64)} ${status}  ${time} ms`)
  }
  console.log(`slowest p99: ${slowest.toFixed(1)} ms, aim ${AIM_MS}`)
}

function requestOf(read: Read): Request {
  const [path, body] = typeof read === 'string' ? [read] : read
  const url = `http://127.0.0.1/api/${path}`
  if (body === undefined) return new Request(url)
  const headers = { 'content-type': 'application/json', 'x-sallyport-console': '1', 'sec-fetch-site': 'same-origin' }
  return new Request(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

if (values.on === 'sqlite') await withSqlite((db) => measure(db, 'sqlite'))
else if (values.url === undefined) await withDatabase(({ kysely }) => measure(kysely, 'postgresql'))
else {
  const pool = new pg.Pool({ connectionString: values.url })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  await measure(db, 'postgresql')
  await db.destroy()
}
