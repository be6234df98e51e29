import { CompiledQuery, type Kysely } from 'kysely'
import { toFetch } from '../../../src/adapters/fetch.ts'
import type { Sallyport, SallyportStore } from '../../../src/index.ts'
import { bucketOf } from '../../../src/model/histogram.ts'
import {
  fillDispatches,
  fillRuns,
  fillSessions,
  fillSuppressions,
  type ListFilling,
} from '../../storage/sql/list-fill.ts'
import { putRecords } from '../../support/records.ts'

export interface LargeStore {
  // biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
  readonly db: Kysely<any>
  readonly dialect: 'sqlite' | 'postgresql'
  readonly store: SallyportStore
  readonly deliveries: number
  readonly runs: number
}

/** Tenant of all rows. */
export const TENANT = 't'

/** A session with many runs, nested, and many dispatches. */
export const BUSY_SESSION = 'busy'

const [DUE, LATER] = [20_000, 50_000]

/** Writes rows for every screen: finished ones in SQL, and those that need a plan or a merge through the host. */
export async function fillLargeStore(large: LargeStore, sallyport: Sallyport): Promise<void> {
  const { db, dialect, store, deliveries, runs } = large
  const filling: ListFilling = { db, dialect, prefix: 'sallyport_', count: deliveries, wanted: 100 }
  await fillDispatches(filling)
  await fillRuns({ ...filling, count: runs })
  await fillSessions({ ...filling, count: runs })
  await fillSuppressions({ ...filling, count: 100_000 })
  for (let session = 0; session < 1_000; session++) await store.openSession(TENANT, `s${session}`)
  await inBatches(DUE, () => dispatch(sallyport, 0))
  await inBatches(LATER, () => dispatch(sallyport, 86_400_000))
  await fillBusySession(sallyport)
  await fillTokenUses(store)
  await fillStatistics(store)
  const expiresAt = Date.now() + 86_400_000
  const workers = Array.from({ length: 8 }, (_, worker) => `w${worker}`)
  await putRecords(
    store,
    ...workers.map((key) => ({ kind: 'heartbeats', tenant: '', key, sort: [], expiresAt, body: {} })),
  )
  if (dialect === 'postgresql') await db.executeQuery(CompiledQuery.raw('vacuum analyze'))
}

async function dispatch(sallyport: Sallyport, delayMs: number, sessionId?: string): Promise<void> {
  const event = { eventType: 'event5', recipient: 'r5', eventData: {}, ...(sessionId && { sessionId }) }
  const answer = await sallyport.dispatch(event, { tenant: TENANT, delayMs })
  if (!answer.ok) throw new Error(JSON.stringify(answer))
}

async function inBatches(count: number, act: (at: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += 200)
    await Promise.all(Array.from({ length: Math.min(200, count - from) }, (_, at) => act(from + at)))
}

async function fillBusySession(sallyport: Sallyport): Promise<void> {
  const answerTo = toFetch(sallyport)
  const startedAt = Date.now() - 3_600_000
  await inBatches(5_000, async (at) => {
    const run = {
      ...{ runId: `run${at}`, status: at % 50 === 0 ? 'failed' : 'completed', provider: 'openai', model: `m${at % 4}` },
      ...(at > 0 && { parentRunId: `run${Math.floor((at - 1) / 8)}` }),
      timings: { startedAt: startedAt + at * 500, endedAt: startedAt + at * 500 + 400 },
      counts: { inputTokens: 1_200, outputTokens: 300 },
      metadata: { step: `step ${at}` },
    }
    const answer = await answerTo(
      new Request('http://127.0.0.1/api/agents/session/run', {
        method: 'POST',
        headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId: BUSY_SESSION, run }),
      }),
    )
    if (!answer.ok) throw new Error(await answer.text())
  })
  await inBatches(1_000, () => dispatch(sallyport, 86_400_000, BUSY_SESSION))
}

/** A name and a time, as plugins sort by them. */
function timed(name: string, at: number): string {
  return (name && `${name.length}:${name}`) + String(at).padStart(16, '0')
}

async function fillTokenUses(store: SallyportStore): Promise<void> {
  await inBatches(1_000, async (batch) => {
    const uses = Array.from({ length: 100 }, (_, at) => {
      const usedAt = Date.now() - batch * 1_000 - at
      const names = ['', `jti${batch % 500}`, `s${at}`, at % 20 === 0 ? 'refused' : 'accepted']
      return {
        ...{ kind: 'token_uses', tenant: TENANT, key: `use${batch}-${at}`, expiresAt: usedAt },
        sort: names.map((name) => timed(name, usedAt)),
        body: { operation: 'session_run', times: 1 },
      }
    })
    await putRecords(store, ...uses)
  })
}

/** Ten processes: two days of minutes, ninety days of hours, and four hundred days. */
async function fillStatistics(store: SallyportStore): Promise<void> {
  const now = Date.now()
  const latencies = Array.from({ length: 24 }, (_, at) => [bucketOf(20 + at * at * 8), 1])
  const counts = {
    ...{ accepted: 10, sent: 9, retried: 1, runs: 4, tokens: 6_000 },
    ...{ failed: { provider_rejected: 1 }, skipped: { opted_out: 1 }, ended: { completed: 4 } },
    ...{ latencies: Object.fromEntries(latencies), cost: { USD: '0.04' } },
  }
  for (const [step, ms, buckets] of [
    ['minute', 60_000, 2_880],
    ['hour', 3_600_000, 2_160],
    ['day', 86_400_000, 400],
  ] as const)
    await inBatches(buckets, async (at) => {
      const startsAt = now - (now % ms) - at * ms
      const row = { kind: 'statistics', tenant: TENANT, sort: [], body: { revision: 1, counts } }
      const keys = Array.from({ length: 10 }, (_, process) => `${timed(step, startsAt)}c${process}`)
      await putRecords(store, ...keys.map((key) => ({ ...row, key, expiresAt: now + 400 * 86_400_000 })))
    })
}
