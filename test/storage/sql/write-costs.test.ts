import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Acceptance } from '../../../src/ports/dispatch-store.ts'
import { type SqlStore, sqlStore } from '../../../src/storage/sql/index.ts'
import { type PostgresServer, postgresAt, postgresServer } from '../../support/postgres-server.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { acceptance, claim, delivery, HOUR, lease } from '../storing.ts'

const IN_FLIGHT = 50
const ROUNDS = 20
/** A message of 1 kB. */
const CONTENT = { subject: 'Order A-1001 shipped', html: 'Thank you for your order. '.repeat(37) }
/** Room above the figures that were measured. */
const ROOM = 1.05

interface Cost {
  /** Bytes of write-ahead log, without images of pages. */
  readonly walBytes: number
  /** Entries inserted into indexes. */
  readonly indexEntries: number
}

const EVENTS: Readonly<
  Record<string, { readonly more: (id: string) => Partial<Acceptance>; readonly measured: Cost }>
> = {
  'an event': { more: () => ({}), measured: { walBytes: 4_200, indexEntries: 13.99 } },
  'an event with an idempotency key': {
    more: (id) => ({ idempotency: { key: id, fingerprint: '4bf92f3577b34da6'.repeat(4), ttlMs: HOUR } }),
    measured: { walBytes: 5_900, indexEntries: 15.98 },
  },
  'an event of a session': { more: () => ({}), measured: { walBytes: 4_390, indexEntries: 14.97 } },
}

describe('the cost of a delivery of 1 kB in PostgreSQL, from its acceptance to its end, 50 in flight', () => {
  let server: PostgresServer
  let admin: pg.Client
  let db: Kysely<unknown>
  let store: SqlStore
  let ids = 0
  beforeAll(async () => {
    // A server of its own: the log has no records of other databases.
    server = await postgresServer({ flags: ['-c', 'full_page_writes=off', '-c', 'autovacuum=off'] })
    admin = await server.connect()
    await admin.query('create extension pg_walinspect')
    db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool(postgresAt(server.port)) }) })
    store = sqlStore({ db, dialect: 'postgresql', timeoutMs: UNHURRIED_MS })
    await store.migrate()
  })
  afterAll(async () => {
    await db?.destroy()
    await server?.remove()
  })

  async function positionInLog(): Promise<string> {
    const { rows } = await admin.query<{ readonly at: string }>('select pg_current_wal_insert_lsn() as at')
    return rows[0]?.at ?? ''
  }

  /** Accepts, claims and sends as many at once as are in flight. */
  async function deliver(name: string, rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const events = Array.from({ length: IN_FLIGHT }, () => {
        const id = `01kb3x5q2r${String(++ids).padStart(16, '0')}`
        const deliveries = [delivery(`dlv_${id}`, { content: CONTENT })]
        const session = name.includes('session') && { sessionId: `session-${id}` }
        return acceptance(`dsp_${id}`, { deliveries, ...session }, EVENTS[name]?.more(id))
      })
      await Promise.all(events.map((event) => store.accept(event)))
      const { deliveries } = await claim(store, { a: IN_FLIGHT })
      expect(deliveries).toHaveLength(IN_FLIGHT)
      const end = { to: 'sent', attempt: { outcome: 'sent' } } as const
      await Promise.all(deliveries.map((one) => store.settle({ ...lease(one), ...end })))
    }
  }

  async function costOf(name: string): Promise<Cost> {
    await deliver(name, 4)
    const from = await positionInLog()
    await deliver(name, ROUNDS)
    const { rows } = await admin.query<{ readonly bytes: string; readonly entries: string }>(
      `select sum(record_length - fpi_length) as bytes,
        count(*) filter (where resource_manager = 'Btree' and record_type in ('INSERT_LEAF', 'INSERT_POST')) as entries
        from pg_get_wal_records_info($1, $2)`,
      [from, await positionInLog()],
    )
    const count = IN_FLIGHT * ROUNDS
    return { walBytes: Number(rows[0]?.bytes) / count, indexEntries: Number(rows[0]?.entries) / count }
  }

  for (const [name, { measured }] of Object.entries(EVENTS))
    it(`The delivery of ${name} writes ${measured.walBytes} bytes of log and ${measured.indexEntries} index entries, at most 5 % more`, async () => {
      const cost = await costOf(name)
      console.log(`${name}: ${Math.round(cost.walBytes)} bytes of log, ${cost.indexEntries.toFixed(2)} index entries`)
      expect(cost.walBytes).toBeLessThanOrEqual(measured.walBytes * ROOM)
      expect(cost.indexEntries).toBeLessThanOrEqual(measured.indexEntries * ROOM)
    })
})
