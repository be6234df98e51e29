import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DispatchStore } from '../../src/ports/dispatch-store.ts'
import type { HostKysely } from '../../src/storage/sql/host-kysely.ts'
import { type SqlStore, sqlStore } from '../../src/storage/sql.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { afterOnce } from './after-once.ts'
import { openPostgresql, type TestDatabase } from './databases.ts'
import { acceptance, delivery, digested } from './storing.ts'

describe('what another process does between reading and writing', () => {
  let database: TestDatabase
  let db: HostKysely
  let clock: FakeClock
  let other: SqlStore
  let stores = 0

  beforeAll(async () => {
    database = await openPostgresql()
    db = database.connect()
  }, 60_000)
  afterAll(() => database.close())
  beforeEach(async () => {
    clock = fakeClock()
    stores++
    other = storeOver(db)
    await other.migrate()
  })

  function storeOver(host: HostKysely): SqlStore {
    return sqlStore({ db: host, dialect: 'postgresql', prefix: `s${stores}_`, clock: { now: () => clock.now() } })
  }

  /** A store in whose way the other one comes. */
  function interrupted(statement: RegExp, happen: () => Promise<unknown>): DispatchStore {
    return storeOver(afterOnce(db, statement, happen))
  }

  const keyedFor = (ttlMs: number) => ({ idempotency: { key: 'k', fingerprint: 'f', ttlMs } })
  const nothingIn = { limits: { none: 1 }, leaseMs: 1_000, busy: [] }

  it('does not let a key that was forgotten and taken anew be taken twice', async () => {
    await other.accept(acceptance('old', {}, keyedFor(30)))
    clock.advance(31)
    const slow = interrupted(/idempotency_keys" k where/, async () => {
      await other.claim(nothingIn)
      expect((await other.accept(acceptance('new', {}, keyedFor(1_000)))).outcome).toBe('accepted')
    })
    expect((await slow.accept(acceptance('late', {}, keyedFor(1_000)))).outcome).toBe('replayed')
    expect(await other.findDispatch('default', 'late')).toBeUndefined()
  })

  it('does not let a limit that was forgotten and counted anew be exceeded', async () => {
    const limited = (id: string, windowMs: number) =>
      acceptance(id, { deliveries: [delivery(`${id}-a`, { limits: [{ key: 'l', max: 1, windowMs }] })] })
    await other.accept(limited('old', 60))
    clock.advance(61)
    const slow = interrupted(/counters" c on/, async () => {
      await other.claim(nothingIn)
      await other.accept(limited('new', 60_000))
    })
    await slow.accept(limited('late', 60_000))
    const late = await other.findDispatch('default', 'late')
    expect(late?.deliveries).toMatchObject([{ status: 'skipped', reason: 'throttled' }])
  })

  it('leaves nothing to send of a digest that both its events were taken out of', async () => {
    for (const id of ['B', 'A']) await other.accept(acceptance(id, { deliveries: [digested(`${id}-a`)] }))
    const slow = interrupted(/digest_events" e where e\.delivery_id in/, () => other.cancel('default', 'B'))
    await slow.cancel('default', 'A')
    for (const id of ['A', 'B'])
      expect((await other.findDispatch('default', id))?.deliveries).toMatchObject([{ status: 'cancelled' }])
    clock.advance(2_000)
    expect((await other.claim({ ...nothingIn, limits: { a: 9 } })).deliveries).toEqual([])
  })

  it('does not end a removal early', async () => {
    for (const at of [1, 2, 3, 4, 5, 6])
      await other.accept(acceptance(`${at}`, { deliveries: [delivery(`${at}-a`, { status: 'failed' })] }))
    clock.advance(10)
    const removal = { acceptedForMs: 1, limit: 3 }
    const slow = interrupted(/order by d\.accepted_at limit/, () => other.removeDispatches(removal))
    expect(await slow.removeDispatches(removal)).toBe(3)
    expect((await other.listDispatches({ tenant: 'default', limit: 9 })).items).toEqual([])
  })
})
