import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { openPostgresql, type TestDatabase } from '../databases.ts'
import { acceptance, claim, HOUR, ids } from '../storing.ts'
import { run } from './migrating-stores.ts'

/** Claims without a full scan begin at most this long ago. */
const WINDOW_MS = 2 * UNHURRIED_MS
/** Its value decides what happens to a full scan: `slow` ends it, as a time-out of a statement does. */
const SPEED = 'test.speed'

describe('full scans on PostgreSQL that time out', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await openPostgresql()
  })
  afterAll(() => database.close())

  it('Claims begin at the provisional mark, and find older deliveries after a successful full scan', async () => {
    const clock = fakeClock()
    const host = database.connect()
    const accepting = sqlStore({ db: host, dialect: 'postgresql', clock, timeoutMs: UNHURRIED_MS })
    await accepting.migrate()
    await accepting.accept(acceptance('old'))
    clock.advance(HOUR)
    await accepting.accept(acceptance('new'))

    // The policy cancels a full scan at an old row, as a time-out does among a million dead entries.
    await run(
      host,
      `create function cancelled() returns boolean language plpgsql as
        $$ begin raise exception 'canceling statement due to statement timeout' using errcode = '57014'; end $$`,
    )
    const isRecent = `wake_at >= ${clock.now() - WINDOW_MS}`
    await run(host, 'create role worker')
    await run(host, 'grant all on all tables in schema public to worker')
    await run(host, 'alter table sallyport_jobs enable row level security')
    const isFast = `current_setting('${SPEED}') = 'fast'`
    await run(
      host,
      `create policy slow on sallyport_jobs using (case when ${isRecent} or ${isFast} then true else cancelled() end)`,
    )
    const db = database.connect({ connections: 1 })
    await run(db, 'set role worker')
    const store = sqlStore({ db, dialect: 'postgresql', clock, timeoutMs: UNHURRIED_MS })
    const claimedAt = async (speed: 'slow' | 'fast') => {
      await run(db, `set ${SPEED} = '${speed}'`)
      return ids((await claim(store)).deliveries)
    }

    await expect(claimedAt('slow')).rejects.toMatchObject({ code: '57014' })
    expect(await claimedAt('slow')).toEqual(['new-a'])
    clock.advance(1_000)
    await expect(claimedAt('slow')).rejects.toMatchObject({ code: '57014' })
    expect(await claimedAt('fast')).toEqual([])
    clock.advance(1_000)
    expect(await claimedAt('fast')).toEqual(['old-a'])
  })
})
