import type { Acceptance, DispatchStore } from 'sallyport'
import { sqlStore } from 'sallyport/storage/sql'
import type { BenchDatabase } from './storage-databases.ts'
import { inFlight, sideBySide } from './storage-measure.ts'
import { acceptance, bareInserts, bareRows } from './storage-rows.ts'

const BARE = bareInserts('bare_', (number) => `$${number}`)

/** A dispatch with two deliveries and a key, accepted by the store and by hand-written inserts of the same rows. */
export async function benchAccept({ pool, kysely }: BenchDatabase): Promise<void> {
  const store = sqlStore({ db: kysely, dialect: 'postgresql' })
  const preparing = sqlStore({ db: kysely, dialect: 'postgresql', preparedStatements: true })
  await store.migrate()
  await sqlStore({ db: kysely, dialect: 'postgresql', prefix: 'bare_' }).migrate()

  async function byHand(accepted: Acceptance, prepared: boolean): Promise<void> {
    const query = (name: string, text: string, values: readonly unknown[] = []) =>
      client.query({ text, values: [...values], ...(prepared && { name }) })
    const client = await pool.connect()
    try {
      await query('begin', 'begin')
      for (const [at, values] of bareRows(accepted).entries()) await query(`insert-${at}`, BARE[at] ?? '', values)
      await query('commit', 'commit')
    } finally {
      client.release()
    }
  }

  // One at a time comes last, when all code is compiled, as in a long-running process.
  for (const places of [50, 1]) {
    const amount = places === 1 ? 500 : 3_000
    await sideBySide(`PostgreSQL: accept, ${places} in flight`, 9, {
      store: () => inFlight(amount, places, () => accepted(store)),
      'store, prepared statements': () => inFlight(amount, places, () => accepted(preparing)),
      'bare pg: begin, 3 inserts, commit': () => inFlight(amount, places, () => byHand(acceptance(), false)),
      'the same, each a prepared statement': () => inFlight(amount, places, () => byHand(acceptance(), true)),
    })
  }
}

/** Accepts one dispatch. */
export async function accepted(store: DispatchStore): Promise<void> {
  const { outcome } = await store.accept(acceptance())
  if (outcome !== 'accepted') throw new Error(`it was ${outcome}`)
}
