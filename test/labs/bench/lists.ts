import type { DispatchQuery, RunQuery } from 'sallyport'
import { sqlStore } from 'sallyport/storage/sql'
import { databaseKinds } from '../../storage/databases.ts'
import { fillDispatches, fillRuns, type ListFilling } from '../../storage/sql/list-fill.ts'
import { stopPostgres } from '../../support/shared-postgres.ts'

/**
 * `-- lists 1000000 sqlite`: number of dispatches and runs, and the database. Default: a million, in all available
 * databases.
 */
const COUNT = Number(process.argv[3] ?? 1_000_000)
const ONLY = process.argv[4]
const LIMIT = 50
const WANTED = 120
const ROUNDS = 15

const DISPATCHES: readonly Omit<DispatchQuery, 'tenant' | 'limit'>[] = [
  {},
  { status: 'failed' },
  { status: 'sent' },
  { eventType: 'wanted' },
  { recipient: 'wanted' },
  { sessionId: 'wanted' },
  { status: 'failed', eventType: 'wanted' },
]

const RUNS: readonly Omit<RunQuery, 'limit'>[] = [
  {},
  { status: ['failed'] },
  { status: ['failed', 'running', 'expired'] },
  { provider: 'wanted' },
  { model: 'wanted' },
  { userId: 'wanted' },
  { tag: 'wanted' },
]

/** Time of the first page of a list with one filter. The matching rows are the oldest. */
export async function benchLists(): Promise<void> {
  console.log(`\nLists: milliseconds for the first ${LIMIT} of ${COUNT}, of which ${WANTED} fit and are the oldest`)
  for (const kind of await databaseKinds()) {
    if (kind.absent || (ONLY && ONLY !== kind.name)) continue
    const database = await kind.open()
    const db = database.connect()
    try {
      const store = sqlStore({ db, dialect: kind.name, timeoutMs: 600_000 })
      await store.migrate()
      const filling: ListFilling = { db, dialect: kind.name, prefix: 'sallyport_', count: COUNT, wanted: WANTED }
      await fillDispatches(filling)
      for (const filter of DISPATCHES)
        await measure(`${kind.name}: dispatches ${JSON.stringify(filter)}`, () =>
          store.listDispatches({ tenant: 't', limit: LIMIT, ...filter }),
        )
      await fillRuns(filling)
      for (const filter of RUNS)
        await measure(`${kind.name}: runs ${JSON.stringify(filter)}`, () =>
          store.listRuns({ tenant: 't', limit: LIMIT, first: 'newest', ...filter }),
        )
    } finally {
      await database.close()
    }
  }
  await stopPostgres()
}

async function measure(what: string, read: () => Promise<{ readonly items: readonly unknown[] }>): Promise<void> {
  const times: number[] = []
  let items = 0
  for (let round = 0; round < ROUNDS; round++) {
    const since = performance.now()
    items = (await read()).items.length
    times.push(performance.now() - since)
  }
  const [lowest = 0, ...rest] = times.sort((one, other) => one - other)
  const median = [lowest, ...rest][Math.floor(ROUNDS / 2)] ?? 0
  console.log(
    `  ${what}: ${median.toFixed(1)} (${lowest.toFixed(1)}-${(rest.at(-1) ?? 0).toFixed(1)}), ${items} on the page`,
  )
}
