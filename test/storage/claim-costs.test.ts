import type { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ClaimedDelivery } from '../../src/ports/dispatch-store.ts'
import { type SqlStore, sqlStore } from '../../src/storage/sql.ts'
import { drainTexts, fillTexts } from '../support/fill-deliveries.ts'
import { databaseKinds, type TestDatabase } from './databases.ts'
import { meterOf, pagesOf, rowsOf, workOf } from './work-meter.ts'

const NOW = 1_800_000_000_000
const EARLIER = NOW - 60_000
const [FEW, MANY] = [100, 20_000]
const CLAIMED = 5

/** A store over tables of its own, whose statistics nobody renews. */
interface Trial {
  readonly store: SqlStore
  fill(count: number): Promise<void>
  drain(): Promise<void>
  analyze(): Promise<void>
  /** @param at Default: long after everything else. */
  claim(at?: number): Promise<readonly ClaimedDelivery[]>
  /** Another transaction sees everything as it is now, to the end of the trial. */
  holdSnapshot(): Promise<void>
}

/** What a worker meets. Its connection has planned its claims before anything else. */
const STATES: Readonly<Record<string, (trial: Trial, count: number) => Promise<void>>> = {
  async 'tables that were never analyzed'(trial, count) {
    await trial.claim(EARLIER)
    await trial.fill(count)
  },
  async 'tables that were analyzed when they were empty'(trial, count) {
    await trial.analyze()
    await trial.claim(EARLIER)
    await trial.fill(count)
  },
  async 'a burst onto a drained table that was analyzed'(trial, count) {
    await trial.fill(count)
    await trial.drain()
    await trial.analyze()
    await trial.claim(EARLIER)
    await trial.fill(count)
  },
  async 'a full table that was analyzed'(trial, count) {
    await trial.fill(count)
    await trial.analyze()
  },
  async 'a backlog that is drained while a transaction holds an old snapshot'(trial, count) {
    await trial.fill(count)
    await trial.holdSnapshot()
    await trial.drain()
    await trial.fill(count)
  },
  async 'a table that was drained while a transaction holds an old snapshot'(trial, count) {
    await trial.fill(count)
    await trial.holdSnapshot()
    await trial.drain()
    await trial.fill(3 * CLAIMED)
  },
}

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent ?? (kind.name === 'sqlite' && 'it has plans, and counts nothing'))(
    `a claim on ${kind.name}`,
    () => {
      let database: TestDatabase
      let prefixes = 0
      beforeAll(async () => {
        database = await kind.open()
      }, 60_000)
      afterAll(() => database.close())

      /** What one claim reads of so many that wait, once the process has claimed. */
      async function costOf(prepare: (trial: Trial, count: number) => Promise<void>, count: number): Promise<number> {
        const statements: CompiledQuery[] = []
        const db = database.connect({ connections: 1, log: ({ query }) => void statements.push(query) })
        const held = database.connect({ connections: 1 })
        const prefix = `c${++prefixes}_`
        let now = NOW
        const store = sqlStore({ db, dialect: kind.name, prefix, clock: { now: () => now }, timeoutMs: 5_000 })
        await store.migrate()
        const tables = ['deliveries', 'dispatches'].map((table) => `${prefix}${table}`)
        if (kind.name === 'postgresql')
          for (const table of tables) await rowsOf(db, `alter table ${table} set (autovacuum_enabled = false)`)
        else for (const table of tables) await rowsOf(db, `alter table ${table} stats_auto_recalc = 0`)
        let fillings = 0
        const all = async (texts: readonly string[]): Promise<void> => {
          for (const text of texts) await rowsOf(db, text)
        }
        const trial: Trial = {
          store,
          fill: (amount) =>
            all(
              fillTexts(kind.name, {
                prefix,
                name: `${fillings + 1}`,
                count: amount,
                until: NOW - 30_000 + 10_000 * ++fillings,
                channel: 'a',
              }),
            ),
          drain: () => all(drainTexts(prefix, EARLIER)),
          analyze: () => all(kind.name === 'postgresql' ? ['analyze'] : [`analyze table ${tables.join(', ')}`]),
          async claim(at = NOW) {
            now = at
            return (await store.claim({ leaseMs: 30_000, limits: { a: CLAIMED }, busy: [] })).deliveries
          },
          async holdSnapshot() {
            const begun = {
              postgresql: 'begin isolation level repeatable read',
              mariadb: 'start transaction with consistent snapshot',
            }
            await rowsOf(held, begun[kind.name as keyof typeof begun])
            await rowsOf(held, `select count(*) from ${tables[0]}`)
          },
        }
        await prepare(trial, count)
        expect(await trial.claim()).toHaveLength(CLAIMED)
        const meter = meterOf(kind.name, db)
        statements.length = 0
        const work = await workOf(meter, async () => expect(await trial.claim()).toHaveLength(CLAIMED))
        const pages = kind.name === 'mariadb' ? await pagesOf(db, [...statements]) : 0
        await held.destroy()
        await db.destroy()
        return work + pages
      }

      for (const [state, prepare] of Object.entries(STATES))
        it(`reads as much of ${MANY} that wait as of ${FEW}: ${state}`, async () => {
          const few = await costOf(prepare, FEW)
          const many = await costOf(prepare, MANY)
          expect(many).toBeGreaterThan(0)
          // Pages: a deeper tree, and some hundred dead entries a page that are not purged yet.
          expect(many).toBeLessThanOrEqual(kind.name === 'mariadb' ? 2 * few + MANY / 100 : few + 60)
        }, 120_000)
    },
  )
