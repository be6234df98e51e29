import { loadavg } from 'node:os'
import type { ClaimRequest } from 'sallyport'
import { type SqlStore, sqlStore } from 'sallyport/storage/sql'
import { median, ratios, spread } from './measure.ts'
import type { BenchDatabase } from './storage-databases.ts'
import { fill } from './storage-fill.ts'

const ROUNDS = 9
const CLAIMS = 8
const AT_ONCE = 50
const BUSY = [{ channel: 'none', concurrencyKey: 'dead' }]

/** Cost of a claim, by the number of waiting deliveries, and with a busy receiver at the head. */
export async function benchClaim({ pool, kysely }: BenchDatabase, isLong: boolean): Promise<void> {
  const many = isLong ? 1_000_000 : 100_000
  const passed = isLong ? 100_000 : 10_000
  const stores: Record<string, { store: SqlStore; busy: ClaimRequest['busy'] }> = {}
  async function add(name: string, prefix: string, busy: ClaimRequest['busy'] = []): Promise<void> {
    const store = sqlStore({ db: kysely, dialect: 'postgresql', prefix, timeoutMs: 30_000 })
    await store.migrate()
    if (busy.length > 0) await fill(pool, { prefix, count: passed, concurrencyKey: 'dead', sinceMs: 3_600_000 })
    await fill(pool, { prefix, count: prefix === 'many_' ? many : 1_000 })
    stores[name] = { store, busy }
  }
  await add('1,000 waiting', 'few_')
  await add(`${many.toLocaleString('en')} waiting`, 'many_')
  await add(`1,000, behind ${passed.toLocaleString('en')} of a busy receiver`, 'passed_', BUSY)
  const times: Record<string, number[]> = {}
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, { store, busy }] of Object.entries(stores)) {
      const ms = await claims(store, busy)
      times[name] ??= []
      if (round >= 0) times[name].push(ms)
    }
  }
  const [base = []] = Object.values(times)
  console.log(`\nPostgreSQL: claim ${AT_ONCE}, ms a claim, ratio to the first; load ${loadavg()[0]?.toFixed(1)}`)
  for (const [name, values] of Object.entries(times))
    console.log(`  ${name.padEnd(44)} ${median(values).toFixed(2).padStart(7)} ms   ${spread(ratios(values, base))}`)
}

/** The median of some claims. Requeuing the leased deliveries is not measured. */
async function claims(store: SqlStore, busy: ClaimRequest['busy']): Promise<number> {
  const times: number[] = []
  for (let claim = 0; claim < CLAIMS; claim++) {
    const since = performance.now()
    const { deliveries } = await store.claim({ leaseMs: 30_000, limits: { none: AT_ONCE }, busy })
    times.push(performance.now() - since)
    if (deliveries.length !== AT_ONCE) throw new Error(`${deliveries.length} were claimed`)
    await Promise.all(
      deliveries.map(({ deliveryId, fence }) => store.settle({ deliveryId, fence, to: 'queued', delayMs: 0 })),
    )
  }
  return median(times)
}
