import { parseArgs } from 'node:util'
import type { Kysely } from 'kysely'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { createSallyport, defineEvents } from '../../../src/index.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { openSqlite } from '../../storage/databases.ts'
import {
  fillDispatches,
  fillRuns,
  fillSessions,
  fillSuppressions,
  type ListFilling,
} from '../../storage/sql/list-fill.ts'
import { withDatabase } from '../bench/storage-databases.ts'

/**
 * Measures the server time of every read of the console on a large database:
 * `npm run console-reads -- --on postgresql --deliveries 10000000 --runs 1000000`.
 */
const { values } = parseArgs({
  options: {
    on: { type: 'string', default: 'sqlite' },
    deliveries: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '100000' },
    times: { type: 'string', default: '200' },
  },
})
const [deliveries, runs, times] = [Number(values.deliveries), Number(values.runs), Number(values.times)]

const AIM_MS = 200

const READS = [
  'outbound/stats?window=1h&step=1m',
  'outbound/stats?window=24h&step=30m',
  'outbound/stats?window=90d&step=1d',
  'outbound/dispatches',
  'outbound/dispatches?status=failed',
  'outbound/dispatches?status=sent',
  'outbound/dispatches?status=queued',
  'outbound/dispatches?eventType=event5',
  'outbound/dispatches?recipient=r5',
  'outbound/dispatches?channel=a',
  'outbound/dispatches?channel=none',
  'outbound/dispatches?sessionId=s5',
  'outbound/dispatches/d100000005?content=true',
  'outbound/events',
  'outbound/suppressions',
  'outbound/suppressions?reason=complained',
  'agents/sessions',
  'agents/sessions/s5',
  'agents/budgets?sessionId=s5',
  'agents/runs',
  'agents/runs?status=failed',
  'agents/runs?status=completed&model=m5',
  'agents/runs?userId=u5',
  'agents/runs?tag=wanted',
  'agents/sessions/s5/runs/r100000005',
  'agents/tokens/uses',
]

// biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
async function measure(db: Kysely<any>, dialect: 'sqlite' | 'postgresql'): Promise<void> {
  const store = sqlStore({ db, dialect, timeoutMs: 60_000 })
  await store.migrate()
  const filling: ListFilling = { db, dialect, prefix: 'sallyport_', count: deliveries, wanted: 100 }
  const started = Date.now()
  await fillDispatches(filling)
  await fillRuns({ ...filling, count: runs })
  await fillSessions({ ...filling, count: runs })
  await fillSuppressions({ ...filling, count: 100_000 })
  await fillStatistics()
  if (dialect === 'postgresql')
    await db.executeQuery({ sql: 'analyze', parameters: [], query: { kind: 'RawNode' } } as never)
  console.log(
    `${dialect}: ${deliveries} deliveries, ${runs} runs and sessions, filled in ${Math.round((Date.now() - started) / 1_000)} s`,
  )

  const sallyport = createSallyport({
    ...{ auth: { verify: async () => ({ id: 'x', tenant: 't' }) }, store, logger: { log() {} } },
    events: defineEvents({ event5: { channels: { a: { text: () => 'x' } } } }),
    channels: { a: { address: ({ id }) => id, send: async () => ({ outcome: 'sent' }) } },
    suppressions: { keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }] },
  })
  const built = new URL('../../../dist/console.js', import.meta.url).href
  const { createConsole }: typeof import('../../../src/console/index.ts') = await import(built)
  const answer = toFetch(createConsole(sallyport, { access: () => ({ access: 'read', tenant: 't' }) }))
  let slowest = 0
  for (const path of READS) {
    const took: number[] = []
    let status = 0
    for (let time = 0; time < times; time++) {
      const from = performance.now()
      const answered = await answer(new Request(`http://127.0.0.1/api/${path}`))
      took.push(performance.now() - from)
      status = answered.status
    }
    took.sort((one, other) => one - other)
    const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(share * took.length))] ?? 0
    slowest = Math.max(slowest, at(0.99))
    console.log(
      `${path.padEnd(52)} ${status}  p50 ${at(0.5).toFixed(1).padStart(7)} ms  p99 ${at(0.99).toFixed(1).padStart(7)} ms`,
    )
  }
  console.log(`slowest p99: ${slowest.toFixed(1)} ms, aim ${AIM_MS}`)

  /** Four processes: two days of minutes, and ninety of hours. */
  async function fillStatistics(): Promise<void> {
    const now = Date.now()
    for (const [step, ms, count] of [
      ['minute', 60_000, 2_880],
      ['hour', 3_600_000, 2_160],
    ] as const)
      for (let at = 0; at < count; at += 25) {
        const rows = Array.from({ length: 100 }, (_, index) => ({
          ...{ tenant: 't', step, startsAt: now - (now % ms) - (at + Math.floor(index / 4)) * ms },
          ...{ counterId: `process${index % 4}`, revision: 1, keptForMs: 90 * 86_400_000 },
          counts: {
            accepted: 10,
            sent: 9,
            retried: 1,
            failed: { provider_rejected: 1 },
            skipped: {},
            latencies: { '40ms': 9 },
          },
        }))
        await store.putStatistics(rows)
      }
  }
}

if (values.on === 'postgresql') await withDatabase(({ kysely }) => measure(kysely, 'postgresql'))
else {
  const database = await openSqlite()
  await measure(database.connect(), 'sqlite')
  await database.close()
}
