import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prepared } from '../../../src/storage/sql/connection/prepared-statements.ts'
import { openPostgresql, type TestDatabase } from '../databases.ts'
import { acceptance, claimOne, keyed, lease } from '../storing.ts'
import { type AnyKysely, storeIn } from './migrating-stores.ts'

interface Kept {
  readonly name: string
  readonly statement: string
}

/** The statements that the connection keeps prepared. */
async function kept(db: AnyKysely): Promise<readonly Kept[]> {
  const { rows } = await db.executeQuery<Kept>(CompiledQuery.raw('select name, statement from pg_prepared_statements'))
  return rows
}

describe('prepared statements', () => {
  let database: TestDatabase | undefined
  beforeAll(async () => {
    database = await openPostgresql()
  })
  afterAll(() => database?.close())

  it('A connection prepares each statement once, and the store works as without', async () => {
    const logged: string[] = []
    const db = (database as TestDatabase).connect({
      connections: 1,
      log: ({ query }) => void logged.push(`${query.sql}`),
    })
    const store = storeIn(database as TestDatabase, { db, prefix: 'named_', preparedStatements: true })
    await store.migrate()
    const round = async (id: string): Promise<void> => {
      expect((await store.accept(keyed(id))).outcome).toBe(id === 'd1' ? 'accepted' : 'replayed')
      expect((await store.accept(acceptance(`${id}-x`))).outcome).toBe('accepted')
      await db.transaction().execute((own) => store.within(own).accept(acceptance(`${id}-y`)))
      const claimed = await claimOne(store)
      expect(await store.settle({ ...lease(claimed), to: 'sent' })).toMatchObject({ live: true })
      await store.mergeRun({ tenant: 'default', sessionId: 's', runId: id }, () => ({ result: id }))
      expect(await store.findDispatch('default', `${id}-x`)).toBeDefined()
    }
    await round('d1')
    await round('d2')
    const after = await kept(db)
    await round('d3')
    await round('d4')
    expect(await kept(db)).toEqual(after)
    expect(after.length).toBeGreaterThan(5)
    expect(new Set(after.map(({ name }) => name.replace(/\d+$/, '')))).toHaveLength(1)
    for (const { statement } of after) expect(logged).toContain(statement)
  })

  it('A store prepares nothing by default', async () => {
    const db = (database as TestDatabase).connect({ connections: 1 })
    const store = storeIn(database as TestDatabase, { db, prefix: 'plain_' })
    await store.migrate()
    await store.accept(acceptance('d1'))
    expect(await kept(db)).toEqual([])
  })

  it('A connection keeps at most 100 statements', () => {
    const texts = Array.from({ length: 200 }, (_, index) => `select ${index}`)
    expect(texts.filter((text) => typeof prepared(text) === 'object').length).toBeLessThanOrEqual(100)
    expect(prepared('select 199')).toBe('select 199')
  })
})
