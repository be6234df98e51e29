import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { openPostgresql, type TestDatabase } from '../databases.ts'
import { acceptance, claim, HOUR, ids } from '../storing.ts'
import { run } from './migrating-stores.ts'

describe('full scans on PostgreSQL that time out', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await openPostgresql()
  }, 60_000)
  afterAll(() => database.close())

  it('Claims begin at the provisional mark, and find older deliveries after a successful full scan', async () => {
    const clock = fakeClock()
    const host = database.connect()
    const accepting = sqlStore({ db: host, dialect: 'postgresql', clock })
    await accepting.migrate()
    await accepting.accept(acceptance('old'))
    clock.advance(HOUR)
    await accepting.accept(acceptance('new'))

    // The policy delays a full scan at an old row, as a million dead entries would.
    const isQuick = `wake_at is null or wake_at >= ${clock.now() - 60_000} or pg_sleep(60)::text is not null`
    await run(host, 'create role worker')
    await run(host, 'grant all on all tables in schema public to worker')
    await run(host, 'alter table sallyport_deliveries enable row level security')
    await run(host, `create policy slow on sallyport_deliveries using (${isQuick})`)
    const db = database.connect({ connections: 1 })
    await run(db, 'set role worker')
    const store = sqlStore({ db, dialect: 'postgresql', clock, timeoutMs: 5_000 })
    const claimWithin = async (timeout: string) => {
      await run(db, `set statement_timeout = '${timeout}'`)
      return ids((await claim(store)).deliveries)
    }

    await expect(claimWithin('100ms')).rejects.toMatchObject({ code: '57014' })
    expect(await claimWithin('0')).toEqual(['new-a'])
    clock.advance(1_000)
    await expect(claimWithin('100ms')).rejects.toMatchObject({ code: '57014' })
    await run(host, 'alter table sallyport_deliveries disable row level security')
    expect(await claimWithin('0')).toEqual([])
    clock.advance(1_000)
    expect(await claimWithin('0')).toEqual(['old-a'])
  })
})
