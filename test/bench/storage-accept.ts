import type { Acceptance, DispatchStore } from 'sallyport'
import { sqlStore } from 'sallyport/storage/sql'
import type { BenchDatabase } from './storage-databases.ts'
import { inFlight, sideBySide } from './storage-measure.ts'
import { acceptance, bareInserts, bareRows } from './storage-rows.ts'

const BARE = bareInserts('bare_', (number) => `$${number}`)

/** A dispatch with two deliveries and a key, accepted by the store and by hand: the same rows in tables of the same kind. */
export async function benchAccept({ pool, kysely }: BenchDatabase): Promise<void> {
  const store = sqlStore({ db: kysely, dialect: 'postgresql' })
  await store.migrate()
  await sqlStore({ db: kysely, dialect: 'postgresql', prefix: 'bare_' }).migrate()

  async function byHand(accepted: Acceptance): Promise<void> {
    const client = await pool.connect()
    try {
      await client.query({ name: 'begin', text: 'begin' })
      for (const [at, values] of bareRows(accepted).entries())
        await client.query({ name: `insert-${at}`, text: BARE[at] ?? '', values: [...values] })
      await client.query({ name: 'commit', text: 'commit' })
    } finally {
      client.release()
    }
  }

  for (const places of [1, 50]) {
    const amount = places === 1 ? 300 : 3_000
    await sideBySide(`PostgreSQL: accept, ${places} in flight`, 9, {
      store: () => inFlight(amount, places, () => accepted(store)),
      'by hand, bare pg: begin, 3 inserts, commit': () => inFlight(amount, places, () => byHand(acceptance())),
    })
  }
}

/** Accepts one. */
export async function accepted(store: DispatchStore): Promise<void> {
  const { outcome } = await store.accept(acceptance())
  if (outcome !== 'accepted') throw new Error(`it was ${outcome}`)
}
