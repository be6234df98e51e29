import { CompiledQuery } from 'kysely'
import { sqlStore } from 'sallyport/storage/sql'
import { fillTexts } from '../../support/fill-deliveries.ts'
import { median } from './measure.ts'
import { type BenchDatabase, isThere, POSTGRES_URL, withDatabase } from './storage-databases.ts'
import { contentText } from './storage-rows.ts'

/** Minutes of the drain: `--minutes=10`. */
const MINUTES = Number(process.argv.find((argument) => argument.startsWith('--minutes='))?.slice(10) ?? 1)
const A_MINUTE = 5_000
const COUNT = MINUTES * A_MINUTE
const PAUSE_MS = 200
const AT_ONCE = Math.ceil((A_MINUTE / 60_000) * PAUSE_MS)

/**
 * Two backlogs on PostgreSQL are drained at the same pace, in turns. During one of them a transaction keeps a snapshot from before, as a
 * backup does: nothing that the drain leaves can be vacuumed.
 */
export async function benchHeldSnapshot(): Promise<void> {
  if (!(await isThere(POSTGRES_URL, 5432))) return
  console.log(
    `\nA held snapshot: ${COUNT} deliveries in ${MINUTES} minutes, milliseconds per claim and its settlements`,
  )
  await withDatabase((held) => withDatabase((free) => compare(held, free)))
}

async function compare(held: BenchDatabase, free: BenchDatabase): Promise<void> {
  const drains = [await drainOf(held), await drainOf(free)] as const
  const holder = await held.pool.connect()
  await holder.query('begin isolation level repeatable read')
  await holder.query('select count(*) from sallyport_jobs')
  const times: [held: number[], free: number[]] = [[], []]
  for (let done = 0; done < COUNT; done += AT_ONCE) {
    const since = performance.now()
    for (const [at, drain] of drains.entries()) times[at as 0 | 1].push(await drain())
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, PAUSE_MS - (performance.now() - since))))
  }
  const tenth = Math.ceil(times[0].length / 10)
  const [first, last] = [
    times.map((of) => median(of.slice(0, tenth))),
    times.map((of) => median(of.slice(-tenth))),
  ] as const
  for (const [name, [one = 0, other = 0]] of [
    ['first tenth', first],
    ['last tenth', last],
  ] as const)
    console.log(`  ${name.padEnd(12)} held ${one.toFixed(1)}, free ${other.toFixed(1)}: ${(one / other).toFixed(2)}`)
  await holder.query('rollback')
  holder.release()
}

/** Fills a backlog. @returns A function that claims and settles some of it, and returns the time that this took. */
async function drainOf({ kysely }: BenchDatabase): Promise<() => Promise<number>> {
  const store = sqlStore({ db: kysely, dialect: 'postgresql', timeoutMs: 60_000 })
  await store.migrate()
  const filling = { prefix: 'sallyport_', name: 'held', count: COUNT, until: Date.now(), channel: 'none' }
  for (const text of fillTexts('postgresql', { ...filling, content: contentText('email') }))
    await kysely.executeQuery(CompiledQuery.raw(text))
  return async () => {
    const since = performance.now()
    const { deliveries } = await store.claim({ leaseMs: 30_000, limits: { none: AT_ONCE }, busy: [] })
    await Promise.all(
      deliveries.map(({ deliveryId, fence }) =>
        store.settle({ deliveryId, fence, to: 'sent', attempt: { outcome: 'sent' } }),
      ),
    )
    return performance.now() - since
  }
}
